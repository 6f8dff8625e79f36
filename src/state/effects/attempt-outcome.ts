/**
 * The end of an attempt of a message, by the outcome that the transport edge decided: one rule per outcome and kind of message.
 *
 * | outcome   | post                                          | edit, delete                                             |
 * |-----------|-----------------------------------------------|----------------------------------------------------------|
 * | accepted  | applied                                       | applied                                                  |
 * | 429       | again after `retry_after`; the place is held  | the same                                                 |
 * | moved     | again, to the id that the chat has now        | as rejected                                              |
 * | unparsed  | once more, without marks on the text           | the same                                                |
 * | rejected  | final                                         | final; the outcome of a card is posted once as a message |
 * | notSent   | again with backoff (or `retry_after`), from the first unsent part | again with backoff                    |
 * | ambiguous | stays so until evidence or a person           | again with backoff, unless a newer one replaces it       |
 */
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import { DELIVERY } from "../../contracts/limits.ts";
import type { AttemptOutcome } from "../../contracts/protocol/channel.ts";
import { isAlertObsolete } from "../alerts/shown.ts";
import { markDead, markMoved } from "../channels/places.ts";
import { holdPlace } from "../channels/rows.ts";
import { defineCommand } from "../command.ts";
import { isPending } from "../decisions/rows.ts";
import type { Tx } from "../tx.ts";
import { hasNewerSettlement, isForWaiting, openAttemptOf, type AttemptRef, type OpenAttempt } from "./dispatch.ts";
import { postOutcome } from "./outcome-post.ts";
import { hasArrived, partsOf } from "./part-rows.ts";
import { acceptPart, movePart } from "./parts.ts";
import { refuse, refuseAll } from "./refuse.ts";
import { effectById, moveAttempt, moveEffect, type EffectRow, type EffectStatus } from "./rows.ts";
import { tell } from "./tell.ts";

export interface FinishInput extends AttemptRef {
  readonly outcome: AttemptOutcome;
  readonly error?: ErrorRecord | null | undefined;
  /** The service asked to wait (429). */
  readonly retryAfterMs?: number | null | undefined;
  /** Of an edit or delete: the message is gone. */
  readonly gone?: boolean | undefined;
  /** The place can never be reached again. */
  readonly placeDead?: boolean | undefined;
  /** The marks on the text were refused, not the text. */
  readonly unparsed?: boolean | undefined;
  /** The place has another id now: posts follow it, as new attempts. */
  readonly movedTo?: string | null | undefined;
}

export interface FinishResult {
  readonly status: EffectStatus;
  /** Milliseconds since the epoch; null when no attempt follows by itself. */
  readonly nextAttemptAt: number | null;
}

/** Stores the outcome of an attempt. An attempt that is not open any more (cancelled, of an earlier epoch) changes nothing. */
export const finishAttempt = defineCommand("effects.finishAttempt", (tx: Tx, input: FinishInput): FinishResult => {
  const open = openAttemptOf(tx, input);
  if (open === undefined) return { status: effectById(tx, input.effectId)?.status ?? "cancelled", nextAttemptAt: null };
  const { effect } = open;
  switch (input.outcome) {
    case "accepted":
      accepted(tx, open);
      break;
    case "rejected":
      rejected(tx, open, input);
      break;
    case "notSent":
      notSent(tx, open, input.error ?? null, input.retryAfterMs ?? null);
      break;
    case "ambiguous":
      if (isInDoubt(tx, open)) ambiguous(tx, open, input.error ?? null);
      else settled(tx, open, input.error ?? null);
  }
  const { nextAttemptAt, status } = effect;
  // That a place was away once more is no part of the story.
  const away = input.outcome === "notSent" && typeof input.retryAfterMs === "number" && status === "pending";
  if (!away)
    tell(tx, effect, "outcome", input.attempt, {
      outcome: input.outcome,
      status,
      ...(input.error ? { error: input.error } : {}),
    });
  return { status, nextAttemptAt: status === "pending" ? nextAttemptAt : null };
});

function accepted(tx: Tx, { attempt, effect }: OpenAttempt): void {
  if (attempt.state === "recorded")
    throw new HoldpointError(
      "protocolRejected",
      `Attempt ${attempt.attempt} of ${effect.effectId} was accepted before it was dispatched.`,
    );
  if (effect.purpose === "settlement") closeParts(tx, effect, attempt.attempt, "accepted");
  else if (!hasArrived(tx, effect)) {
    throw new HoldpointError(
      "protocolRejected",
      `Attempt ${attempt.attempt} of ${effect.effectId} was accepted, but a part has no receipt.`,
    );
  }
  moveAttempt(tx, attempt, "accepted");
  moveEffect(tx, effect, "applied", { error: null });
}

