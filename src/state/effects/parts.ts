/**
 * How parts of messages move, and the one place that stores a reference. Whoever stores one has its settlement queued here if the decision
 * is over: settlement is a rule, not a list.
 */
import { next } from "../../contracts/states.ts";
import { alertShown } from "../alerts/shown.ts";
import { settleArrivedList } from "../channels/offer-lists.ts";
import { closeRevoked, settleReference } from "../decisions/settle.ts";
import type { Tx } from "../tx.ts";
import type { PartRow } from "./part-rows.ts";
import type { EffectRow } from "./rows.ts";

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
  if (effect.purpose === "alert") alertShown(tx, effect, reference);
  else if (effect.decisionNo === null) settleArrivedList(tx, effect, reference);
  else if (effect.purpose === "reply") closeRevoked(tx, effect.decisionNo, effect.effectNo);
}
