/**
 * Parts of messages: what is known of each, where a later attempt begins, and the one place that stores a reference. Whoever
 * stores one has its settlement queued here if the decision is over: settlement is a rule, not a list.
 */
import { next } from "../../contracts/states.ts";
import { settleArrivedList } from "../channels/offer-lists.ts";
import { closeRevoked, settleReference } from "../decisions/settle.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import type { EffectRow } from "./rows.ts";

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

/** Begins a part: its first byte may be sent once this is on disk. */
export function beginPart(tx: Tx, effect: EffectRow, attempt: number, part: number, of: number): void {
  tx.run(
    "INSERT INTO effect_parts (effect_no, attempt_number, part, parts_of, channel_id, state, at) VALUES (?, ?, ?, ?, ?, 'dispatching', ?)",
    effect.effectNo,
    attempt,
    part,
    of,
    effect.channelId,
    tx.now,
  );
}

/** Moves a part by an event of its state table. A part in doubt keeps the time at which it was begun: people are told that one. */
export function movePart(tx: Tx, part: PartRow, event: string): void {
  const state = next("effectPart", part.state, event);
  const at = event === "uncertain" ? part.at : tx.now;
  tx.run(
    "UPDATE effect_parts SET state = ?, at = ? WHERE effect_no = ? AND attempt_number = ? AND part = ?",
    state,
    at,
    part.effectNo,
    part.attempt,
    part.part,
  );
}

/** Accepts a part without a reference (an edit, or a copy that a person confirmed without its id). */
export function acceptPart(tx: Tx, part: PartRow): void {
  if (part.state !== "accepted") movePart(tx, part, "accepted");
}

/**
 * Accepts a part under its reference: confirmed by the channel, proved by a tap, or named by an operator. If the decision it
 * belongs to is over, the settlement of this reference is queued in the same command.
 */
export function storeReference(tx: Tx, effect: EffectRow, part: PartRow, reference: string): void {
  acceptPart(tx, part);
  tx.run(
    "UPDATE effect_parts SET reference = ? WHERE effect_no = ? AND attempt_number = ? AND part = ?",
    reference,
    part.effectNo,
    part.attempt,
    part.part,
  );
  if (effect.decisionNo !== null) settleReference(tx, effect.decisionNo, reference);
  if (effect.decisionNo === null) settleArrivedList(tx, effect, reference);
  if (effect.decisionNo !== null && effect.purpose === "reply") closeRevoked(tx, effect.decisionNo, effect.effectNo);
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
