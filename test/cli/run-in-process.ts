// Runs command lines in this process, against whatever server the home has.

import { PassThrough, Readable } from "node:stream";

import type { Io } from "../../src/cli/context.ts";
import { runCli } from "../../src/cli/program.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
  /** A person at a terminal: what they type when this text (all of stderr so far) has been shown, or nothing yet. */
  readonly types?: (shown: string) => string | undefined;
  /** Called at each piece of output; may send a signal. */
  readonly onOut?: (out: string, signal: (name: NodeJS.Signals) => void) => void;
}

export async function holdpoint(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  let out = "";
  let err = "";
  const listeners = new Set<(signal: NodeJS.Signals) => void>();
  const signal = (name: NodeJS.Signals): void => {
    for (const listener of listeners) listener(name);
  };
  const { types } = options;
  const typed = new PassThrough();
  const io: Io = {
    out: (text) => {
      out += text;
      options.onOut?.(out, signal);
    },
    err: (text) => {
      err += text;
      const line = types?.(err);
      // Whoever asks listens only after the question.
      if (line !== undefined) setImmediate(() => typed.write(`${line}\r`));
    },
    env: options.env ?? {},
    stdin:
      types === undefined
        ? Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)])
        : Object.assign(typed, { isTTY: true }),
    terminal: options.terminal ?? false,
    columns: options.columns ?? 80,
    onSignal: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const code = await runCli(args, io);
  return { code, out, err };
}
