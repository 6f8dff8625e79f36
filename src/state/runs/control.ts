/** `runs.pause` and `runs.resume`: work stops and goes on; questions to people stay open meanwhile. */
import { HoldpointError } from "../../contracts/errors.ts";
import { isFinal } from "../../contracts/states.ts";
import { pendingOf } from "../checkpoints/rows.ts";
import { defineCommand } from "../command.ts";
import { type Receipt, type Receipted, withReceipt } from "../receipts.ts";
import { openRequestOf } from "../interactions/rows.ts";
import { resumeStep } from "../sessions/resume-step.ts";
import { cancelSteps } from "../sessions/messages.ts";
import type { Actor, Tx } from "../tx.ts";
import { letGo, parkQueue, queueOf, requeueRun } from "./queueing.ts";
import { pendingTimer } from "../timers/rows.ts";
import { ackOf, openAttempt, type RunAck, type RunRow, runByRef } from "./rows.ts";

export interface RunControl {
  /** Short id, unique prefix or full id. */
  readonly run: string;
  readonly reason?: string | null;
  readonly expectedRevision: number | null;
  readonly receipt: Receipt | null;
  readonly actor: Actor;
}

/** Who controls a run, why, and over which channel if it was one. */
export interface ControlledBy {
  readonly actor: Actor;
  readonly reason?: string | null | undefined;
  /** The person as chats show them, and where they said it. */
  readonly via?: {
    readonly name: string | undefined;
    readonly channel: string;
    readonly actorId: string;
    readonly eventId: string;
    readonly updateId: number;
  };
}

/** What an event tells of who controlled a run. */
export function controlFacts({ reason, via }: ControlledBy): Record<string, string | number | null> {
  const said = { reason: reason ?? null };
  return via === undefined
    ? said
    : { ...said, by: via.name ?? null, channel: via.channel, actorId: via.actorId, updateId: via.updateId };
}

export interface Controlled extends Receipted<RunAck> {
  /** The runner that has lost its claim by this command and must be stopped. */
  readonly stop: { readonly runnerEpoch: string } | null;
}

/** Runs `work` under the receipt; a repeated command stops nobody. Throws `runNotFound`, `ambiguousId`, `revisionConflict`. */
export function controlRun(tx: Tx, input: RunControl, work: (run: RunRow) => string | null): Controlled {
  let epoch: string | null = null;
  const receipted = withReceipt(tx, input.receipt, () => {
    const run = runByRef(tx, input.run);
    checkRevision(tx, run, input.expectedRevision);
    epoch = work(run);
    return ackOf(tx, run);
  });
  return { ...receipted, stop: epoch === null ? null : { runnerEpoch: epoch } };
}

/** Throws `revisionConflict` when the caller expected another revision of the run; null expects none. */
export function checkRevision(tx: Tx, run: RunRow, expected: number | null): void {
  const seen = tx.revision(run.resourceNo);
  if (expected === null || expected === seen) return;
  throw new HoldpointError("revisionConflict", `Run ${run.runId} is at revision ${seen}, not ${expected}.`, {
    details: { expected, seen },
  });
}

export function refuseFinal(run: RunRow, what: string): void {
  if (isFinal("run", run.status))
    throw new HoldpointError("runState", `Run ${run.runId} is ${run.status}; it cannot be ${what}.`);
}

/** One command: the flag, the queue and the claim. Pausing a paused run changes nothing. */
export const pause = defineCommand("runs.pause", (tx, input: RunControl): Controlled =>
  controlRun(tx, input, (run) => pauseRun(tx, run, input)),
);

/** Returns the epoch of the runner that must be stopped, or null. Throws `runState`. */
export function pauseRun(tx: Tx, run: RunRow, by: ControlledBy): string | null {
  refuseFinal(run, "paused");
  if (run.paused === 1) return null;
  setPaused(tx, run, 1);
  // What its session was to do is not sent meanwhile.
  cancelSteps(tx, run.runNo);
  const parked = queueOf(tx, run.runNo).status === "parked";
  if (!parked) parkQueue(tx, run.runNo, "paused", null);
  const epoch = letGo(tx, run, "cancelled");
  tx.event(run.resourceNo, { type: "run.paused", actor: by.actor, payload: controlFacts(by) });
  return epoch;
}

