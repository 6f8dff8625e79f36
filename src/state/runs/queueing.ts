/** How a run stands in the scheduler's queue, and letting go of its claim: the parts that several commands share. */
import type { ErrorRecord } from "../../contracts/errors.ts";
import { next } from "../../contracts/states.ts";
import { queueStory } from "../decisions/settle.ts";
import type { Actor, Tx } from "../tx.ts";
import { packError, type RunRow, SERVER_ACTOR } from "./rows.ts";

/** Why a parked run is not claimed by itself. */
export type ParkReason =
  | "decision"
  | "checkpoint"
  | "interaction"
  | "turn"
  | "timer"
  | "paused"
  | "workflowSourceChanged"
  | "effectAmbiguous"
  | "runnerNoProgress";

export interface QueueRow {
  readonly status: string;
  readonly priority: number;
  readonly consecutiveErrors: number;
  readonly parkReason: string | null;
}

export function queueOf(tx: Tx, runNo: number): QueueRow {
  const row = tx.get<QueueRow>(
    "SELECT status, priority, consecutive_errors AS consecutiveErrors, park_reason AS parkReason FROM run_queue WHERE run_no = ?",
    runNo,
  );
  if (row === undefined) throw new Error(`run ${runNo} has no queue row`);
  return row;
}

/** Parks the queue row of a run that is queued, starting or running; no event, no claim. */
export function parkQueue(tx: Tx, runNo: number, reason: ParkReason, error: ErrorRecord | null): void {
  const to = next("queue", queueOf(tx, runNo).status, "parked");
  tx.run(
    "UPDATE run_queue SET status = ?, park_reason = ?, error = ?, updated_at = ? WHERE run_no = ?",
    to,
    reason,
    packError(tx, error),
    tx.now,
    runNo,
  );
}

export interface Requeue {
  /** 1 = before new starts; the default. */
  readonly priority?: number;
  readonly availableAt?: number;
  readonly consecutiveErrors?: number;
}

/** Puts the queue row of a run that is starting, running or parked back in line. */
export function queueAgain(tx: Tx, runNo: number, options: Requeue = {}, row = queueOf(tx, runNo)): void {
  tx.run(
    "UPDATE run_queue SET status = ?, priority = ?, available_at = ?, consecutive_errors = ?, park_reason = NULL, error = NULL, updated_at = ? WHERE run_no = ?",
    next("queue", row.status, "requeued"),
    options.priority ?? 1,
    options.availableAt ?? tx.now,
    options.consecutiveErrors ?? row.consecutiveErrors,
    tx.now,
    runNo,
  );
}

/** Nothing more will be executed. */
export function closeQueue(tx: Tx, runNo: number): void {
  const row = queueOf(tx, runNo);
  if (row.status === "done") return;
  tx.run(
    "UPDATE run_queue SET status = ?, park_reason = NULL, error = NULL, updated_at = ? WHERE run_no = ?",
    next("queue", row.status, "closed"),
    tx.now,
    runNo,
  );
}

/** What a runner's row says when its claim ends. */
export type RunnerEnd = "exited" | "crashed" | "timedOut" | "orphaned" | "cancelled";

/**
 * Releases the run's claim and closes the row of its runner, whose process may live a little longer but may write
 * nothing more. Returns the runner's epoch, or null when no runner was active.
 */
export function letGo(tx: Tx, run: RunRow, end: RunnerEnd, error: ErrorRecord | null = null): string | null {
  tx.release(run.resourceNo);
  const active = tx.get<{ epoch: string; status: string }>(
    "SELECT runner_epoch AS epoch, status FROM run_runners WHERE run_no = ? AND status IN ('starting', 'ready')",
    run.runNo,
  );
  if (active === undefined) return null;
  tx.run(
    "UPDATE run_runners SET status = ?, finished_at = ?, error = ? WHERE runner_epoch = ?",
    next("runner", active.status, end),
    tx.now,
    packError(tx, error),
    active.epoch,
  );
  return active.epoch;
}

/** Parks a run with a named cause: queue, claim, runner row, event `run.parked`, and its cards say so. */
export function parkRun(
  tx: Tx,
  run: RunRow,
  reason: ParkReason,
  error: ErrorRecord | null,
  actor: Actor = SERVER_ACTOR,
  runner: RunnerEnd = "exited",
): void {
  parkQueue(tx, run.runNo, reason, error);
  letGo(tx, run, runner, error);
  tx.event(run.resourceNo, { type: "run.parked", actor, payload: { reason, error } });
  touch(tx, run);
  queueStory(tx, run.runNo);
}

/**
 * Lets a parked run go on: when somebody settled what it was parked for. Does nothing for a run that is not parked; a
 * paused one stays parked until it is resumed. Returns whether it was queued.
 */
export function requeueRun(tx: Tx, run: RunRow, options: Requeue = {}, row = queueOf(tx, run.runNo)): boolean {
  if (row.status !== "parked") return false;
  if (run.paused === 1) {
    tx.run(
      "UPDATE run_queue SET park_reason = 'paused', error = NULL, updated_at = ? WHERE run_no = ?",
      tx.now,
      run.runNo,
    );
    return false;
  }
  queueAgain(tx, run.runNo, options, row);
  return true;
}

function touch(tx: Tx, run: RunRow): void {
  tx.run("UPDATE runs SET updated_at = ? WHERE run_no = ?", tx.now, run.runNo);
}
