/**
 * A person settles what nobody can know. One operation behind two commands: `effect settle` for actions of workflows and
 * `channel recover` for messages; either takes the other's kind too.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import type { EffectSummary } from "../../contracts/protocol/operations.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { isFinal } from "../../contracts/states.ts";
import { alertTitle } from "../alerts/shown.ts";
import { revive } from "../channels/places.ts";
import { defineCommand } from "../command.ts";
import { isPending } from "../decisions/rows.ts";
import { withReceipt, type Receipt, type Receipted } from "../receipts.ts";
import { ownerLives, wakeOwner } from "../managed/settled.ts";
import { requeueRun } from "../runs/queueing.ts";
import { runByNo } from "../runs/rows.ts";
import type { Actor, Tx } from "../tx.ts";
import { effectByRef } from "./find.ts";
import { isComplete, partByReference, partsOf, progressOf, type PartRow } from "./part-rows.ts";
import { movePart, acceptPart, storeReference } from "./parts.ts";
import { attemptOf, effectByNo, moveAttempt, moveEffect, type EffectRow } from "./rows.ts";
import { refuse } from "./refuse.ts";
import { reopen } from "./reopen.ts";
import { effectSummary, shownEffect } from "./views.ts";

/**
 * What a person says about an uncertain effect. `retry` does not claim to know: the new copy says that it may be a repeat. `dropped`
 * does not either: a message that nobody needs any more is given up.
 */
export type Verdict = "applied" | "notApplied" | "retry" | "dropped";

export interface SettleInput {
  readonly effect: string;
  readonly outcome: Exclude<Verdict, "dropped">;
  /** Output of an action that was applied. */
  readonly result: JsonValue | null;
  readonly receipt: Receipt | null;
  readonly actor: Actor;
}

export interface RecoverInput {
  readonly effect: string;
  readonly action: "confirm" | "retry";
  /** For one of several parts; null = the part in doubt. */
  readonly part: number | null;
  /** Id of the message in its chat; null = the copy cannot be edited later. */
  readonly reference: string | null;
  readonly receipt: Receipt | null;
  readonly actor: Actor;
}

/** Throws `effectNotFound`, `ambiguousId`, `effectState`. */
export const settle = defineCommand("effects.settle", (tx: Tx, input: SettleInput): Receipted<EffectSummary> =>
  withReceipt(tx, input.receipt, () => {
    const effect = effectByRef(tx, input.effect);
    if (effect.purpose === "action") settleAction(tx, effect, input.outcome, input.result);
    else settleMessage(tx, effect, input.outcome, { part: null, reference: null });
    return told(tx, effect, input.outcome, input.actor);
  }),
);

/** Throws `effectNotFound`, `ambiguousId`, `effectState`, `referenceInvalid`. */
export const recover = defineCommand("channels.recover", (tx: Tx, input: RecoverInput): Receipted<EffectSummary> =>
  withReceipt(tx, input.receipt, () => recoverMessage(tx, effectByRef(tx, input.effect), input)),
);

/** Settles one message; also the operation behind the operator's commands and buttons in a chat, whose facts `via` tells. */
export function recoverMessage(
  tx: Tx,
  effect: EffectRow,
  input: Pick<RecoverInput, "part" | "reference" | "actor"> & {
    readonly action: RecoverInput["action"] | "drop";
    readonly via?: Readonly<Record<string, string | number | null>>;
  },
): EffectSummary {
  if (input.action === "drop") {
    drop(tx, effect, input.actor);
    return told(tx, effect, "dropped", input.actor, input.via);
  }
  const outcome = input.action === "confirm" ? "applied" : "retry";
  if (effect.purpose === "action") settleAction(tx, effect, outcome, null);
  else settleMessage(tx, effect, outcome, input);
  return told(tx, effect, outcome, input.actor, input.via);
}

/** A message whose arrival is not known is given up: nothing more is sent. Of an action somebody has to say what happened. */
function drop(tx: Tx, effect: EffectRow, actor: Actor): void {
  if (effect.purpose === "action" || effect.status !== "ambiguous")
    throw wrongState(effect, "only an uncertain message can be dropped");
  refuse(tx, effect, new HoldpointError("messageDropped", `${actor.id} gave it up.`).toRecord());
}

function told(
  tx: Tx,
  effect: EffectRow,
  outcome: Verdict,
  actor: Actor,
  via: Readonly<Record<string, string | number | null>> = {},
): EffectSummary {
  tx.event(effect.resourceNo, {
    type: "effect.settled",
    actor,
    payload: { effectId: effect.effectId, effectType: effect.effectType, outcome, status: effect.status, ...via },
  });
  return effectSummary(tx, shownEffect(tx, effect.effectNo));
}

function settleAction(tx: Tx, effect: EffectRow, outcome: Verdict, result: JsonValue | null): void {
  if (effect.status !== "ambiguous") throw wrongState(effect, "only an uncertain action can be settled");
  const run = effect.runNo === null ? null : runByNo(tx, effect.runNo);
  const over = run !== null ? isFinal("run", run.status) : !ownerLives(tx, effect);
  const attempt = attemptOf(tx, effect.effectNo, effect.attemptCount);
  if (outcome === "applied") {
    if (attempt?.state === "ambiguous") moveAttempt(tx, attempt, "accepted");
    moveEffect(tx, effect, "applied", { result, error: null });
  } else {
    if (over && outcome === "retry")
      throw wrongState(effect, `its run is ${run?.status ?? "gone"} and executes nothing more`);
    if (outcome === "notApplied" && attempt?.state === "ambiguous") moveAttempt(tx, attempt, "notSent");
    // Nothing will execute it any more: what did not happen stays undone.
    if (over) moveEffect(tx, effect, "rejected");
    else moveEffect(tx, effect, "retried", { error: null, nextAttemptAt: tx.now });
  }
  if (over) return;
  if (run === null) wakeOwner(tx, effect);
  else requeueRun(tx, run);
}

