/**
 * What follows the death of a runner's process: nothing when it had let go before, another launch when it had achieved
 * something, parking when it had not (a loop of launches without progress helps nobody).
 */
import { type ErrorRecord, HoldpointError } from "../../contracts/errors.ts";
import { PROCESS } from "../../contracts/limits.ts";
import { defineCommand } from "../command.ts";
import { rejectUnjudged } from "../interactions/judged.ts";
import type { Claim, Tx } from "../tx.ts";
import { type HeldStep, timeOutStep } from "./held-step.ts";
import { letGo, parkRun, queueAgain, queueOf, type RunnerEnd } from "./queueing.ts";
import { lastAttempt, runByNo, type RunRow, SERVER_ACTOR } from "./rows.ts";

export interface RunnerEnded {
  readonly runnerEpoch: string;
  /**
   * `stopped`: this server ended it on purpose. `timedOut`: it was not ready in time, or held its step too long. `absent`: its process, idle until then,
   * was gone before it began.
   */
  readonly outcome: "exited" | "crashed" | "timedOut" | "stopped" | "absent";
  readonly error: ErrorRecord | null;
  /** With `timedOut`: the step of a ready runner that never gave way. */
  readonly held?: HeldStep | undefined;
  /** It was ended from outside (SIGKILL, out of memory), which says nothing against the workflow. */
  readonly bySignal?: boolean | undefined;
}

/** A runner that dies by a signal without having advanced the run is started again this often before the run is parked. */
const SIGNAL_LAUNCHES = 2;

export interface AfterRunner {
  readonly runId: string | null;
  /** Queue status of the run now; null for an epoch that never held one. */
  readonly queue: string | null;
  /** Until it is due again, when it was queued here. */
  readonly delayMs: number | null;
}

const END: Readonly<Record<RunnerEnded["outcome"], RunnerEnd>> = {
  exited: "exited",
  crashed: "crashed",
  timedOut: "timedOut",
  stopped: "cancelled",
  absent: "exited",
};

const HOW: Readonly<Record<RunnerEnded["outcome"], string>> = {
  exited: "exited",
  crashed: "crashed",
  timedOut: "was not ready in time and ended",
  stopped: "was stopped",
  absent: "was gone",
};

export const runnerEnded = defineCommand("runs.runnerEnded", (tx, input: RunnerEnded): AfterRunner => {
  const runner = tx.get<{ runNo: number; status: string; stepsAtReady: number | null; revisionAtReady: number | null }>(
    `SELECT run_no AS runNo, status, steps_at_ready AS stepsAtReady, revision_at_ready AS revisionAtReady FROM run_runners WHERE runner_epoch = ?`,
    input.runnerEpoch,
  );
  if (runner === undefined) return { runId: null, queue: null, delayMs: null };
  const run = runByNo(tx, runner.runNo);
  const queue = queueOf(tx, run.runNo);
  // It parked, finished, or was fenced: its end changes nothing.
  if (runner.status !== "starting" && runner.status !== "ready")
    return { runId: run.runId, queue: queue.status, delayMs: null };

  if (
    input.outcome !== "stopped" &&
    input.outcome !== "absent" &&
    rejectUnjudged(tx, run, END[input.outcome], unjudged(input))
  )
    return { runId: run.runId, queue: "parked", delayMs: null };
  if (input.held !== undefined) return afterHeldStep(tx, run, input, input.held);
  const blameless = input.outcome === "stopped" || input.outcome === "absent";
  const steps = runner.stepsAtReady !== null && run.steps > runner.stepsAtReady;
  const progressed = steps || (runner.revisionAtReady !== null && tx.revision(run.resourceNo) > runner.revisionAtReady);
  const again = input.bySignal === true && queue.consecutiveErrors < SIGNAL_LAUNCHES;
  if (!progressed && !blameless && !again) {
    parkRun(tx, run, "runnerNoProgress", noProgress(tx, run, input), SERVER_ACTOR, END[input.outcome]);
    return { runId: run.runId, queue: "parked", delayMs: null };
  }
  letGo(tx, run, END[input.outcome], input.error);
  // Steps prove that the last crash is behind us; an effect that was only begun does not.
  const before = steps || blameless ? 0 : queue.consecutiveErrors;
  const delayMs = blameless ? 0 : backoff(before);
  const consecutiveErrors = blameless ? queue.consecutiveErrors : before + 1;
  queueAgain(tx, run.runNo, { availableAt: tx.now + delayMs, consecutiveErrors });
  tx.event(run.resourceNo, {
    type: "run.requeued",
    actor: SERVER_ACTOR,
    payload: { cause: input.outcome, runner: input.runnerEpoch, delayMs, error: input.error },
  });
  return { runId: run.runId, queue: "queued", delayMs };
});

/** What the agent is told whose result was being judged. */
function unjudged({ error, outcome }: RunnerEnded): string {
  return `Checking the result failed: the process that did it ${HOW[outcome]}.${error === null ? "" : ` ${error.message}`}`;
}

/**
 * The step times out if it is certain that it was this one. Else it may have been one after it, which the runner had no time to
 * tell of: the next runner does the steps that are not stored again, one by one, and then it is certain.
 */
function afterHeldStep(tx: Tx, run: RunRow, input: RunnerEnded, held: HeldStep): AfterRunner {
  const { error, outcome, runnerEpoch } = input;
  const timedOut = held.certain && timeOutStep(tx, run, runnerEpoch, held);
  const queue = queueOf(tx, run.runNo).status;
  // It has ended, or a person has to say what became of an effect.
  if (queue === "done" || queue === "parked") return { runId: run.runId, queue, delayMs: null };
  letGo(tx, run, END[outcome], error);
  queueAgain(tx, run.runNo);
  if (!timedOut) {
    const payload = { cause: outcome, runner: runnerEpoch, delayMs: 0, error };
    tx.event(run.resourceNo, { type: "run.requeued", actor: SERVER_ACTOR, payload });
  }
  return { runId: run.runId, queue: "queued", delayMs: 0 };
}

/** The first crash after progress restarts at once; then 1 s, doubled up to a minute. */
function backoff(errors: number): number {
  return errors === 0 ? 0 : Math.min(PROCESS.restartMaxMs, PROCESS.restartMinMs * 2 ** Math.min(errors - 1, 16));
}

function noProgress(tx: Tx, run: RunRow, input: RunnerEnded): ErrorRecord {
  const { outcome, error } = input;
  const last = lastAttempt(tx, run);
  // Steps after it may have been done and lost: which one it was that ended the runner is not known.
  const after = last === undefined ? "No step of it is stored" : `The last step that is stored is "${last.nodeId}"`;
  const cause = error === null ? "" : ` ${error.message}`;
  const options = error === null ? {} : { details: { cause: error } };
  return new HoldpointError(
    "runnerNoProgress",
    `The runner of ${run.runId} ${HOW[outcome]} without advancing the run. ${after}.${cause}`,
    options,
  ).toRecord();
}

/** Renews all claims that still stand; returns the epochs of those that do not. */
export const renew = defineCommand("runs.renew", (tx, input: { claims: readonly Claim[] }): { lost: string[] } => {
  const lost: string[] = [];
  for (const claim of input.claims) {
    try {
      tx.check(claim);
    } catch (error) {
      if (!(error instanceof HoldpointError) || error.kind !== "claimLost") throw error;
      lost.push(claim.runnerEpoch);
    }
  }
  return { lost };
});
