/**
 * What a runner says about an action it was told to do or to look for.
 */
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import type { ContentRef, JsonValue } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import { claimedRun, runnerActor } from "../runs/rows.ts";
import type { Claim, Tx } from "../tx.ts";
import { begin, park } from "./reserve.ts";
import { attemptOf, effectOf, moveAttempt, moveEffect, type EffectStatus } from "./rows.ts";

export interface ReportInput {
  readonly claim: Claim;
  readonly effectId: string;
  readonly attempt: number;
  /** `notApplied`: looked, and it did not happen; a new attempt begins in the same reservation. */
  readonly outcome: "applied" | "rejected" | "notApplied" | "ambiguous";
  readonly result?: JsonValue | undefined;
  readonly resultRef?: ContentRef | undefined;
  readonly error?: ErrorRecord | undefined;
}

export interface ReportResult {
  readonly status: EffectStatus;
  /** The attempt that is open now after `notApplied`, else the reported one. */
  readonly attempt: number;
}

/** After `ambiguous` the run is parked and the claim gone. Throws `claimLost`, `effectNotFound`, `protocolRejected`. */
export const report = defineCommand("effects.report", (tx: Tx, input: ReportInput): ReportResult => {
  const run = claimedRun(tx, input.claim);
  const effect = effectOf(tx, run.resourceNo, input.effectId);
  if (effect === undefined || effect.runNo !== run.runNo)
    throw new HoldpointError("effectNotFound", `Run ${run.runId} has no effect "${input.effectId}".`);
  const attempt = attemptOf(tx, effect.effectNo, input.attempt);
  if (effect.status !== "applying" || attempt === undefined || input.attempt !== effect.attemptCount) {
    throw new HoldpointError(
      "protocolRejected",
      `Attempt ${input.attempt} of effect ${effect.shortId} is not open (${effect.status}).`,
    );
  }
  const { error, outcome, result, resultRef } = input;
  tx.event(run.resourceNo, {
    type: "effect.reported",
    actor: runnerActor(input.claim),
    payload: {
      effectId: effect.effectId,
      effectType: effect.effectType,
      attempt: input.attempt,
      outcome,
      ...(error === undefined ? {} : { error }),
    },
  });
  switch (outcome) {
    case "applied":
      moveAttempt(tx, attempt, "accepted");
      // With an error: it happened, but what it gave could not be stored, and the node failed.
      moveEffect(tx, effect, "applied", {
        ...(result === undefined ? {} : { result }),
        resultRef,
        error: error ?? null,
      });
      break;
    case "rejected":
      moveAttempt(tx, attempt, "rejected", error);
      moveEffect(tx, effect, "rejected", { error: error ?? null });
      break;
    case "notApplied":
      moveAttempt(tx, attempt, "notSent", error);
      moveEffect(tx, effect, "notApplied");
      return { attempt: begin(tx, run, effect, input.claim, "fresh"), status: effect.status };
    case "ambiguous":
      if (attempt.state !== "ambiguous") moveAttempt(tx, attempt, "uncertain", error);
      moveEffect(tx, effect, "uncertain", { error: error ?? null });
      park(tx, run, effect);
  }
  return { status: effect.status, attempt: input.attempt };
});