/**
 * Takes the flag off and queues the run when there is something to execute; also the way out of parking.
 * Throws `runState` for a run that is neither paused nor parked, or whose effect a person must settle first.
 */
export const resume = defineCommand("runs.resume", (tx, input: RunControl): Controlled =>
  controlRun(tx, input, (run) => {
    resumeRun(tx, run, input);
    return null;
  }),
);

/** Throws `runState`; why a run that is not paused cannot go on is in its details as `obstacle`. */
export function resumeRun(tx: Tx, run: RunRow, by: ControlledBy): void {
  refuseFinal(run, "resumed");
  const wasPaused = run.paused === 1;
  if (wasPaused) setPaused(tx, run, 0);
  if (wasPaused) resumeStep(tx, run);
  const obstacle = obstacleOf(tx, run);
  if (obstacle === null) requeueRun(tx, run, { consecutiveErrors: 0, priority: run.status === "queued" ? 0 : 1 });
  else if (!wasPaused) throw obstacle;
  tx.event(run.resourceNo, { type: "run.unpaused", actor: by.actor, payload: controlFacts(by) });
}

/** What keeps a run from being resumed. */
export type Obstacle =
  | "notPaused"
  | "waitsForDecision"
  | "waitsForCheckpoint"
  | "waitsForSession"
  | "sleeps"
  | "unsettled";

function setPaused(tx: Tx, run: RunRow, paused: 0 | 1): void {
  run.paused = paused;
  tx.run("UPDATE runs SET paused = ?, updated_at = ? WHERE run_no = ?", paused, tx.now, run.runNo);
}

/** Why a resume cannot queue the run, or null. */
function obstacleOf(tx: Tx, run: RunRow): HoldpointError | null {
  const queue = queueOf(tx, run.runNo);
  if (queue.status !== "parked")
    return new HoldpointError("runState", `Run ${run.runId} is neither paused nor parked (${queue.status}).`, {
      details: { obstacle: "notPaused" satisfies Obstacle },
    });
  const checkpoint = pendingOf(tx, run.runNo);
  if (checkpoint !== undefined) {
    return new HoldpointError(
      "runState",
      `Run ${run.runId} waits for the answer to checkpoint ${checkpoint.shortId}.`,
      {
        details: { obstacle: "waitsForCheckpoint" satisfies Obstacle },
        remedy: `Answer it: \`holdpoint answer ${checkpoint.shortId} <json|text>\`, or cancel the run.`,
      },
    );
  }
  const request = openRequestOf(tx, run.runNo);
  if (request?.status === "pending")
    return new HoldpointError("runState", `Run ${run.runId} waits for the agent of Pi session ${request.sessionId}.`, {
      details: { obstacle: "waitsForSession" satisfies Obstacle },
      remedy: `Open that session (\`pi --session-id ${request.sessionId}\`), or cancel the run.`,
    });
  const timer = pendingTimer(tx, run.runNo);
  if (timer !== undefined) {
    const wakeAt = new Date(timer.wakeAt).toISOString();
    return new HoldpointError("runState", `Run ${run.runId} sleeps and goes on by itself at ${wakeAt}.`, {
      details: { obstacle: "sleeps" satisfies Obstacle, wakeAt: timer.wakeAt },
      remedy: "Wait until then, or cancel the run.",
    });
  }
  if (request === undefined && openAttempt(tx, run)?.status === "waiting") {
    return new HoldpointError("runState", `Run ${run.runId} waits for a decision.`, {
      details: { obstacle: "waitsForDecision" satisfies Obstacle },
      remedy: "Answer the decision (`holdpoint decisions`), or cancel the run.",
    });
  }
  const effect = tx.get<{ id: string }>(
    "SELECT effect_id AS id FROM effects WHERE run_no = ? AND purpose = 'action' AND status = 'ambiguous' ORDER BY effect_no LIMIT 1",
    run.runNo,
  );
  if (effect === undefined) return null;
  // The park reason may be 'paused' when the pause came second; people must see the true cause.
  tx.run("UPDATE run_queue SET park_reason = 'effectAmbiguous' WHERE run_no = ?", run.runNo);
  return new HoldpointError("runState", `Run ${run.runId} has an effect whose outcome nobody knows: ${effect.id}.`, {
    details: { obstacle: "unsettled" satisfies Obstacle },
    remedy: `Settle it first: \`holdpoint effect settle ${effect.id} applied|notApplied|retry\`.`,
  });
}
