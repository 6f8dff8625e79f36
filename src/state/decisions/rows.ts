/**
 * Rows of decisions: loading the request, the one resolution and the votes in the shapes of contracts/decision.
 */
import {
  answerDigestOf,
  RESOLUTION_SCHEMA,
  type Assurance,
  type DecisionResolution,
  type Provenance,
} from "../../contracts/decision/answer.ts";
import type { EscalationCause } from "../../contracts/decision/policy.ts";
import type { DecisionRequest } from "../../contracts/decision/request.ts";
import type { Sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { HEAD_COLUMNS, type HeadRow } from "../chain.ts";
import type { AnswerTerms } from "../../decision/index.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";

export interface DecisionRow {
  readonly decisionNo: number;
  readonly decisionId: string;
  readonly resourceNo: number;
  readonly runNo: number;
  readonly attemptNo: number;
  readonly nodeId: string;
  readonly fingerprint: string;
  readonly audience: string;
  readonly title: string;
  readonly requestDigest: string;
  status: "pending" | "accepted" | "cancelled";
  readonly deadlineAt: number | null;
  readonly timeZone: string;
  /** JSON array of names. */
  readonly asked: string;
  /** 1: its whole text goes as a document where a channel takes files. */
  readonly document: number;
  /** 1: a list of cards after a silence names it. */
  readonly listed: number;
  everybodyVoted: number;
  reminders: number;
  /** When the next reminder is due; null = none is to come. */
  remindAt: number | null;
  escalateAt: number | null;
  escalatedAt: number | null;
  /** The second audience that is asked too. */
  escalatedTo: string | null;
  escalationCause: EscalationCause | null;
  /** Names of those whom it asks, as JSON array. */
  escalatedAsked: string | null;
  readonly createdAt: number;
  /** Policy and choices as they are stored, where they were read with the row. */
  readonly policy?: string;
  readonly choices?: string;
}

export const DECISION_COLUMNS = `d.decision_no AS decisionNo, d.decision_id AS decisionId, d.resource_no AS resourceNo, d.run_no AS runNo, d.attempt_no AS attemptNo, d.node_id AS nodeId,
  d.fingerprint, d.audience, d.title, d.request_digest AS requestDigest, d.status, d.deadline_at AS deadlineAt, d.time_zone AS timeZone,
  d.asked, d.document, d.listed, d.everybody_voted AS everybodyVoted, d.reminders, d.remind_at AS remindAt, d.escalate_at AS escalateAt, d.escalated_at AS escalatedAt,
  d.escalated_to AS escalatedTo, d.escalation_cause AS escalationCause, d.escalated_asked AS escalatedAsked, d.created_at AS createdAt`;

/** A reader that can also unpack values: a command's Tx, or the read-only connection. */
export interface ValueReader extends Reader {
  unpack(text: string): unknown;
}

export function decisionById(db: Reader, decisionId: string): DecisionRow | undefined {
  return db.get<DecisionRow>(`SELECT ${DECISION_COLUMNS} FROM human_decisions d WHERE d.decision_id = ?`, decisionId);
}

const BY_NO = `SELECT ${DECISION_COLUMNS} FROM human_decisions d WHERE d.decision_no = ?`;

/** The decision of an internal number; a number that does not exist is a defect. */
export function decisionByNo(db: Reader, decisionNo: number): DecisionRow {
  const row = db.get<DecisionRow>(BY_NO, decisionNo);
  if (row === undefined) throw new HoldpointError("decisionNotFound", `Decision number ${decisionNo} does not exist.`);
  return row;
}

const WHOLE = `SELECT ${DECISION_COLUMNS}, d.policy, q.choices, ${HEAD_COLUMNS} FROM human_decisions d
  JOIN human_decision_requests q ON q.decision_no = d.decision_no JOIN resources h ON h.resource_no = d.resource_no WHERE d.decision_no = ?`;

/** As `decisionByNo`, with all that an answer to it needs: an answer costs as much as the statements it takes. */
export function wholeDecision(tx: Tx, decisionNo: number): DecisionRow {
  const row = tx.get<DecisionRow & HeadRow>(WHOLE, decisionNo);
  if (row === undefined) throw new HoldpointError("decisionNotFound", `Decision number ${decisionNo} does not exist.`);
  tx.know(row.resourceNo, "decision", row.decisionId, row);
  return row;
}

/** Whether it still waits for an answer. */
export function isPending(db: Reader, decisionNo: number): boolean {
  const row = db.get<{ status: string }>("SELECT status FROM human_decisions WHERE decision_no = ?", decisionNo);
  return row?.status === "pending";
}

/** As `decisionById` for an id that the server knows, where it cannot be missing. */
export function knownDecision(db: Reader, decisionId: string): DecisionRow {
  const row = decisionById(db, decisionId);
  if (row === undefined) throw new HoldpointError("decisionNotFound", `No decision has the id "${decisionId}".`);
  return row;
}

const FINGERPRINT = /^[0-9a-f]{4,64}$/;

/**
 * Finds the decision that a person means by its id or by the first hex digits of its request digest (six make the
 * fingerprint), decided ones included. Throws `decisionNotFound`, or `ambiguousId` with the candidates.
 */
export function decisionByRef(db: Reader, given: string): DecisionRow {
  const exact = decisionById(db, given);
  if (exact !== undefined) return exact;
  const found = FINGERPRINT.test(given)
    ? db.all<DecisionRow>(
        `SELECT ${DECISION_COLUMNS} FROM human_decisions d WHERE d.request_digest >= ? AND d.request_digest < ? ORDER BY d.created_at DESC LIMIT 11`,
        `sha256:${given}`,
        `sha256:${given}g`,
      )
    : [];
  const [only] = found;
  if (only === undefined) throw new HoldpointError("decisionNotFound", `No decision fits "${given}".`);
  if (found.length === 1) return only;
  const list = found.map(
    ({ decisionId, requestDigest, title }) => `${requestDigest.slice(7, 17)} (${title}, ${decisionId})`,
  );
  throw new HoldpointError("ambiguousId", `"${given}" fits ${found.length} decisions: ${list.join("; ")}.`, {
    details: { candidates: found.map(({ decisionId }) => decisionId) },
  });
}

/** The stored request; what was normalized and digested when the decision was made. */
export function requestOf(db: ValueReader, decision: DecisionRow): DecisionRequest {
  const row = db.get<{ request: string }>(
    "SELECT request FROM human_decision_requests WHERE decision_no = ?",
    decision.decisionNo,
  );
  return db.unpack((row ?? missing(decision)).request) as DecisionRequest;
}

/** Policies and choices by their column's text: most decisions of a workflow have the same, and each is parsed once. The oldest goes. */
const parsed = new Map<string, unknown>();
const KEPT_PARSED = 256;

function parsedOnce(db: ValueReader, text: string): unknown {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const value = db.unpack(text);
  if (parsed.size >= KEPT_PARSED) parsed.delete(parsed.keys().next().value as string);
  parsed.set(text, value);
  return value;
}

/** What an answer is judged by; shared with other decisions, so nothing of it may be changed. */
export function termsOf(db: ValueReader, decision: DecisionRow): AnswerTerms {
  const { choices, policy } =
    decision.choices === undefined || decision.policy === undefined
      ? (db.get<{ policy: string; choices: string }>(TERMS, decision.decisionNo) ?? missing(decision))
      : { choices: decision.choices, policy: decision.policy };
  return {
    decisionId: decision.decisionId,
    requestDigest: decision.requestDigest as Sha256Digest,
    audience: decision.audience,
    policy: parsedOnce(db, policy) as AnswerTerms["policy"],
    choices: parsedOnce(db, choices) as AnswerTerms["choices"],
    ...(decision.deadlineAt === null ? {} : { expiresAt: decision.deadlineAt }),
  };
}

const TERMS =
  "SELECT d.policy, q.choices FROM human_decisions d JOIN human_decision_requests q USING (decision_no) WHERE decision_no = ?";

function missing({ decisionId }: DecisionRow): never {
  throw new HoldpointError("storageBroken", `The request of decision ${decisionId} is missing.`);
}

interface ResolutionRow {
  provenance: Provenance;
  choice: string | null;
  input: string | null;
  personId: string | null;
  personName: string | null;
  actorId: string | null;
  channel: string | null;
  assurance: Assurance | null;
  eventId: string | null;
  requestDigest: string;
  grace: number;
  reason: string | null;
  resolvedAt: number;
}

export interface StoredResolution {
  readonly resolution: DecisionResolution;
  /** The name as it was shown when the decision was made. */
  readonly personName: string | undefined;
  readonly reason: string | undefined;
}

/** The one resolution of a decision, or undefined. */
export function resolutionOf(db: Reader, decision: DecisionRow): StoredResolution | undefined {
  const row = db.get<ResolutionRow>(
    `SELECT provenance, choice, input, person_id AS personId, person_name AS personName, actor_id AS actorId, channel, assurance, event_id AS eventId,
       request_digest AS requestDigest, grace_after_outage AS grace, reason, resolved_at AS resolvedAt
     FROM human_decision_resolutions WHERE decision_no = ?`,
    decision.decisionNo,
  );
  if (row === undefined) return undefined;
  const { decisionId } = decision;
  const { actorId, channel, choice, eventId, provenance } = row;
  const requestDigest = row.requestDigest as Sha256Digest;
  const input = row.input ?? undefined;
  return {
    resolution: {
      schema: RESOLUTION_SCHEMA,
      decisionId,
      requestDigest,
      provenance,
      choice,
      ...(input === undefined ? {} : { input }),
      answerDigest: answerDigestOf({ decisionId, requestDigest, choice, input }),
      personId: row.personId,
      source: actorId === null || channel === null || eventId === null ? null : { channel, actorId, eventId },
      assurance: row.assurance,
      graceAfterOutage: row.grace === 1,
      resolvedAt: row.resolvedAt,
    },
    personName: row.personName ?? undefined,
    reason: row.reason ?? undefined,
  };
}
