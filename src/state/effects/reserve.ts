/**
 * Before an action does anything outside, its effect is reserved: one per run, type, node and visit. What happens when an earlier
 * attempt has no known end follows the recovery contract that the workflow's author declared.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import { CONTENT } from "../../contracts/limits.ts";
import type { ContentRef, JsonValue } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import { parkRun, type RunnerEnd } from "../runs/queueing.ts";
import {
  type AttemptRow as OpenAttempt,
  claimedRun,
  openAttempt,
  runnerActor,
  SERVER_ACTOR,
  type RunRow,
} from "../runs/rows.ts";
import type { Claim, Tx } from "../tx.ts";
import { largeContent } from "../values.ts";
import {
  actionKey,
  attemptOf,
  effectIdOf,
  effectOf,
  insertEffect,
  moveAttempt,
  moveEffect,
  beginAttempt,
  type AttemptRow,
  type EffectRow,
  type Recovery,
} from "./rows.ts";

export interface ReserveInput {
  readonly claim: Claim;
  readonly step: number;
  readonly nodeId: string;
  readonly effectType: string;
  readonly recovery: Recovery;
  /** What the effect will do. */
  readonly request: JsonValue;
}

export interface ReserveResult {
  readonly effectId: string;
  /** Idempotency key for the outside: the same for every attempt of this effect. */
  readonly key: string;
  readonly attempt: number;
  /**
   * `fresh`: do it. `repeat`: an earlier attempt may have done it; do it again with the same key. `observe`: look first, then report.
   * `applied`, `rejected`: settled before. `ambiguous`: a person must settle it; the run was parked and the claim is gone.
   */
  readonly state: "fresh" | "repeat" | "observe" | "applied" | "rejected" | "ambiguous";
  readonly result?: JsonValue;
  /** Instead of a result that is too large for a frame. */
  readonly resultRef?: ContentRef;
  readonly error?: ErrorRecord;
}

/** Throws `claimLost`, `protocolRejected` (not the node that is open), `effectConflict` (the key with another request). */
export const reserve = defineCommand("effects.reserve", (tx: Tx, input: ReserveInput): ReserveResult => {
  const run = claimedRun(tx, input.claim);
  return reserveFor(tx, run, openAttempt(tx, run), input);
});

/** The same for a run whose claim was checked. Every refusal is thrown before anything is written. */
export function reserveFor(tx: Tx, run: RunRow, open: OpenAttempt | undefined, input: ReserveInput): ReserveResult {
  if (open?.status !== "running" || open.nodeId !== input.nodeId || run.steps !== input.step) {
    throw new HoldpointError(
      "protocolRejected",
      `Node "${input.nodeId}" (step ${input.step}) of run ${run.runId} is not the one that is being executed.`,
    );
  }
  const key = actionKey(run.runId, input.effectType, input.nodeId, open.visit);
  const requestDigest = sha256Digest(input.request);
  // Nearly every one is new: only what cannot be inserted is looked up.
  const created = create(tx, run, input, key, requestDigest);
  if (created !== undefined) return created;
  const effect = effectOf(tx, run.resourceNo, effectIdOf(key)) as EffectRow;
  if (effect.requestDigest !== requestDigest) {
    throw new HoldpointError(
      "effectConflict",
      `Effect "${input.effectType}" of node "${input.nodeId}" was reserved before with another request.`,
      {
        details: { effectId: effect.effectId, nodeId: input.nodeId, visit: open.visit },
      },
    );
  }
  return proceed(tx, run, effect, input.claim);
}

/** The first attempt is made with the effect; undefined, and nothing written, when there is an effect of this key. */
function create(
  tx: Tx,
  run: RunRow,
  input: ReserveInput,
  key: string,
  requestDigest: string,
): ReserveResult | undefined {
  const { claim, effectType, nodeId, recovery, request } = input;
  const { created, effectId } = insertEffect(tx, {
    purpose: "action",
    effectType,
    key,
    resourceNo: run.resourceNo,
    request,
    requestDigest,
    runNo: run.runNo,
    nodeId,
    recovery,
    begunBy: claim.runnerEpoch,
  });
  if (!created) return undefined;
  tellReserved(tx, run, { effectId, effectType, nodeId }, claim, 1, "fresh");
  return { effectId, key: effectId, attempt: 1, state: "fresh" };
}

