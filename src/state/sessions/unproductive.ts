/** A step's turn came to nothing: the agent is reminded, twice, then the step fails. */
import { afterUnproductiveTurn } from "../../contracts/agent-step.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { AGENT } from "../../contracts/limits.ts";
import { endRequest } from "../interactions/ending.ts";
import type { AgentRequestRow } from "../interactions/rows.ts";
import { runByNo } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import { hasUnsentStep, queueStep } from "./messages.ts";
import { nextMessage } from "./resume-step.ts";

/** `problem`: what was wrong with the turn or its result, for the agent; absent = nothing was submitted. */
export function unproductive(tx: Tx, request: AgentRequestRow, problem: string | undefined): void {
  const count = request.unproductive + 1;
  tx.run("UPDATE agent_requests SET unproductive = ? WHERE request_id = ?", count, request.requestId);
  if (afterUnproductiveTurn(count) === "remind") {
    const number = nextMessage(tx, request.requestId);
    queueStep(tx, runByNo(tx, request.runNo), request, { number, reason: "reminder", reminder: count, problem });
    return;
  }
  const why = problem ?? "Nothing was submitted.";
  const error = new HoldpointError(
    "missingSubmission",
    `The agent of node "${request.nodeId}" ended ${count} turns without a result, ${AGENT.reminders} reminders included. ${why}`,
    { details: { node: request.nodeId, requestId: request.requestId } },
  );
  endRequest(tx, request, "failed", error);
}

/** A result was refused. While the step's turn is open the agent is told there; otherwise that turn came to nothing. */
export function afterRefusal(tx: Tx, request: AgentRequestRow, message: string): void {
  const open = tx.get("SELECT 1 FROM workflow_turns WHERE request_id = ? AND ended_at IS NULL", request.requestId);
  const run = runByNo(tx, request.runNo);
  if (open !== undefined || run.paused === 1 || hasUnsentStep(tx, run.runNo)) return;
  unproductive(tx, request, message);
}
