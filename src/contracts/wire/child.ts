/**
 * The life of a child process: it opens its pipe (file descriptor 3) before it touches user code or the network,
 * and ends within the exit limit after the pipe closes, abandoning outside calls. No child outlives its pipe.
 */
import { Socket } from "node:net";
import type { z } from "zod";
import { WIRE } from "../limits.ts";
import { framePort, type FramePort } from "./frames.ts";

/** The descriptor on which the launcher passes the private pipe. */
export const CHILD_PIPE_FD = 3;

/** Of the exit limit, what is kept for the exit itself. */
const MARGIN_MS = 50;

/**
 * Opens the private pipe of this child process. When it closes, `onClosing` may tidy up, and the process exits as soon as
 * that is done, at the latest within WIRE.childExitMs, whatever is still pending.
 */
export function openChildPipe<In, Out>(
  schema: z.ZodType<In>,
  onClosing?: () => Promise<unknown> | undefined | void,
): FramePort<In, Out> {
  const port = framePort<In, Out>(new Socket({ fd: CHILD_PIPE_FD, readable: true, writable: true }), schema);
  port.onClose((error) => {
    if (error) process.stderr.write(`pipe closed: ${error.message}\n`);
    // An event loop kept busy by user code never gets here; the supervisor's kill of the process group covers it.
    const leave = (): void => process.exit(error ? 1 : 0);
    let tidying: Promise<unknown> | undefined | void;
    try {
      tidying = onClosing?.();
    } finally {
      if (tidying === undefined) setImmediate(leave);
      else {
        setTimeout(leave, WIRE.childExitMs - MARGIN_MS);
        void after(tidying, leave);
      }
    }
  });
  return port;
}

async function after(work: Promise<unknown>, then: () => void): Promise<void> {
  try {
    await work;
  } finally {
    then();
  }
}
