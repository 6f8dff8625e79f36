/**
 * Permission for the first byte of a part, and the receipt of a part that arrived. Both are on disk before the adapter goes on.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { isAlertObsolete } from "../alerts/shown.ts";
import { hasNewerEdit } from "../alerts/messages.ts";
import { isPaced, spendPace } from "../channels/pace.ts";
import { channelById } from "../channels/rows.ts";
import { defineCommand } from "../command.ts";
import { DOCUMENT_EFFECT } from "../decisions/document.ts";
import { isPending } from "../decisions/rows.ts";
import type { Tx } from "../tx.ts";
import { hasArrived, partByReference, partOf, partsOf, progressOf } from "./part-rows.ts";
import { acceptPart, beginPart, storeReference } from "./parts.ts";
import { attemptOf, EFFECT_COLUMNS, moveAttempt, moveEffect, type AttemptRow, type EffectRow } from "./rows.ts";
import { tell } from "./tell.ts";

export interface AttemptRef {
  readonly channelId: string;
  readonly adapterEpoch: string;
  readonly effectId: string;
  readonly attempt: number;
}

export interface PartRef extends AttemptRef {
  readonly part: number;
  readonly of: number;
}

export interface OpenAttempt {
  readonly effect: EffectRow;
  readonly attempt: AttemptRow;
}

/** Few are on their way at a time. */
const APPLYING = `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.status = 'applying' AND e.channel_id = ? AND e.effect_id = ?`;

/** The attempt that this adapter is on, or undefined when it is not (any more): of another epoch, another number, ended. */
export function openAttemptOf(tx: Tx, ref: AttemptRef): OpenAttempt | undefined {
  if (channelById(tx, ref.channelId)?.adapterEpoch !== ref.adapterEpoch) return undefined;
  const effect = tx.get<EffectRow>(APPLYING, ref.channelId, ref.effectId);
  if (effect === undefined || effect.attemptCount !== ref.attempt) return undefined;
  const attempt = attemptOf(tx, effect.effectNo, ref.attempt);
  if (attempt === undefined || attempt.ownerId !== ref.adapterEpoch) return undefined;
  return attempt.state === "recorded" || attempt.state === "dispatching" ? { effect, attempt } : undefined;
}

/** `go` is false when the attempt is not this adapter's any more, or when what it would send is not needed any more. */
export const dispatch = defineCommand("effects.dispatch", (tx: Tx, input: PartRef): { go: boolean } => {
  const open = openAttemptOf(tx, input);
  if (open === undefined) return { go: false };
  const { attempt, effect } = open;
  if (attempt.state === "recorded") {
    // An earlier copy was proved to be there while this one was on its way to the adapter.
    const arrived = effect.attemptCount > 1 && hasArrived(tx, effect);
    if (arrived || isObsolete(tx, effect)) {
      moveAttempt(tx, attempt, "notSent");
      moveEffect(tx, effect, arrived ? "applied" : "cancelled");
      tell(tx, effect, "outcome", attempt.attempt, {
        outcome: arrived ? "notSent" : "cancelled",
        status: effect.status,
      });
      return { go: false };
    }
  }
  if (partOf(tx, effect.effectNo, attempt.attempt, input.part) !== undefined) {
    throw new HoldpointError("protocolRejected", `Part ${input.part} of effect ${effect.effectId} was begun before.`);
  }
  if (effect.purpose !== "settlement") checkOrder(tx, effect, input);
  if (attempt.state === "recorded") moveAttempt(tx, attempt, "dispatched");
  beginPart(tx, effect, attempt.attempt, input.part, input.of);
  if (isPaced(effect)) spendPace(tx, effect.channelId as string, effect.place as string);
  tell(tx, effect, "dispatching", attempt.attempt, { part: input.part, of: input.of });
  return { go: true };
});

/** A message for a decision that is over and of which nothing was shown; an edit that a newer one replaces. */
function isObsolete(tx: Tx, effect: EffectRow): boolean {
  if (effect.purpose === "settlement") return hasNewerSettlement(tx, effect);
  if (effect.effectType === "reply.didArrive") return !isAsked(tx, effect);
  if (effect.purpose === "alert") return isAlertObsolete(tx, effect);
  if (effect.decisionNo === null || !isForWaiting(tx, effect)) return false;
  if (effect.purpose === "reply" && isRevoked(tx, effect.effectNo)) return true;
  return !isPending(tx, effect.decisionNo) && !progressOf(partsOf(tx, effect.effectNo)).touched;
}

