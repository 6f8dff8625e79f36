/** Rows of checkpoint requests, and how a person's word for one is resolved. */
import { HoldpointError } from "../../contracts/errors.ts";
import { resolveId } from "../../contracts/ids.ts";
import { ANSWER } from "../../contracts/limits.ts";
import { runByNo, runNoOf } from "../runs/rows.ts";
import type { Reader } from "../statements.ts";

export interface CheckpointRow {
  readonly requestId: string;
  readonly shortId: string;
  readonly runNo: number;
  readonly attemptNo: number;
  readonly nodeId: string;
  readonly visit: number;
  /** Packed. */
  readonly content: string;
  readonly summary: string | null;
  readonly status: "pending" | "settled" | "cancelled";
  /** Packed. */
  readonly answer: string | null;
  readonly settledBy: string | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
}

export const CHECKPOINT_COLUMNS = `request_id AS requestId, short_id AS shortId, run_no AS runNo, attempt_no AS attemptNo, node_id AS nodeId, visit, content,
  summary, status, answer, settled_by AS settledBy, created_at AS createdAt, settled_at AS settledAt`;

const SELECT = `SELECT ${CHECKPOINT_COLUMNS} FROM interactive_requests`;
const END = "\u{10FFFF}";

/** The checkpoint that a run waits for, if it does. */
export function pendingOf(db: Reader, runNo: number): CheckpointRow | undefined {
  return db.get<CheckpointRow>(`${SELECT} WHERE run_no = ? AND status = 'pending'`, runNo);
}

/**
 * The checkpoint that a person means: its id, short id or a unique prefix of either; or a run, which then must wait for
 * one. Throws `requestNotFound`, `ambiguousId`, `runNotFound`, and `answerRefused` for a run that waits for a decision, or
 * that had another question answered just before `now`: a repeated answer must not fall into the next question.
 */
export function checkpointByRef(db: Reader, given: string, now: number): CheckpointRow {
  const fits = given === "" ? [] : candidates(db, given);
  if (fits.length > 0) {
    const id = resolveId(
      given,
      fits.map(({ requestId, shortId }) => ({ id: requestId, short: shortId })),
      "checkpoint",
      "requestNotFound",
    );
    return fits.find(({ requestId }) => requestId === id) as CheckpointRow;
  }
  return pendingOfRun(db, given, now);
}

function candidates(db: Reader, given: string): CheckpointRow[] {
  return db.all<CheckpointRow>(
    `${SELECT} WHERE (short_id >= ?1 AND short_id < ?2) OR (request_id >= ?1 AND request_id < ?2) ORDER BY created_at DESC LIMIT 20`,
    given,
    given + END,
  );
}

function pendingOfRun(db: Reader, given: string, now: number): CheckpointRow {
  const run = runByNo(db, runNoOf(db, given));
  const pending = pendingOf(db, run.runNo);
  if (pending !== undefined) {
    const before = lastAnswer(db, run.runNo);
    if (before === null || before <= now - ANSWER.nextByRunMs) return pending;
    throw new HoldpointError(
      "answerRefused",
      `Run ${run.runId} had another question answered ${now - before} ms ago; name the checkpoint that is meant now.`,
      {
        remedy: `Answer it by its own id: \`holdpoint answer ${pending.shortId} <json|text>\`.`,
        details: {
          requestId: pending.requestId,
          shortId: pending.shortId,
          limit: ANSWER.nextByRunMs,
          seen: now - before,
        },
      },
    );
  }
  const decision = db.get<{ fingerprint: string }>(
    "SELECT fingerprint FROM human_decisions WHERE run_no = ? AND status = 'pending'",
    run.runNo,
  );
  if (decision !== undefined) {
    throw new HoldpointError(
      "answerRefused",
      `Run ${run.runId} waits for decision ${decision.fingerprint}, which only those asked may answer, where they were asked.`,
      { remedy: "See who was asked with `holdpoint decisions`.", details: { fingerprint: decision.fingerprint } },
    );
  }
  throw new HoldpointError("requestNotFound", `Run ${run.runId} waits for no checkpoint (${run.status}).`);
}

/** When a person last answered a question of this run, or null. */
function lastAnswer(db: Reader, runNo: number): number | null {
  const row = db.get<{ at: number | null }>(
    `SELECT max(at) AS at FROM (
       SELECT max(settled_at) AS at FROM interactive_requests WHERE run_no = ?1 AND status = 'settled'
       UNION ALL SELECT max(resolved_at) FROM human_decision_resolutions JOIN human_decisions USING (decision_no) WHERE run_no = ?1)`,
    runNo,
  );
  return row?.at ?? null;
}
