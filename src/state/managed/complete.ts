/**
 * `managed.complete`: what became of a managed run, once that is known. A command of its own, under no claim: the runner that
 * ended the run knows nothing of whoever asked for it, and a server that died in between finds the open request again. The resource
 * that asked gets a pass in the same write.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { next } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { SERVER_ACTOR } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import { put } from "./enqueue.ts";
import { managedById, type ManagedRun } from "./rows.ts";

interface Row {
  runStatus: string;
  status: string;
  error: string | null;
}

const EVENT: Readonly<Record<string, string>> = {
  completed: "completed",
  failed: "failed",
  timed_out: "timedOut",
  cancelled: "cancelled",
};

/** Completing a completed one changes nothing. Throws `runNotFound`, and `runState` while the run goes on. */
export const complete = defineCommand("managed.complete", (tx, input: { requestId: string }): ManagedRun => {
  const row = tx.get<Row>(
    `SELECT r.status AS runStatus, m.status, r.error FROM managed_resource_workflows m JOIN runs r USING (run_no) WHERE m.request_id = ?`,
    input.requestId,
  );
  if (row === undefined)
    throw new HoldpointError("runNotFound", `No managed run has the request id "${input.requestId}".`);
  if (row.status === "open") {
    const event = EVENT[row.runStatus];
    if (event === undefined)
      throw new HoldpointError(
        "runState",
        `The run of managed request ${input.requestId} is ${row.runStatus}; it has not ended.`,
      );
    tx.run(
      "UPDATE managed_resource_workflows SET status = ?, error = ?, completed_at = ? WHERE request_id = ?",
      next("managedRun", row.status, event),
      row.error,
      tx.now,
      input.requestId,
    );
    wakeOwner(tx, managedById(tx, input.requestId) as ManagedRun);
  }
  return managedById(tx, input.requestId) as ManagedRun;
});

function wakeOwner(tx: Tx, { owner, requestKey, runId, status }: ManagedRun): void {
  const row = tx.get<{ no: number; resourceNo: number; lane: string }>(
    "SELECT managed_no AS no, resource_no AS resourceNo, lane FROM managed_resources WHERE uid = ? AND deleted_at IS NULL",
    owner,
  );
  if (row === undefined) return;
  tx.event(row.resourceNo, {
    type: "workflow.completed",
    actor: SERVER_ACTOR,
    payload: { requestKey, runId, status },
  });
  put(tx, row.no, row.lane, { reason: "child", urgent: true });
}
