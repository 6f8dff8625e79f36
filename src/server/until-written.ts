/**
 * A write that must not be lost although the disk is full: repeated until it is on disk. The record of a child's end, for example,
 * has nobody else who would write it later.
 */
import { isHoldpointError, toErrorRecord } from "../contracts/errors.ts";
import type { Clock, Log } from "./ports.ts";

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;

/** The write queue could not commit; nothing of the command is on disk. */
export function isUnwritten(error: unknown): boolean {
  return isHoldpointError(error) && (error.kind === "diskFull" || error.kind === "notWritten");
}

/** Waits on the server's clock; `given` ends the wait early. */
export function pause(clock: Clock, ms: number, given: () => boolean = () => false): Promise<void> {
  const until = clock.now() + ms;
  return new Promise((resolve) => {
    const look = (): void => {
      if (clock.now() >= until || given()) resolve();
      else clock.timer(until, look);
    };
    look();
  });
}

/** Repeats `write` while the disk is full; any other error is thrown. `given` true gives up with the last error. */
export async function untilWritten<T>(
  deps: { readonly clock: Clock; readonly log: Log },
  what: string,
  write: () => Promise<T>,
  given: () => boolean = () => false,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isUnwritten(error) || given()) throw error;
      deps.log.error({ what, error: toErrorRecord(error) }, "not written; trying again");
      await pause(deps.clock, Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(failures, 10)), given);
    }
  }
}