/** Whether the doubt that this question is about goes on. */
function isAsked(tx: Tx, { effectNo }: EffectRow): boolean {
  return tx.get("SELECT 1 FROM effect_doubts WHERE asked_effect_no = ? AND until IS NULL", effectNo) !== undefined;
}

/** Whether a message is wanted only as long as its decision waits: a card, its document, a question for text, a reminder. */
export function isForWaiting(tx: Tx, effect: EffectRow): boolean {
  return (
    effect.purpose === "delivery" ||
    effect.effectType.startsWith("notice.") ||
    effect.effectType === DOCUMENT_EFFECT ||
    isPrompt(tx, effect)
  );
}

/** Whether a question for text is for somebody who may not answer any more. */
function isRevoked(tx: Tx, effectNo: number): boolean {
  const sql = "SELECT 1 FROM decision_prompts WHERE effect_no = ? AND revoked_at IS NOT NULL";
  return tx.get(sql, effectNo) !== undefined;
}

export function isPrompt(tx: Tx, effect: EffectRow): boolean {
  return (
    effect.purpose === "reply" &&
    tx.get("SELECT 1 FROM decision_prompts WHERE effect_no = ?", effect.effectNo) !== undefined
  );
}

export function hasNewerSettlement(tx: Tx, effect: EffectRow): boolean {
  if (effect.effectType === "alert.edit") return hasNewerEdit(tx, effect);
  const newer = tx.get(
    `SELECT 1 FROM effects WHERE decision_no = ? AND purpose = 'settlement' AND channel_id = ? AND target_reference = ? AND effect_no > ?
       AND status IN ('pending', 'applied')`,
    effect.decisionNo,
    effect.channelId,
    effect.targetReference,
    effect.effectNo,
  );
  return newer !== undefined;
}

/** Parts go in order, each after the receipt of the one before; what is never dispatched is provably unsent. */
function checkOrder(tx: Tx, effect: EffectRow, { of, part }: PartRef): void {
  const progress = progressOf(partsOf(tx, effect.effectNo));
  if (part === progress.firstMissing && part <= of && (progress.of === 0 || progress.of === of)) return;
  const expected = `${progress.firstMissing} of ${progress.of === 0 ? of : progress.of}`;
  throw new HoldpointError(
    "protocolRejected",
    `Part ${part} of ${of} of effect ${effect.effectId} is out of order; expected part ${expected}.`,
  );
}

/**
 * Stores the receipt of a part under its reference. `stored` is false for an attempt that is not this adapter's any more. Repeating
 * the same receipt changes nothing. Throws `protocolRejected` for a part that was not begun, or a reference that is another's.
 */
export const storePart = defineCommand(
  "effects.storePart",
  (tx: Tx, input: PartRef & { reference: string }): { stored: boolean } => {
    const open = openAttemptOf(tx, input);
    if (open === undefined) return { stored: false };
    const { effect } = open;
    const part = partOf(tx, effect.effectNo, input.attempt, input.part);
    if (part === undefined)
      throw new HoldpointError("protocolRejected", `Part ${input.part} of effect ${input.effectId} was never begun.`);
    if (part.state === "accepted" && part.reference === input.reference) return { stored: true };
    if (effect.purpose === "settlement") {
      // The message it edits has its own row; a second one with the same reference would make two out of one.
      acceptPart(tx, part);
      return { stored: true };
    }
    if (part.reference !== null || partByReference(tx, input.channelId, input.reference) !== undefined) {
      throw new HoldpointError(
        "protocolRejected",
        `Reference ${input.reference} does not fit part ${input.part} of effect ${input.effectId}.`,
      );
    }
    storeReference(tx, effect, part, input.reference);
    tell(tx, effect, "part", input.attempt, { part: input.part, of: input.of, reference: input.reference });
    return { stored: true };
  },
);