function rejected(tx: Tx, open: OpenAttempt, input: FinishInput): void {
  const { attempt, effect } = open;
  const error = input.error ?? undefined;
  // A rejection is an answer of the service, so something was sent; our own refusals before the first byte are `notSent`.
  if (attempt.state === "recorded") moveAttempt(tx, attempt, "dispatched");
  closeParts(tx, effect, attempt.attempt, "rejected");
  moveAttempt(tx, attempt, "rejected", error);
  if (input.retryAfterMs !== undefined && input.retryAfterMs !== null) {
    const until = tx.now + Math.max(input.retryAfterMs, DELIVERY.backoffMinMs);
    holdPlace(tx, effect.channelId as string, effect.place as string, until);
    again(tx, effect, { nextAttemptAt: until, error: error ?? null });
    return;
  }
  if (input.unparsed === true && effect.plain === 0) {
    tx.run("UPDATE effects SET plain = 1 WHERE effect_no = ?", effect.effectNo);
    again(tx, effect, { nextAttemptAt: tx.now, error: error ?? null });
    return;
  }
  if (input.movedTo !== undefined && input.movedTo !== null && effect.purpose !== "settlement") {
    markMoved(tx, effect.channelId as string, effect.place as string, input.movedTo);
    again(tx, effect, { nextAttemptAt: tx.now, error: error ?? null });
    return;
  }
  if (hasArrived(tx, effect)) moveEffect(tx, effect, "applied", { error: null });
  else refuse(tx, effect, error ?? null);
  if (input.placeDead === true) {
    markDead(tx, effect.channelId as string, effect.place as string, error ?? null);
    // A place that is dead is tried once.
    refuseAll(tx, effect.channelId as string, effect.place as string, error ?? null);
  } else if (effect.effectType === "card.settle") postOutcome(tx, effect);
}

function notSent(
  tx: Tx,
  { attempt, effect }: OpenAttempt,
  error: ErrorRecord | null,
  retryAfterMs: number | null = null,
): void {
  closeParts(tx, effect, attempt.attempt, "notSent");
  moveAttempt(tx, attempt, "notSent", error ?? undefined);
  // The place is not there at present, and the adapter tells when it is: no failure of anybody.
  if (retryAfterMs === null) backOff(tx, effect, error);
  else again(tx, effect, { nextAttemptAt: tx.now + retryAfterMs, error });
}

/** An uncertain end before or between parts: their receipts say everything. */
function settled(tx: Tx, open: OpenAttempt, error: ErrorRecord | null): void {
  if (open.attempt.state === "dispatching" && hasArrived(tx, open.effect)) accepted(tx, open);
  else notSent(tx, open, error);
}

/**
 * Whether this attempt may have done something that nobody knows of: a part (or an edit) is on its way. Before `dispatching`, and
 * between two parts whose receipts are stored, nothing is.
 */
export function isInDoubt(tx: Tx, { attempt, effect }: OpenAttempt): boolean {
  if (attempt.state !== "dispatching") return false;
  if (effect.purpose === "settlement") return true;
  return partsOf(tx, effect.effectNo).some((part) => part.attempt === attempt.attempt && part.state === "dispatching");
}

/** The end of an attempt that is in doubt; also what the death of the adapter in the middle of a call means. */
export function ambiguous(tx: Tx, { attempt, effect }: OpenAttempt, error: ErrorRecord | null): void {
  closeParts(tx, effect, attempt.attempt, "uncertain");
  moveAttempt(tx, attempt, "uncertain", error ?? undefined);
  if (effect.purpose === "settlement") backOff(tx, effect, error);
  else if (hasArrived(tx, effect)) moveEffect(tx, effect, "applied", { error: null });
  else moveEffect(tx, effect, "uncertain", { error });
}

/** Closes the part that was on its way, if one was. */
export function closeParts(
  tx: Tx,
  effect: EffectRow,
  attempt: number,
  event: "accepted" | "rejected" | "notSent" | "uncertain",
): void {
  for (const part of partsOf(tx, effect.effectNo)) {
    if (part.attempt !== attempt || part.state !== "dispatching") continue;
    if (event === "accepted") acceptPart(tx, part);
    else movePart(tx, part, event);
  }
}

function backOff(tx: Tx, effect: EffectRow, error: ErrorRecord | null): void {
  const { failures } = effect;
  again(tx, effect, { nextAttemptAt: tx.now + waitAfter(failures), failures: failures + 1, error });
}

/** Milliseconds between attempts after one more failure than these. */
function waitAfter(failures: number): number {
  return Math.min(DELIVERY.backoffMaxMs, DELIVERY.backoffMinMs * 2 ** Math.min(failures, 30));
}

/**
 * After the end of the adapter that had an unsent message in its hands: at once, since others end adapters too. One that was there
 * each time waits longer and longer, so that a message that ends every adapter does not keep the rest from going out.
 */
export function afterAdapter(tx: Tx, effect: EffectRow): void {
  const { failures } = effect;
  const wait = failures === 0 ? 0 : waitAfter(failures - 1);
  again(tx, effect, { nextAttemptAt: tx.now + wait, failures: failures + 1, error: null });
}

/** Back to pending, unless it is there or nobody needs it any more. */
export function again(
  tx: Tx,
  effect: EffectRow,
  change: { nextAttemptAt: number; failures?: number; error: ErrorRecord | null },
): void {
  if (hasArrived(tx, effect)) moveEffect(tx, effect, "applied", { error: null });
  else moveEffect(tx, effect, isOver(tx, effect) ? "cancelled" : "notApplied", change);
}

function isOver(tx: Tx, effect: EffectRow): boolean {
  if (effect.purpose === "settlement") return hasNewerSettlement(tx, effect);
  if (effect.purpose === "alert") return isAlertObsolete(tx, effect);
  if (effect.decisionNo === null || !isForWaiting(tx, effect)) return false;
  return !isPending(tx, effect.decisionNo);
}
