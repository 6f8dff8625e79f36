/** Pausing, resuming and cancelling a run from a chat. Cancelling asks back first. */
import type { OperatorReply } from "../../../contracts/decision/operator-codes.ts";
import { isHoldpointError } from "../../../contracts/errors.ts";
import { isFinal } from "../../../contracts/states.ts";
import { cancelRun } from "../../runs/cancel.ts";
import { pauseRun, resumeRun, type Obstacle } from "../../runs/control.ts";
import { listedRun } from "../../runs/reads.ts";
import { runByNo } from "../../runs/rows.ts";
import type { Tx } from "../../tx.ts";
import type { OperatorAnswer } from "./answer.ts";
import { controlledBy, type Asker } from "./asker.ts";
import { lineOf } from "./runs.ts";

type Verb = Extract<OperatorReply, { code: "runControlled" }>["verb"];
type Reason = Extract<OperatorReply, { code: "runRefused" }>["reason"];

export function pause(asker: Asker, runNo: number): OperatorAnswer {
  const refusal = refuseEnded(asker.tx, "pause", runNo);
  if (refusal !== undefined) return refusal;
  const stop = pauseRun(asker.tx, runByNo(asker.tx, runNo), controlledBy(asker));
  return { ...done(asker.tx, "pause", runNo), stop };
}

export function resume(asker: Asker, runNo: number): OperatorAnswer {
  const { tx } = asker;
  const refusal = refuseEnded(tx, "resume", runNo);
  if (refusal !== undefined) return refusal;
  try {
    resumeRun(tx, runByNo(tx, runNo), controlledBy(asker));
  } catch (error) {
    // An obstacle is found before anything is written but its own name in the queue.
    if (!isHoldpointError(error) || error.kind !== "runState") throw error;
    return refused(tx, "resume", runNo, error.details?.["obstacle"] as Obstacle);
  }
  return done(tx, "resume", runNo);
}

/** Asks whether it is meant; only who asked may answer. */
export function askCancel({ actorId, tx }: Asker, runNo: number): OperatorAnswer {
  const refusal = refuseEnded(tx, "cancel", runNo);
  if (refusal !== undefined) return refusal;
  const { runId } = runByNo(tx, runNo);
  return {
    reply: { code: "cancelAsk", run: lineOf(listedRun(tx, runNo)) },
    buttons: [
      [
        { action: "cancelRun", item: 1, target: runId },
        { action: "keepRun", item: 1, target: runId },
      ],
    ],
    onlyFor: actorId,
  };
}

export function cancel(asker: Asker, runNo: number): OperatorAnswer {
  const refusal = refuseEnded(asker.tx, "cancel", runNo);
  if (refusal !== undefined) return refusal;
  const stop = cancelRun(asker.tx, runByNo(asker.tx, runNo), controlledBy(asker));
  return { ...done(asker.tx, "cancel", runNo), stop };
}

function refuseEnded(tx: Tx, verb: Verb, runNo: number): OperatorAnswer | undefined {
  return isFinal("run", runByNo(tx, runNo).status) ? refused(tx, verb, runNo, "ended") : undefined;
}

function refused(tx: Tx, verb: Verb, runNo: number, reason: Reason): OperatorAnswer {
  return { reply: { code: "runRefused", verb, run: lineOf(listedRun(tx, runNo)), reason } };
}

function done(tx: Tx, verb: Verb, runNo: number): OperatorAnswer {
  return { reply: { code: "runControlled", verb, run: lineOf(listedRun(tx, runNo)) } };
}
