/**
 * How long to wait before the next attempt to reconnect.
 */
import { CLIENT } from "../contracts/limits.ts";

/**
 * Exponential backoff with full jitter: anything from 0 to min(max, min × 2^attempt), in milliseconds.
 * Full jitter spreads many clients that lost the same server at one moment.
 *
 * @param attempt 0 for the first wait
 * @param random a number in [0, 1), a port for tests
 */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(CLIENT.backoffMaxMs, CLIENT.backoffMinMs * 2 ** Math.min(attempt, 16));
  return Math.floor(random() * ceiling);
}

/** Waits so many milliseconds, or until the signal ends it early (without an error). */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}
