/**
 * A run that waits for a person or a time, and what becomes of it: the parts of the commands of decisions, checkpoints and timers
 * that belong to the run.
 */
import { type ErrorRecord, HoldpointError } from "../../contracts/errors.ts";
import { next } from "../../contracts/states.ts";
import type { Actor, Claim, Tx } from "../tx.ts";
import { endRun } from "./ending.ts";
import { Progress } from "./progress.ts";
import { letGo, parkQueue, requeueRun } from "./queueing.ts";
import { openAttempt, type RunRow, runByNo } from "./rows.ts";
import { standingOf } from "./standing.ts";

/** What a run can wait for. */
export type WaitKind = "decision" | "checkpoint" | "interaction" | "timer";

const WAIT_EVENT = {
  decision: "decisionRequested",
  checkpoint: "checkpointRequested",
  interaction: "interactionRequested",
  timer: "timerSet",
} as const;

/**
 * The open attempt and its run begin to wait: queue parked with the kind as reason, claim released, runner row closed. The
 * caller has checked the claim (`claimedRun`) and writes the events. Throws `protocolRejected` unless `nodeId` is executed
 * as `step`.
 */
export function waitFor(
  tx: Tx,
  run: RunRow,
  claim: Claim,
  at: { step: number; nodeId: string; kind: WaitKind },
): { attemptNo: number; visit: number } {
  const open = openAttempt(tx, run);
  if (open?.status !== "running" || open.nodeId !== at.nodeId || at.step !== run.steps) {
    throw new HoldpointError(
      "protocolRejected",
      `Runner ${claim.runnerEpoch} asks for a ${at.kind} at node "${at.nodeId}", step ${at.step}; run ${run.runId} is at "${open?.nodeId ?? "nothing"}", step ${run.steps}.`,
    );
  }
  tx.run(
    "UPDATE node_attempts SET status = ? WHERE run_no = ? AND attempt_no = ?",
    next("nodeAttempt", open.status, "waits"),
    run.runNo,
    open.attemptNo,
  );
  run.status = next("run", run.status, WAIT_EVENT[at.kind]);
  tx.run("UPDATE runs SET status = ?, updated_at = ? WHERE run_no = ?", run.status, tx.now, run.runNo);
  parkQueue(tx, run.runNo, at.kind, null);
  letGo(tx, run, "exited");
  return { attemptNo: open.attemptNo, visit: open.visit };
}

export interface Answered {
  /** The one thing that was answered; it can cause one continuation only. */
  readonly cause: { readonly type: Exclude<WaitKind, "interaction">; readonly id: string };
  /** Becomes the node's output. */
  readonly output: unknown;
  readonly actor: Actor;
}

/**
 * An accepted answer: the waiting attempt becomes the next step, the next continuation is made (once per cause, by a
 * constraint) and the run is queued before new starts. A paused run stays parked until it is resumed. `obstructed` when it was known
 * before that the run cannot be continued now.
 */
export function continueFrom(tx: Tx, runNo: number, answered: Answered): { readonly obstructed: boolean } {
  const { attempt: open, node, obstructed, queue, run } = standingOf(tx, runNo);
  if (open?.status !== "waiting")
    throw new HoldpointError("runState", `Run ${run.runId} waits for no ${answered.cause.type} (${run.status}).`);
  const step = run.steps;
  run.status = next("run", run.status, "continued");
  const progress = new Progress(tx, run, open, null);
  if (node !== undefined) progress.know(open.nodeId, node);
  progress.finish({ outcome: "ok", output: answered.output });
  run.continuations += 1;
  progress.save();
  tx.run(
    "INSERT INTO run_continuations (run_no, number, cause_type, cause_id, carried_steps, created_at) VALUES (?, ?, ?, ?, ?, ?)",
    runNo,
    run.continuations,
    answered.cause.type,
    answered.cause.id,
    run.steps,
    tx.now,
  );
  requeueRun(tx, run, { priority: 1, consecutiveErrors: 0 }, queue);
  tx.event(run.resourceNo, {
    type: "run.continued",
    actor: answered.actor,
    payload: { [`${answered.cause.type}Id`]: answered.cause.id, nodeId: open.nodeId, visit: open.visit, step },
  });
  return { obstructed };
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