function proceed(tx: Tx, run: RunRow, effect: EffectRow, claim: Claim): ReserveResult {
  const { effectId } = effect;
  // What the outside gets as idempotency key has no separators of ours in it.
  const key = effectId;
  switch (effect.status) {
    case "applied":
      return {
        effectId,
        key,
        attempt: effect.attemptCount,
        state: "applied",
        ...(effect.result === null ? {} : resultOf(tx, effect.result)),
        ...errorOf(tx, effect),
      };
    case "rejected":
      return {
        effectId,
        key,
        attempt: effect.attemptCount,
        state: "rejected",
        ...errorOf(tx, effect),
      };
    case "pending":
      return { effectId, key, attempt: begin(tx, run, effect, claim, "fresh"), state: "fresh" };
    case "applying":
      return interrupted(tx, run, effect, claim);
    case "ambiguous":
      park(tx, run, effect);
      return { effectId, key, attempt: effect.attemptCount, state: "ambiguous" };
    case "cancelled":
      throw new HoldpointError("protocolRejected", `Effect ${effect.shortId} was cancelled with its run.`);
  }
}

function resultOf(tx: Tx, packed: string): Pick<ReserveResult, "result" | "resultRef"> {
  const resultRef = largeContent(tx, packed, CONTENT.inlineBytes);
  return resultRef === null ? { result: tx.unpack(packed) } : { resultRef };
}

function errorOf(tx: Tx, { error }: EffectRow): Pick<ReserveResult, "error"> {
  return error === null ? {} : { error: tx.unpack(error) as unknown as ErrorRecord };
}

/** An earlier attempt ended with its runner, and nobody knows how. */
function interrupted(tx: Tx, run: RunRow, effect: EffectRow, claim: Claim): ReserveResult {
  const { effectId, recovery } = effect;
  const attempt = attemptOf(tx, effect.effectNo, effect.attemptCount) as AttemptRow;
  if (attempt.ownerId === claim.runnerEpoch) {
    throw new HoldpointError("protocolRejected", `Effect ${effect.shortId} is reserved by this runner already.`);
  }
  if (attempt.state !== "ambiguous") moveAttempt(tx, attempt, "uncertain");
  if (recovery === "observed") {
    tellReserved(tx, run, effect, claim, attempt.attempt, "observe");
    return { effectId, key: effectId, attempt: attempt.attempt, state: "observe" };
  }
  moveEffect(tx, effect, "uncertain");
  if (recovery === "idempotent") {
    moveEffect(tx, effect, "retried");
    return { effectId, key: effectId, attempt: begin(tx, run, effect, claim, "repeat"), state: "repeat" };
  }
  park(tx, run, effect);
  return { effectId, key: effectId, attempt: attempt.attempt, state: "ambiguous" };
}

/** A new attempt, dispatching at once: the runner acts as soon as it hears of it. Returns its number. */
export function begin(tx: Tx, run: RunRow, effect: EffectRow, claim: Claim, state: "fresh" | "repeat"): number {
  const attempt = beginAttempt(tx, effect, claim.runnerEpoch);
  tellReserved(tx, run, effect, claim, attempt, state);
  return attempt;
}

/** The event also counts as progress of the runner, so that its death in the middle of an action is not taken for a start that fails. */
function tellReserved(
  tx: Tx,
  run: RunRow,
  { effectId, effectType, nodeId }: Pick<EffectRow, "effectId" | "effectType" | "nodeId">,
  claim: Claim,
  attempt: number,
  state: string,
): void {
  tx.event(run.resourceNo, {
    type: "effect.reserved",
    actor: runnerActor(claim),
    payload: { effectId, effectType, nodeId, attempt, state },
  });
}

/** The run waits, with a named cause, until a person has settled the effect. */
export function park(tx: Tx, run: RunRow, effect: EffectRow, runner?: RunnerEnd): void {
  const error = new HoldpointError(
    "effectUncertain",
    `Whether "${effect.effectType}" of node "${effect.nodeId}" happened is not known.`,
    {
      remedy: `Find out, then run \`holdpoint effect settle ${effect.shortId} applied|notApplied|retry\`.`,
      details: { effectId: effect.effectId },
    },
  );
  parkRun(tx, run, "effectAmbiguous", error.toRecord(), SERVER_ACTOR, runner);
}
