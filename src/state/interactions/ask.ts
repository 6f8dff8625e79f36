/**
 * `interactions.ask`: a runner has come to an agent step of a run that belongs to a session. The first time the request is stored, its message
 * queued and the run parked; later the runner is told how the request stands: nothing yet, a result to judge, or its end.
 */
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import { resourceId } from "../../contracts/ids.ts";
import { CONTENT } from "../../contracts/limits.ts";
import type { ContentRef, JsonValue } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import { claimedRun, definitionOf, openAttempt, runnerActor, type RunRow } from "../runs/rows.ts";
import { waitFor } from "../runs/waiting.ts";
import { bindingOf } from "../sessions/bindings.ts";
import { queueStep } from "../sessions/messages.ts";
import type { Claim, Tx } from "../tx.ts";
import { largeContent } from "../values.ts";
import { candidateOf, requestOfVisit, type AgentRequestRow, type SessionStep } from "./rows.ts";

export interface AskInput {
  readonly claim: Claim;
  readonly step: number;
  readonly nodeId: string;
  readonly asked: SessionStep;
}

/** `parked`: the claim is gone. `candidate`: judge it. `done`: it was accepted before. */
export type Asked =
  | { readonly state: "parked"; readonly requestId: string }
  | ({ readonly state: "candidate"; readonly requestId: string; readonly key: string } & Value)
  | ({ readonly state: "done" } & Value)
  | { readonly state: "failed" | "timedOut"; readonly error: ErrorRecord };

interface Value {
  readonly output?: JsonValue;
  readonly outputRef?: ContentRef;
}

/** Throws `claimLost`, `protocolRejected`, `noSession`. */
export const ask = defineCommand("interactions.ask", (tx: Tx, input: AskInput): Asked => {
  const { claim, nodeId, step } = input;
  const run = claimedRun(tx, claim);
  const open = openAttempt(tx, run);
  const type: string | undefined = definitionOf(tx, run).nodes[nodeId]?.type;
  if (type !== "agent" || open?.status !== "running" || open.nodeId !== nodeId || run.steps !== step) {
    throw new HoldpointError(
      "protocolRejected",
      `Node "${nodeId}" (step ${step}) of run ${run.runId} is not an agent step that is being executed.`,
    );
  }
  const request = requestOfVisit(tx, run.runNo, nodeId, open.visit) ?? create(tx, run, open.visit, input);
  switch (request.status) {
    case "pending":
      waitFor(tx, run, claim, { step, nodeId, kind: "interaction" });
      return { state: "parked", requestId: request.requestId };
    case "validating": {
      const candidate = candidateOf(tx, request.requestId);
      if (candidate === undefined) throw new Error(`request ${request.requestId} is judged without a candidate`);
      const { key, output } = candidate;
      return { state: "candidate", requestId: request.requestId, key, ...valueOf(tx, output) };
    }
    case "settled":
      return { state: "done", ...valueOf(tx, request.output as string) };
    case "failed":
    case "timed_out":
      return {
        state: request.status === "failed" ? "failed" : "timedOut",
        error: tx.unpack(request.error as string) as unknown as ErrorRecord,
      };
    case "cancelled":
      throw new HoldpointError("protocolRejected", `Request ${request.requestId} was cancelled with its run.`);
  }
});

function create(tx: Tx, run: RunRow, visit: number, { asked, claim, nodeId }: AskInput): AgentRequestRow {
  const binding = bindingOf(tx, run.runNo);
  if (binding?.mode !== "interactive")
    throw new HoldpointError("noSession", `Run ${run.runId} belongs to no session that could do node "${nodeId}".`);
  const requestId = resourceId("request", [run.runId, nodeId, String(visit)].join("\0"));
  tx.run(
    `INSERT INTO agent_requests (request_id, run_no, session_id, node_id, visit, step, status, created_at) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)`,
    requestId,
    run.runNo,
    binding.sessionId,
    nodeId,
    visit,
    tx.pack(asked),
    tx.now,
  );
  tx.event(run.resourceNo, {
    type: "interaction.requested",
    actor: runnerActor(claim),
    payload: { requestId, nodeId, visit, session: binding.sessionId },
  });
  queueStep(tx, run, { requestId }, { number: 0, reason: "initial" });
  return requestOfVisit(tx, run.runNo, nodeId, visit) as AgentRequestRow;
}

function valueOf(tx: Tx, packed: string): Value {
  const outputRef = largeContent(tx, packed, CONTENT.inlineBytes);
  return outputRef === null ? { output: tx.unpack(packed) } : { outputRef };
}