function settleMessage(
  tx: Tx,
  effect: EffectRow,
  outcome: Exclude<Verdict, "dropped">,
  named: { readonly part: number | null; readonly reference: string | null },
): void {
  if (outcome === "applied") confirm(tx, effect, named);
  else retry(tx, effect, outcome);
}

function confirm(
  tx: Tx,
  effect: EffectRow,
  named: { readonly part: number | null; readonly reference: string | null },
): void {
  const parts = partsOf(tx, effect.effectNo);
  const part = partToConfirm(effect, parts, named.part);
  const reference = named.reference === null ? null : referenceIn(tx, effect, named.reference);
  if (part.state !== "accepted") {
    const attempt = attemptOf(tx, effect.effectNo, part.attempt);
    if (attempt?.state === "ambiguous") moveAttempt(tx, attempt, "accepted");
  }
  if (reference === null) acceptPart(tx, part);
  else storeReference(tx, effect, part, reference);
  if (effect.status !== "ambiguous") return;
  // The parts behind it were never begun: they still have to go out, unless nobody needs them.
  const rest = !isComplete(progressOf(partsOf(tx, effect.effectNo))) && !isDecided(tx, effect);
  if (rest) moveEffect(tx, effect, "retried", { error: null, nextAttemptAt: tx.now });
  else moveEffect(tx, effect, "applied", { error: null });
}

/** The part in doubt, or the one that is named, if it has no reference yet. */
function partToConfirm(effect: EffectRow, parts: readonly PartRow[], number: number | null): PartRow {
  const open = parts.filter(
    ({ reference, state }) => state === "ambiguous" || (state === "accepted" && reference === null),
  );
  const doubtful = open.findLast(({ state }) => state === "ambiguous") ?? (open.length === 1 ? open[0] : undefined);
  const part = number === null ? doubtful : open.findLast((candidate) => candidate.part === number);
  if (part !== undefined && effect.purpose !== "settlement") return part;
  throw wrongState(effect, number === null ? "no part of it is uncertain" : `part ${number} of it is not uncertain`);
}

function referenceIn(tx: Tx, effect: EffectRow, given: string): string {
  const id = given.startsWith(`${effect.place}:`) ? given.slice(`${effect.place}:`.length) : given;
  if (!/^[1-9][0-9]{0,19}$/.test(id))
    throw new HoldpointError("referenceInvalid", `"${given}" is no message id; a message id is a number.`);
  const reference = `${effect.place}:${id}`;
  const known = partByReference(tx, effect.channelId as string, reference);
  if (known !== undefined)
    throw new HoldpointError(
      "referenceInvalid",
      `Message ${id} in ${effect.place} is known already: it belongs to effect ${effectByNo(tx, known.effectNo)?.effectId}.`,
    );
  return reference;
}

function retry(tx: Tx, effect: EffectRow, outcome: "notApplied" | "retry"): void {
  if (effect.status !== "ambiguous" && effect.status !== "rejected")
    throw wrongState(effect, "only an uncertain or rejected message can be sent again");
  if (isDecided(tx, effect) && effect.purpose !== "settlement")
    throw wrongState(effect, "its decision is over; confirm it, with --reference if the card is in the chat");
  if (outcome === "notApplied") {
    for (const part of partsOf(tx, effect.effectNo)) {
      if (part.state !== "ambiguous") continue;
      const attempt = attemptOf(tx, effect.effectNo, part.attempt);
      movePart(tx, part, "notSent");
      if (attempt?.state === "ambiguous") moveAttempt(tx, attempt, "notSent");
    }
  }
  moveEffect(tx, effect, "retried", { error: null, nextAttemptAt: tx.now, failures: 0 });
  // Whoever sends it again wants the chat tried, whatever is known of it; what else waits for that chat goes with it.
  const { channelId, place } = effect;
  if (channelId !== null && place !== null && revive(tx, channelId, place)) reopen(tx, channelId, place);
}

/** What people call a message: the title of its decision, else its kind. */
export function titleOf(tx: Tx, effect: EffectRow): string {
  if (effect.purpose === "alert") return alertTitle(tx, effect);
  const row =
    effect.decisionNo === null
      ? undefined
      : tx.get<{ title: string }>("SELECT title FROM human_decisions WHERE decision_no = ?", effect.decisionNo);
  return row?.title ?? effect.effectType;
}

/** Whether the decision that a card or a question for text belongs to is over. */
function isDecided(tx: Tx, effect: EffectRow): boolean {
  return effect.decisionNo !== null && !isPending(tx, effect.decisionNo);
}

function wrongState(effect: EffectRow, why: string): HoldpointError {
  return new HoldpointError("effectState", `Effect ${effect.shortId} is ${effect.status}: ${why}.`, {
    details: { effectId: effect.effectId, status: effect.status },
  });
}
