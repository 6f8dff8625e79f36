/** `interactions.submit`: the agent of a session hands in the result of a step. It is stored at once and judged by the run's next runner. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import { requeueRun } from "../runs/queueing.ts";
import { runByNo } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import { moveRequest, requestById, submissionOf, type AgentRequestRow } from "./rows.ts";

export interface SubmitInput {
  readonly session: string;
  readonly requestId: string;
  /** Id of the tool call, or of the turn whose last text it is: the same is judged once. */
  readonly key: string;
  readonly output: JsonValue;
}

export interface Submitted {
  readonly status: "validating" | "accepted" | "rejected";
  /** Why it was rejected. */
  readonly message: string | null;
}

/** A repeated submission is told what became of the first. Throws `submissionRefused`. */
export const submit = defineCommand("interactions.submit", (tx: Tx, input: SubmitInput): Submitted => {
  const request = requestOf(tx, input);
  const before = submissionOf(tx, request.requestId, input.key);
  if (before !== undefined) return { status: before.status, message: before.message };
  return take(tx, request, input.key, input.output);
});

/** Stores a candidate and lets the run be judged. Throws `submissionRefused` for a request that is over, being judged, or paused. */
export function take(tx: Tx, request: AgentRequestRow, key: string, output: JsonValue): Submitted {
  const run = runByNo(tx, request.runNo);
  if (request.status !== "pending") throw refused(request, STANDS[request.status]);
  if (run.paused === 1) throw refused(request, "belongs to a run that is paused");
  tx.run(
    "INSERT INTO agent_submissions (request_id, submission_key, output, status, submitted_at) VALUES (?, ?, ?, 'validating', ?)",
    request.requestId,
    key,
    tx.pack(output),
    tx.now,
  );
  moveRequest(tx, request, "submitted");
  tx.event(run.resourceNo, {
    type: "interaction.submitted",
    actor: { type: "session", id: request.sessionId },
    payload: { requestId: request.requestId, nodeId: request.nodeId, visit: request.visit },
  });
  requeueRun(tx, run, { priority: 1, consecutiveErrors: 0 });
  return { status: "validating", message: null };
}

const STANDS = {
  validating: "has a result that is being judged",
  settled: "has its result",
  failed: "has failed",
  timed_out: "has run out of time",
  cancelled: "was cancelled",
} as const;

/** Throws `submissionRefused` for a request of no or another session. */
export function requestOf(tx: Tx, { requestId, session }: Pick<SubmitInput, "requestId" | "session">): AgentRequestRow {
  const request = requestById(tx, requestId);
  if (request === undefined || request.sessionId !== session)
    throw new HoldpointError("submissionRefused", `No step of this session has the request id "${requestId}".`);
  return request;
}

function refused({ nodeId, requestId }: AgentRequestRow, stands: string): HoldpointError {
  return new HoldpointError(
    "submissionRefused",
    `The step "${nodeId}" ${stands}; nothing can be submitted for it now.`,
    {
      details: { requestId },
    },
  );
}
