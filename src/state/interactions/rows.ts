/** Rows of steps that a session's agent does, and their moves. Every change of a status goes through contracts/states.ts here. */
import type { AgentContract } from "../../contracts/agent-step.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { ContentRef, JsonValue } from "../../contracts/protocol/shared.ts";
import { next } from "../../contracts/states.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";

/** A step as its node describes it. */
export interface SessionStep {
  readonly prompt: string;
  readonly contract: AgentContract;
  readonly allowedTools: readonly string[] | null;
  readonly timeoutMs: number | null;
  readonly statusDetail: string | null;
}

export type AgentRequestStatus = "pending" | "validating" | "settled" | "failed" | "timed_out" | "cancelled";

export interface AgentRequestRow {
  readonly requestId: string;
  readonly runNo: number;
  readonly sessionId: string;
  readonly nodeId: string;
  readonly visit: number;
  /** Packed. */
  readonly step: string;
  status: AgentRequestStatus;
  readonly output: string | null;
  readonly error: string | null;
  readonly unproductive: number;
  readonly messages: number;
  readonly activeMs: number;
  readonly createdAt: number;
  readonly settledAt: number | null;
}

const SELECT = `SELECT request_id AS requestId, run_no AS runNo, session_id AS sessionId, node_id AS nodeId, visit, step, status, output, error,
  unproductive, messages, active_ms AS activeMs, created_at AS createdAt, settled_at AS settledAt FROM agent_requests`;

export function requestById(db: Reader, requestId: string): AgentRequestRow | undefined {
  return db.get<AgentRequestRow>(`${SELECT} WHERE request_id = ?`, requestId);
}

/** The step of this visit, however it stands. */
export function requestOfVisit(db: Reader, runNo: number, nodeId: string, visit: number): AgentRequestRow | undefined {
  return db.get<AgentRequestRow>(`${SELECT} WHERE run_no = ? AND node_id = ? AND visit = ?`, runNo, nodeId, visit);
}

/** The step that a run waits for, or whose result is being judged. */
export function openRequestOf(db: Reader, runNo: number): AgentRequestRow | undefined {
  return db.get<AgentRequestRow>(`${SELECT} WHERE run_no = ? AND status IN ('pending', 'validating')`, runNo);
}

export function stepOf(db: { unpack(text: string): JsonValue }, request: Pick<AgentRequestRow, "step">): SessionStep {
  return db.unpack(request.step) as unknown as SessionStep;
}

/** Moves a request; `output` with `accepted`, `error` with `failed` and `timedOut`. */
export function moveRequest(
  tx: Tx,
  request: AgentRequestRow,
  event: "submitted" | "accepted" | "refused" | "failed" | "timedOut" | "cancelled",
  change: {
    readonly output?: JsonValue | undefined;
    readonly outputRef?: ContentRef | undefined;
    readonly error?: ErrorRecord;
  } = {},
): void {
  request.status = next("agentRequest", request.status, event) as AgentRequestStatus;
  const over = request.status !== "pending" && request.status !== "validating";
  tx.run(
    "UPDATE agent_requests SET status = ?, output = ?, error = ?, settled_at = ? WHERE request_id = ?",
    request.status,
    request.status === "settled" ? tx.packEither(change.output ?? null, change.outputRef) : null,
    change.error === undefined ? null : tx.pack(change.error),
    over ? tx.now : null,
    request.requestId,
  );
}

export interface SubmissionRow {
  readonly requestId: string;
  readonly key: string;
  /** Packed. */
  readonly output: string;
  status: "validating" | "accepted" | "rejected";
  message: string | null;
}

const SUBMISSION =
  'SELECT request_id AS requestId, submission_key AS "key", output, status, message FROM agent_submissions WHERE request_id = ?';

export function submissionOf(db: Reader, requestId: string, key: string): SubmissionRow | undefined {
  return db.get<SubmissionRow>(`${SUBMISSION} AND submission_key = ?`, requestId, key);
}

/** The one that is being judged. */
export function candidateOf(db: Reader, requestId: string): SubmissionRow | undefined {
  return db.get<SubmissionRow>(`${SUBMISSION} AND status = 'validating'`, requestId);
}

export function moveSubmission(
  tx: Tx,
  row: SubmissionRow,
  event: "accepted" | "rejected",
  message: string | null,
): void {
  row.status = next("submission", row.status, event) as SubmissionRow["status"];
  row.message = message;
  tx.run(
    "UPDATE agent_submissions SET status = ?, message = ? WHERE request_id = ? AND submission_key = ?",
    row.status,
    message,
    row.requestId,
    row.key,
  );
}
