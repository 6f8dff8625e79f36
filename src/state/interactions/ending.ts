/** How a step ends without a result: no submission after its reminders, out of time, or with its run. */
import { HoldpointError } from "../../contracts/errors.ts";
import { defineCommand } from "../command.ts";
import { requeueRun } from "../runs/queueing.ts";
import { runByNo, SERVER_ACTOR } from "../runs/rows.ts";
import { cancelSteps } from "../sessions/messages.ts";
import type { Tx } from "../tx.ts";
import {
  candidateOf,
  moveRequest,
  moveSubmission,
  openRequestOf,
  requestById,
  stepOf,
  type AgentRequestRow,
} from "./rows.ts";

/** The run goes on: its node has failed, or timed out. */
export function endRequest(
  tx: Tx,
  request: AgentRequestRow,
  event: "failed" | "timedOut",
  error: HoldpointError,
): void {
  const run = runByNo(tx, request.runNo);
  moveRequest(tx, request, event, { error: error.toRecord() });
  cancelSteps(tx, run.runNo);
  tx.event(run.resourceNo, {
    type: event === "failed" ? "interaction.failed" : "interaction.timedOut",
    actor: SERVER_ACTOR,
    payload: { requestId: request.requestId, nodeId: request.nodeId, visit: request.visit, error: error.toRecord() },
  });
  requeueRun(tx, run, { priority: 1, consecutiveErrors: 0 });
}

/** The run ends: what it waited for in its session is over. */
export function cancelRequestOf(tx: Tx, runNo: number): void {
  cancelSteps(tx, runNo);
  const request = openRequestOf(tx, runNo);
  if (request === undefined) return;
  const candidate = candidateOf(tx, request.requestId);
  if (candidate !== undefined) moveSubmission(tx, candidate, "rejected", "The run has ended.");
  moveRequest(tx, request, "cancelled");
}

/** Milliseconds since the epoch at which the turns of a step have used up its time, if no turn ends before; null = no turn is open, its session is away, or no limit. */
export function timeLimitAt(
  db: Pick<Tx, "get" | "unpack">,
  request: Pick<AgentRequestRow, "requestId" | "step" | "activeMs">,
): number | null {
  const { timeoutMs } = stepOf(db, request);
  const turn = db.get<{ countedMs: number; since: number | null }>(
    "SELECT counted_ms AS countedMs, counting_since AS since FROM workflow_turns WHERE request_id = ? AND ended_at IS NULL",
    request.requestId,
  );
  if (timeoutMs === null || turn === undefined || turn.since === null) return null;
  return turn.since + timeoutMs - request.activeMs - turn.countedMs;
}

/** Ends a step whose turns have used up its time, by the server's clock. */
export const timeOut = defineCommand(
  "interactions.timeOut",
  (tx: Tx, input: { requestId: string }): { done: boolean } => {
    const request = requestById(tx, input.requestId);
    // A result that is being judged came in time.
    if (request?.status !== "pending") return { done: false };
    const at = timeLimitAt(tx, request);
    if (at === null || at > tx.now) return { done: false };
    endRequest(tx, request, "timedOut", outOfTime(tx, request));
    return { done: true };
  },
);

export function outOfTime(tx: Tx, request: AgentRequestRow): HoldpointError {
  const { timeoutMs } = stepOf(tx, request);
  return new HoldpointError(
    "nodeTimedOut",
    `The agent of node "${request.nodeId}" was at work longer than its timeout of ${timeoutMs} ms.`,
    { details: { node: request.nodeId, limit: timeoutMs } },
  );
}
