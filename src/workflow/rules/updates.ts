/** Admission of updates: a token bucket per run, and room in the current projection. Excess is rejected, never queued. */
import { HoldpointError } from "../../contracts/errors.ts";
import { UPDATE } from "../../contracts/limits.ts";

/** Fill of a bucket at a moment (milliseconds of any clock that does not go backwards). */
export interface TokenBucket {
  readonly tokens: number;
  readonly at: number;
}

export function fullBucket(now: number): TokenBucket {
  return { tokens: UPDATE.burst, at: now };
}

/**
 * Takes one token: 20 come back each second, 100 at most. A clock that went back adds nothing and takes nothing away.
 *
 * @returns the bucket afterwards; `retryAfterMs` when there was no token.
 */
export function admit(
  bucket: TokenBucket,
  now: number,
): { readonly admitted: boolean; readonly bucket: TokenBucket; readonly retryAfterMs: number } {
  const elapsed = Math.max(0, now - bucket.at);
  const tokens = Math.min(UPDATE.burst, bucket.tokens + (elapsed * UPDATE.perSecond) / 1_000);
  const at = Math.max(now, bucket.at);
  if (tokens >= 1) return { admitted: true, bucket: { tokens: tokens - 1, at }, retryAfterMs: 0 };
  const retryAfterMs = Math.ceil(((1 - tokens) * 1_000) / UPDATE.perSecond);
  return { admitted: false, bucket: { tokens, at }, retryAfterMs };
}

/**
 * Admits one update of a run or throws.
 *
 * @param state `isCurrent`: the projection has an item of this type and key already; `items`: how many it has.
 * @throws HoldpointError `updateRefused` with limit and value seen; nothing is taken from the bucket for lack of room.
 */
export function admitUpdate(
  bucket: TokenBucket,
  now: number,
  state: { readonly items: number; readonly isCurrent: boolean },
): TokenBucket {
  if (!state.isCurrent && state.items >= UPDATE.currentItems) {
    throw new HoldpointError(
      "updateRefused",
      `The run has ${state.items} current updates; the limit is ${UPDATE.currentItems}. Use a key again instead of a new one.`,
      { details: { limit: UPDATE.currentItems, seen: state.items } },
    );
  }
  const { admitted, bucket: after, retryAfterMs } = admit(bucket, now);
  if (admitted) return after;
  throw new HoldpointError(
    "updateRefused",
    `Updates come faster than ${UPDATE.perSecond} a second after ${UPDATE.burst} at once; the next one is taken in ${retryAfterMs} ms.`,
    { details: { limit: UPDATE.perSecond, burst: UPDATE.burst, retryAfterMs } },
  );
}
