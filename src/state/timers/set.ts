/** `timers.set`: the run begins to wait for a time; it is parked, and nobody executes it meanwhile. */
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { resourceId } from "../../contracts/ids.ts";
import { WORKFLOW } from "../../contracts/limits.ts";
import { type SleepWake, wakeTime } from "../../contracts/sleep.ts";
import { defineCommand } from "../command.ts";
import { claimedRun, definitionOf, runnerActor } from "../runs/rows.ts";
import { waitFor } from "../runs/waiting.ts";
import type { Claim } from "../tx.ts";

export interface SetInput {
  readonly claim: Claim;
  readonly step: number;
  readonly nodeId: string;
  readonly wake: SleepWake;
  /** What it waits for, one line; or null. */
  readonly reason: string | null;
}

/**
 * The run waits afterwards and its claim is gone. The time counts from the server's clock. Throws `claimLost`, `sleepInvalid`, and
 * `protocolRejected` for another node or kind.
 */
export const set = defineCommand("timers.set", (tx, input: SetInput): { timerId: string; wakeAt: number } => {
  const { claim, nodeId, step, wake } = input;
  const run = claimedRun(tx, claim);
  const type: string | undefined = definitionOf(tx, run).nodes[nodeId]?.type;
  if (type !== "sleep")
    throw new HoldpointError("protocolRejected", `Node "${nodeId}" of run ${run.runId} is no sleep (${type}).`);
  const wakeAt = wakeTime(wake, tx.now, `The sleep "${nodeId}" of run ${run.runId}`);
  const { attemptNo, visit } = waitFor(tx, run, claim, { step, nodeId, kind: "timer" });
  const timerId = resourceId("timer", [run.runId, nodeId, String(visit)].join("\0"));
  const reason = input.reason === null ? null : cutToUnits(input.reason, WORKFLOW.titleChars);
  tx.run(
    `INSERT INTO run_timers (timer_id, run_no, attempt_no, node_id, visit, reason, status, created_at, wake_at)
     VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    timerId,
    run.runNo,
    attemptNo,
    nodeId,
    visit,
    reason,
    tx.now,
    wakeAt,
  );
  tx.event(run.resourceNo, {
    type: "timer.set",
    actor: runnerActor(claim),
    payload: { timerId, nodeId, visit, wakeAt, reason },
  });
  return { timerId, wakeAt };
});
