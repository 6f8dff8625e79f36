/** A run that waits for a person, and what becomes of it: the parts of the decision commands that belong to the run. */
import { type ErrorRecord, HoldpointError } from "../../contracts/errors.ts";
import { next } from "../../contracts/states.ts";
import type { Actor, Claim, Tx } from "../tx.ts";
import { endRun } from "./ending.ts";
import { Progress } from "./progress.ts";
import { letGo, parkQueue, requeueRun } from "./queueing.ts";
import { openAttempt, type RunRow, runByNo } from "./rows.ts";

/**
 * The open attempt and its run begin to wait: queue parked (`decision`), claim released, runner row closed. The caller has
 * checked the claim (`claimedRun`) and writes the events. Throws `protocolRejected` unless `nodeId` is executed as `step`.
 */
export function waitForDecision(
  tx: Tx,
  run: RunRow,
  claim: Claim,
  at: { step: number; nodeId: string },
): { attemptNo: number; visit: number } {
  const open = openAttempt(tx, run);
  if (open?.status !== "running" || open.nodeId !== at.nodeId || at.step !== run.steps) {
    throw new HoldpointError(
      "protocolRejected",
      `Runner ${claim.runnerEpoch} asks for a decision at node "${at.nodeId}", step ${at.step}; run ${run.runId} is at "${open?.nodeId ?? "nothing"}", step ${run.steps}.`,
    );
  }
  tx.run(
    "UPDATE node_attempts SET status = ? WHERE run_no = ? AND attempt_no = ?",
    next("nodeAttempt", open.status, "waits"),
    run.runNo,
    open.attemptNo,
  );
  run.status = next("run", run.status, "decisionRequested");
  tx.run("UPDATE runs SET status = ?, updated_at = ? WHERE run_no = ?", run.status, tx.now, run.runNo);
  parkQueue(tx, run.runNo, "decision", null);
  letGo(tx, run, "exited");
  return { attemptNo: open.attemptNo, visit: open.visit };
}

export interface Answered {
  readonly decisionId: string;
  /** Becomes the node's output: `{choice, input?}`. */
  readonly output: unknown;
  readonly actor: Actor;
}

/**
 * An accepted decision: the waiting attempt becomes the next step, the next continuation is made (once per decision, by a
 * constraint) and the run is queued before new starts. A paused run stays parked until it is resumed.
 */
export function continueFromDecision(tx: Tx, runNo: number, answered: Answered): void {
  const run = runByNo(tx, runNo);
  const open = openAttempt(tx, run);
  if (open?.status !== "waiting")
    throw new HoldpointError("runState", `Run ${run.runId} waits for no decision (${run.status}).`);
  const step = run.steps;
  run.status = next("run", run.status, "continued");
  const progress = new Progress(tx, run, open, null);
  progress.finish({ outcome: "ok", output: answered.output });
  progress.save();
  tx.run(
    `INSERT INTO run_continuations (run_no, number, previous_number, cause_type, cause_id, carried_steps, created_at)
     SELECT run_no, max(number) + 1, max(number), 'decision', ?2, ?3, ?4 FROM run_continuations WHERE run_no = ?1 GROUP BY run_no`,
    runNo,
    answered.decisionId,
    run.steps,
    tx.now,
  );
  requeueRun(tx, run, { priority: 1, consecutiveErrors: 0 });
  tx.event(run.resourceNo, {
    type: "run.continued",
    actor: answered.actor,
    payload: { decisionId: answered.decisionId, nodeId: open.nodeId, visit: open.visit, step },
  });
}

/** A decision that expired without a default: its node timed out and the run fails. */
export function failWaiting(tx: Tx, runNo: number, end: { error: ErrorRecord; actor: Actor }): void {
  const run = runByNo(tx, runNo);
  const open = openAttempt(tx, run);
  if (open?.status !== "waiting")
    throw new HoldpointError("runState", `Run ${run.runId} waits for no decision (${run.status}).`);
  const progress = new Progress(tx, run, open, null);
  progress.finish({ outcome: "cancelled", error: end.error });
  progress.save();
  tx.run("UPDATE run_nodes SET outcome = 'timed_out' WHERE run_no = ? AND node_id = ?", runNo, open.nodeId);
  endRun(tx, run, { status: "failed", error: end.error, actor: end.actor });
}
