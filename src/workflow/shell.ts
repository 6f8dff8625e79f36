/** Shell nodes: an action that is one command. */
import type { CommandResult, CommandStream } from "../contracts/command.ts";
import { HoldpointError } from "../contracts/errors.ts";
import type { CommandOptions, NodeContext, Update } from "./context.ts";
import { undeclaredEffect, type EffectContract } from "./effects.ts";
import { checkFunction, checkTimeout, type NodeTypes } from "./node-types.ts";

/** The command of a shell node. */
export type ShellCommand = CommandOptions & {
  /** Take any exit code as a result instead of a failure. */
  readonly allowNonZeroExit?: boolean;
};

/** What `parse` receives, and the output of a node without it. */
export type ShellResult = Omit<CommandResult, "timedOut" | "startError">;

export interface ShellUpdates {
  /** Which streams are read; default stdout. */
  readonly streams?: readonly CommandStream[];
  /** Makes updates of a line, which has at most 64 KiB. Updates inform only: one that throws or is refused is dropped. */
  readonly parseLine: (line: string, stream: CommandStream) => Update | readonly Update[] | undefined | null;
}

export interface ShellNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "shell";
  readonly timeoutMs: number | null | undefined;
  readonly effect: EffectContract;
  readonly exec: (context: NodeContext<any, any>) => ShellCommand | Promise<ShellCommand>;
  readonly parse: ((result: ShellResult, context: NodeContext<any, any>) => unknown) | undefined;
  readonly updates: ShellUpdates | undefined;
}

/**
 * A command as a step. It runs in a process group of its own, which is stopped when the node's or the command's time is
 * over and when the run is stopped; the next node starts only after it is gone. No shell is involved unless you name one.
 *
 * The output is what `parse` makes, or `{exitCode, signal, stdout, stderr, truncated, durationMs}`. An exit code other
 * than 0 fails the node unless `allowNonZeroExit`. Each stream keeps 1,000,000 characters.
 *
 * As with an action, `effect` says how it recovers after a crash; without one a person says whether it happened.
 *
 * @example
 * const build = shell({
 *   timeoutMs: 600_000,
 *   effect: idempotentEffect("build"),
 *   exec: ({ input }) => ({ command: "make", args: [input.target] }),
 *   parse: ({ stdout }) => ({ lines: stdout.split("\n").length }),
 * });
 */
export function shell<Output = ShellResult, Input = any, Outputs extends object = Record<string, any>>(options: {
  readonly effect?: EffectContract<Input, Outputs>;
  /** Milliseconds for the whole node; null for no limit; default 15 minutes. */
  readonly timeoutMs?: number | null;
  /** The command; the same when the step is repeated. Operators see it. */
  readonly exec: (context: NodeContext<Input, Outputs>) => ShellCommand | Promise<ShellCommand>;
  readonly parse?: (result: ShellResult, context: NodeContext<Input, Outputs>) => Output;
  readonly updates?: ShellUpdates;
}): ShellNode<Input, Outputs, Awaited<Output>> {
  const { effect = undeclaredEffect("shell"), exec, parse, timeoutMs, updates } = options;
  checkFunction(exec, "shell", "exec");
  if (parse !== undefined) checkFunction(parse, "shell", "parse");
  if (updates !== undefined) {
    checkFunction(updates.parseLine, "shell", "updates.parseLine");
    for (const stream of updates.streams ?? []) {
      if (stream === "stdout" || stream === "stderr") continue;
      throw new HoldpointError(
        "workflowInvalid",
        `updates.streams has "${String(stream)}"; there are stdout and stderr.`,
      );
    }
  }
  return Object.freeze({ type: "shell", timeoutMs: checkTimeout(timeoutMs), effect, exec, parse, updates });
}
