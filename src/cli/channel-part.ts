/**
 * Parts of a channel that the command line needs (set-up, doctor): children started by path, never imported, on a private pipe
 * of their own. They end with the pipe.
 */
import { spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import type { z } from "zod";

import { HoldpointError } from "../contracts/errors.ts";
import { framePort } from "../contracts/wire/frames.ts";

/** How much of a child's stderr is kept to explain its end. */
const COMPLAINT_CHARS = 2_000;

export interface ChannelPart<In, Out> {
  send(frame: Out): void;
  /** The next frame, in order; throws `childStart` when the part ends or `withinMs` pass without one. */
  next(withinMs: number): Promise<In>;
  close(): void;
}

/** `path` as below `dist/`, for example `adapters/telegram/setup/main.js`; `schema`: frames that the part sends. */
export function startPart<In, Out>(path: string, schema: z.ZodType<In>): ChannelPart<In, Out> {
  const dist = import.meta.url.endsWith(".ts") ? "../../dist/" : "../../";
  const child = spawn(process.execPath, [fileURLToPath(new URL(`${dist}${path}`, import.meta.url))], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const port = framePort<In, Out>(child.stdio[3] as Duplex, schema);
  const waiting: { give(frame: In): void; fail(error: Error): void }[] = [];
  const ready: In[] = [];
  let complaint = "";
  let ended: HoldpointError | null = null;
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (complaint = (complaint + text).slice(-COMPLAINT_CHARS)));
  const end = (why: string): void => {
    ended ??= new HoldpointError("childStart", `${path} ended: ${complaint.trim() || why}.`);
    for (const { fail } of waiting.splice(0)) fail(ended);
  };
  child.once("error", (error) => end(error.message));
  child.once("close", (code, signal) => end(signal ?? `exit code ${code}`));
  port.onFrame((frame) => {
    const first = waiting.shift();
    if (first) first.give(frame);
    else ready.push(frame);
  });
  return {
    send: (frame) => port.send(frame),
    async next(withinMs) {
      const frame = ready.shift();
      if (frame !== undefined) return frame;
      if (ended !== null) throw ended;
      let timer: NodeJS.Timeout | undefined;
      try {
        return await new Promise<In>((give, fail) => {
          waiting.push({ give, fail });
          timer = setTimeout(
            () => fail(new HoldpointError("childStart", `${path} said nothing for ${withinMs} ms.`)),
            withinMs,
          );
        });
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      port.close();
      // Its pipe ends it; a defect of it must not keep this process.
      child.unref();
    },
  };
}
