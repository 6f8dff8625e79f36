/** `checkpoints.request`: the run stops at a checkpoint until an operator answers; what it shows is stored. */
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { resourceId, shortId } from "../../contracts/ids.ts";
import type { ContentRef, JsonValue } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import { claimedRun, definitionOf, runnerActor } from "../runs/rows.ts";
import { waitFor } from "../runs/waiting.ts";
import type { Claim } from "../tx.ts";

/** A summary is one line of a list. */
const SUMMARY_UNITS = 400;

export interface CheckpointInput {
  readonly claim: Claim;
  readonly step: number;
  readonly nodeId: string;
  /** What the node made to look at. */
  readonly content: JsonValue | undefined;
  readonly contentRef?: ContentRef | undefined;
  readonly summary: string | null;
}

export interface CheckpointRequested {
  readonly requestId: string;
  readonly shortId: string;
}

/** The run waits afterwards and its claim is gone. Throws `claimLost`, and `protocolRejected` for another node or kind. */
export const request = defineCommand("checkpoints.request", (tx, input: CheckpointInput): CheckpointRequested => {
  const { claim, content = null, contentRef, nodeId, step } = input;
  const run = claimedRun(tx, claim);
  const type: string | undefined = definitionOf(tx, run).nodes[nodeId]?.type;
  if (type !== "checkpoint")
    throw new HoldpointError("protocolRejected", `Node "${nodeId}" of run ${run.runId} is no checkpoint (${type}).`);
  const { attemptNo, visit } = waitFor(tx, run, claim, { step, nodeId, kind: "checkpoint" });
  const requestId = resourceId("checkpoint", [run.runId, nodeId, String(visit)].join("\0"));
  const summary = input.summary === null ? null : cutToUnits(input.summary, SUMMARY_UNITS);
  tx.run(
    `INSERT INTO interactive_requests (request_id, short_id, run_no, attempt_no, node_id, visit, kind, content, summary, status, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'checkpoint', ?, ?, 'pending', ?)`,
    requestId,
    shortId("c", requestId),
    run.runNo,
    attemptNo,
    nodeId,
    visit,
    tx.packEither(content, contentRef),
    summary,
    tx.now,
  );
  tx.event(run.resourceNo, {
    type: "checkpoint.requested",
    actor: runnerActor(claim),
    payload: { requestId, shortId: shortId("c", requestId), nodeId, visit, summary },
  });
  return { requestId, shortId: shortId("c", requestId) };
});
