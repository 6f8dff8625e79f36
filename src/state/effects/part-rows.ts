/** Rows of parts and what they say together: how far a message got over all its attempts. */
import type { Reader } from "../statements.ts";

export type PartState = "dispatching" | "accepted" | "rejected" | "notSent" | "ambiguous";

export interface PartRow {
  readonly effectNo: number;
  readonly attempt: number;
  readonly part: number;
  readonly of: number;
  readonly channelId: string;
  readonly state: PartState;
  readonly reference: string | null;
  readonly at: number;
}

const COLUMNS =
  'effect_no AS effectNo, attempt_number AS attempt, part, parts_of AS "of", channel_id AS channelId, state, reference, at';

const PARTS = `SELECT ${COLUMNS} FROM effect_parts WHERE effect_no = ? ORDER BY attempt_number, part`;

/** All parts of an effect, by attempt and part. */
export function partsOf(db: Reader, effectNo: number): PartRow[] {
  return db.all<PartRow>(PARTS, effectNo);
}

export function partOf(db: Reader, effectNo: number, attempt: number, part: number): PartRow | undefined {
  return db.get<PartRow>(
    `SELECT ${COLUMNS} FROM effect_parts WHERE effect_no = ? AND attempt_number = ? AND part = ?`,
    effectNo,
    attempt,
    part,
  );
}

/** The part of a message that a reference names, on one channel. */
export function partByReference(db: Reader, channelId: string, reference: string): PartRow | undefined {
  return db.get<PartRow>(
    `SELECT ${COLUMNS} FROM effect_parts WHERE channel_id = ? AND reference = ?`,
    channelId,
    reference,
  );
}

/** How far a message got over all its attempts. */
export interface Progress {
  /** Parts of the message, or 0 when none was ever begun. */
  readonly of: number;
  /** The first part that is not accepted; `of + 1` when all are. */
  readonly firstMissing: number;
  /** Whether any part was or may have been sent. */
  readonly touched: boolean;
  /** When the missing part may have been sent before, by an attempt whose end is not known; null when never. */
  readonly possiblySentAt: number | null;
}

/** A later attempt starts at `firstMissing`; parts that arrived are never sent again. */
export function progressOf(parts: readonly PartRow[]): Progress {
  const accepted = new Set(parts.filter(({ state }) => state === "accepted").map(({ part }) => part));
  let firstMissing = 1;
  while (accepted.has(firstMissing)) firstMissing += 1;
  const of = parts.at(-1)?.of ?? 0;
  const doubtful = parts.findLast(({ part, state }) => part === firstMissing && state === "ambiguous");
  return {
    of,
    firstMissing,
    touched: parts.some(({ state }) => state === "accepted" || state === "dispatching" || state === "ambiguous"),
    possiblySentAt: doubtful?.at ?? null,
  };
}

/** True when every part of the message is known to have arrived. */
export function isComplete({ of, firstMissing }: Progress): boolean {
  return of > 0 && firstMissing > of;
}

/**
 * Whether a message is known to be there whole, whatever became of its last attempt: somebody tapped an earlier copy while a repeat
 * was on its way. What is there is not sent again, and not asked about.
 */
export function hasArrived(db: Reader, effect: { readonly effectNo: number; readonly purpose: string }): boolean {
  return effect.purpose !== "settlement" && isComplete(progressOf(partsOf(db, effect.effectNo)));
}
