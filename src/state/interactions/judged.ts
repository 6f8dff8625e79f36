/** `interactions.judged`: the runner says what the workflow makes of a result; and what follows when the runner died over it. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { ContentRef, JsonValue } from "../../contracts/protocol/shared.ts";
import { next } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { letGo, parkQueue, queueOf, type RunnerEnd } from "../runs/queueing.ts";
import { claimedRun, openAttempt, runnerActor, SERVER_ACTOR, type RunRow } from "../runs/rows.ts";
import { waitFor } from "../runs/waiting.ts";
import { cancelSteps } from "../sessions/messages.ts";
import { afterRefusal } from "../sessions/unproductive.ts";
import type { Actor, Claim, Tx } from "../tx.ts";
import { candidateOf, moveRequest, moveSubmission, openRequestOf, requestById, type AgentRequestRow } from "./rows.ts";

export interface JudgedInput {
  readonly claim: Claim;
  readonly step: number;
  readonly requestId: string;
  readonly key: string;
  readonly verdict:
    | { readonly ok: true; readonly output?: JsonValue | undefined; readonly outputRef?: ContentRef | undefined }
    | { readonly ok: false; readonly message: string };
}

/** After a rejection the run waits again and the claim is gone. Throws `claimLost`, `protocolRejected`. */
export const judged = defineCommand("interactions.judged", (tx: Tx, input: JudgedInput): { parked: boolean } => {
  const { claim, key, requestId, step, verdict } = input;
  const run = claimedRun(tx, claim);
  const request = requestById(tx, requestId);
  const candidate = candidateOf(tx, requestId);
  if (request?.runNo !== run.runNo || request.status !== "validating" || candidate?.key !== key)
    throw new HoldpointError("protocolRejected", `Nothing of request ${requestId} is being judged under this key.`);
  const actor = runnerActor(claim);
  if (verdict.ok) {
    moveSubmission(tx, candidate, "accepted", null);
    moveRequest(tx, request, "accepted", verdict);
    cancelSteps(tx, run.runNo);
    tell(tx, run, request, "interaction.accepted", actor);
    return { parked: false };
  }
  moveSubmission(tx, candidate, "rejected", verdict.message);
  moveRequest(tx, request, "refused");
  tell(tx, run, request, "interaction.rejected", actor, { message: verdict.message.slice(0, 400) });
  waitFor(tx, run, claim, { step, nodeId: request.nodeId, kind: "interaction" });
  afterRefusal(tx, request, verdict.message);
  return { parked: true };
});

/**
 * A runner died while it judged a result: the result is rejected, and the run waits for another one. Returns whether that was so. The caller
 * has found the runner's row open.
 */
export function rejectUnjudged(tx: Tx, run: RunRow, end: RunnerEnd, why: string): boolean {
  const request = openRequestOf(tx, run.runNo);
  const open = openAttempt(tx, run);
  if (request?.status !== "validating" || open?.nodeId !== request.nodeId || open.visit !== request.visit) return false;
  const candidate = candidateOf(tx, request.requestId);
  if (candidate === undefined) return false;
  moveSubmission(tx, candidate, "rejected", why);
  moveRequest(tx, request, "refused");
  if (open.status === "running")
    tx.run(
      "UPDATE node_attempts SET status = ? WHERE run_no = ? AND attempt_no = ?",
      next("nodeAttempt", open.status, "waits"),
      run.runNo,
      open.attemptNo,
    );
  if (run.status === "running") run.status = next("run", run.status, "interactionRequested");
  tx.run("UPDATE runs SET status = ?, updated_at = ? WHERE run_no = ?", run.status, tx.now, run.runNo);
  if (queueOf(tx, run.runNo).status !== "parked") parkQueue(tx, run.runNo, "interaction", null);
  letGo(tx, run, end);
  tell(tx, run, request, "interaction.rejected", SERVER_ACTOR, { message: why.slice(0, 400) });
  afterRefusal(tx, request, why);
  return true;
}

function tell(
  tx: Tx,
  run: RunRow,
  { nodeId, requestId, visit }: AgentRequestRow,
  type: string,
  actor: Actor,
  more: object = {},
): void {
  tx.event(run.resourceNo, { type, actor, payload: { requestId, nodeId, visit, ...more } });
}
