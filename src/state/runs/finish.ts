/** The ways a runner ends its own work: the last step, a workflow that cannot be loaded, and parking with a cause. */
import { type ErrorRecord, HoldpointError } from "../../contracts/errors.ts";
import type { StepEntry } from "../../contracts/protocol/runner.ts";
import { afterStep } from "../../workflow/rules/index.ts";
import { defineCommand } from "../command.ts";
import type { Claim, Tx } from "../tx.ts";
import { endRun } from "./ending.ts";
import { asResult, isStaleRoute, refuseAnswers, stepPayload } from "./entries.ts";
import { marksOf, pass } from "./mounts.ts";
import { Progress } from "./progress.ts";
import { type ParkReason, parkRun } from "./queueing.ts";
import { claimedRun, definitionOf, openAttempt, type RunRow, runnerActor } from "./rows.ts";

export interface Finished {
  readonly status: string;
  /** The step is a settings route that was made with other settings than the present ones; it was not stored. */
  readonly again?: ErrorRecord;
}

/**
 * The last step. The end is recomputed from the definition, the proposer's word is not enough.
 * Throws `claimLost`, or `protocolRejected` for a step that is not the next one or not the last.
 */
export const finish = defineCommand("runs.finish", (tx, input: { claim: Claim; entry: StepEntry }): Finished => {
  const { claim, entry } = input;
  const run = claimedRun(tx, claim);
  const refuse = (why: string): never => {
    throw new HoldpointError("protocolRejected", `Step ${entry.step} cannot end run ${run.runId}: ${why}.`);
  };
  const open = openAttempt(tx, run);
  if (open?.status !== "running") return refuse(`it is not executing a node (${run.status})`);
  if (entry.step !== run.steps) refuse(`the next step is ${run.steps}`);
  if (entry.nodeId !== open.nodeId) refuse(`node "${open.nodeId}" is being executed, not "${entry.nodeId}"`);
  const definition = definitionOf(tx, run);
  refuseAnswers(definition, run, entry);
  if (isStaleRoute(tx, definition, entry)) return { status: run.status, again: retryRoute(tx, run, entry, claim) };
  const marks = marksOf(tx, run, definition);
  const after = afterStep(definition, asResult(tx, entry), run.steps + 1, marks);
  if (after.kind === "next") return refuse(`node "${after.nodeId}" follows "${entry.nodeId}"`);

  const actor = runnerActor(claim);
  const progress = new Progress(tx, run, open, claim.runnerEpoch);
  progress.finish(entry);
  progress.saveNodes();
  tx.event(run.resourceNo, {
    type: "node.finished",
    actor,
    payload: stepPayload({ ...entry, next: null }, open.visit),
  });
  pass(tx, run, definition, marks, { planned: after.transitions, nextStep: run.steps, actor });
  endRun(tx, run, {
    status: after.status,
    ...(after.status === "completed" ? { output: entry.output, outputRef: entry.outputRef } : {}),
    error: after.error,
    actor,
  });
  return { status: run.status };
});

function retryRoute(tx: Tx, run: RunRow, { nodeId, settings, step }: StepEntry, claim: Claim): ErrorRecord {
  tx.event(run.resourceNo, { type: "settings.routeRetried", actor: runnerActor(claim), payload: { nodeId, step } });
  return new HoldpointError(
    "settingsChanged",
    `Node "${nodeId}" of run ${run.runId} was made with change ${settings?.changeNumber} of its settings, which is not the present one.`,
  ).toRecord();
}

/** The workflow threw while it was loaded, or is none: the run fails, nothing of it was executed by this runner. */
export const loadFailed = defineCommand(
  "runs.loadFailed",
  (tx, input: { claim: Claim; error: ErrorRecord }): { status: string } => {
    const run = claimedRun(tx, input.claim);
    const open = openAttempt(tx, run);
    if (open !== undefined) {
      const progress = new Progress(tx, run, open, input.claim.runnerEpoch);
      progress.finish({ outcome: "failed", error: input.error });
      progress.save();
    }
    endRun(tx, run, { status: "failed", error: input.error, actor: runnerActor(input.claim) });
    return { status: run.status };
  },
);

/** Parks the run with a named cause until somebody resumes it. */
export const park = defineCommand(
  "runs.park",
  (tx, input: { claim: Claim; reason: ParkReason; error: ErrorRecord | null }): null => {
    const run = claimedRun(tx, input.claim);
    parkRun(tx, run, input.reason, input.error, runnerActor(input.claim));
    return null;
  },
);
