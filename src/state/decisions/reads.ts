/**
 * Reads of decisions: what waits, what was decided, what is due.
 */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { DecisionSummary } from "../../contracts/protocol/operations.ts";
import { PAGE } from "../../contracts/limits.ts";
import type { ReadDb } from "../reading.ts";
import type { CardModel, CardState } from "../../contracts/decision/card.ts";
import { sendAgain } from "../effects/views.ts";
import { shortIdOf } from "../runs/rows.ts";
import { cardContent } from "./card.ts";
import { policyView } from "./policy-view.ts";
import { DECISION_COLUMNS, decisionByRef, requestOf, resolutionOf, type DecisionRow } from "./rows.ts";

/** A decision as client.v1 shows it, with what else a run's view needs. */
export interface DecisionListRow extends Omit<DecisionSummary, "decideWith"> {
  readonly runNo: number;
  readonly resourceNo: number;
  /** Commands of which each sends the card again, when no destination could show it. */
  readonly sendAgain: readonly string[];
}

/** A decision as a terminal shows it. */
export interface ShownCard {
  readonly decisionId: string;
  readonly fingerprint: string;
  readonly requestDigest: string;
  readonly audience: string;
  /** A second audience that is asked too. */
  readonly escalatedTo: string | null;
  readonly card: CardModel;
  readonly state: CardState;
}

interface Sent {
  destination: string;
  effectId: string;
  shortId: string;
  status: string;
  shown: number;
}

const OUTCOMES = {
  human: "accepted",
  explicit_cancel: "cancelled",
  timeout_policy: "timedOut",
  expired_no_default: "timedOut",
} as const;

const SELECT = `SELECT ${DECISION_COLUMNS} FROM human_decisions d`;

export const reads = (db: ReadDb) => ({
  /** Newest first, at most a page; without `all` only what waits. */
  list({ all }: { all: boolean }): DecisionListRow[] {
    return db
      .all<DecisionRow>(
        `${SELECT} ${all ? "" : "WHERE d.status = 'pending'"} ORDER BY d.created_at DESC, d.decision_id LIMIT ${PAGE.rows}`,
      )
      .map((row) => summary(db, row));
  },
  /** The decisions of one run, oldest first. */
  byRun(runNo: number): DecisionListRow[] {
    return db
      .all<DecisionRow>(`${SELECT} WHERE d.run_no = ? ORDER BY d.attempt_no DESC LIMIT ${PAGE.rows}`, runNo)
      .reverse()
      .map((row) => summary(db, row));
  },
  /** By id or fingerprint. Throws `decisionNotFound` or `ambiguousId`. */
  get(ref: string): DecisionListRow {
    return summary(db, decisionByRef(db, ref));
  },
  /** The whole card and what binds an answer to it. Throws `decisionNotFound` or `ambiguousId`. */
  card(ref: string): ShownCard {
    const decision = decisionByRef(db, ref);
    const content = cardContent(db, decision, { repeatOf: null });
    if (content.kind !== "card") throw new Error(`decision ${decision.decisionId} has no card`);
    const { audience, decisionId, escalatedTo, fingerprint, requestDigest } = decision;
    return { decisionId, fingerprint, requestDigest, audience, escalatedTo, card: content.card, state: content.state };
  },
  /** Pending decisions whose deadline is not after `now`, earliest first, at most a page. */
  due(now: number): { decisionId: string; runNo: number; deadlineAt: number }[] {
    return db.all(
      `SELECT decision_id AS decisionId, run_no AS runNo, deadline_at AS deadlineAt FROM human_decisions
       WHERE status = 'pending' AND deadline_at <= ? ORDER BY deadline_at LIMIT ${PAGE.rows}`,
      now,
    );
  },
  /** Pending decisions of which people are to be reminded by `now`, and those that a second audience is to be asked. */
  dueNotices(now: number): { decisionId: string; what: "remind" | "escalate" }[] {
    return db.all(
      `SELECT decision_id AS decisionId, 'escalate' AS what FROM human_decisions WHERE status = 'pending' AND escalate_at <= ?1
       UNION ALL SELECT decision_id, 'remind' FROM human_decisions WHERE status = 'pending' AND remind_at <= ?1 LIMIT ${PAGE.rows}`,
      now,
    );
  },
  /** The earliest moment at which a pending decision has something due: deadline, reminder, escalation; or null. */
  nextDue(): number | null {
    const due = db.all<{ at: number | null }>(
      `SELECT min(deadline_at) AS at FROM human_decisions WHERE status = 'pending' AND deadline_at IS NOT NULL
       UNION ALL SELECT min(remind_at) FROM human_decisions WHERE status = 'pending' AND remind_at IS NOT NULL
       UNION ALL SELECT min(escalate_at) FROM human_decisions WHERE status = 'pending' AND escalate_at IS NOT NULL`,
    );
    const times = due.flatMap(({ at }) => at ?? []);
    return times.length === 0 ? null : Math.min(...times);
  },
  /** Whether anything waits with votes or questions for text, which are somebody's. */
  haveTraces(): boolean {
    const row = db.get<{ found: number }>(
      `SELECT EXISTS (SELECT 1 FROM human_decisions d WHERE d.status = 'pending' AND (
         EXISTS (SELECT 1 FROM decision_votes v WHERE v.decision_no = d.decision_no)
         OR EXISTS (SELECT 1 FROM decision_prompts p WHERE p.decision_no = d.decision_no))) AS found`,
    );
    return row?.found === 1;
  },
  pendingCount(): number {
    return db.get<{ n: number }>("SELECT count(*) AS n FROM human_decisions WHERE status = 'pending'")?.n ?? 0;
  },
});

function summary(db: ReadDb, decision: DecisionRow): DecisionListRow {
  const request = requestOf(db, decision);
  const run = db.get<{ runId: string; workflow: string; obstacle: string | null }>(
    "SELECT r.run_id AS runId, r.workflow_name AS workflow, q.error AS obstacle FROM runs r LEFT JOIN run_queue q ON q.run_no = r.run_no WHERE r.run_no = ?",
    decision.runNo,
  );
  const destinations = db.all<Sent>(
    `SELECT e.destination, e.effect_id AS effectId, e.short_id AS shortId, e.status,
       (SELECT count(DISTINCT p.part) FROM effect_parts p WHERE p.effect_no = e.effect_no AND p.state = 'accepted') AS shown
     FROM effects e WHERE e.decision_no = ? AND e.purpose = 'delivery' AND (e.effect_type = 'card.post' OR e.status = 'ambiguous')
     ORDER BY e.effect_no LIMIT 64`,
    decision.decisionNo,
  );
  const stored = resolutionOf(db, decision);
  const labelOf = (choice: string | null): string | null =>
    request.choices.find(({ id }) => id === choice)?.label ?? null;
  return {
    runNo: decision.runNo,
    resourceNo: decision.resourceNo,
    decisionId: decision.decisionId,
    fingerprint: decision.fingerprint,
    runId: run?.runId ?? "",
    runShortId: run === undefined ? "" : shortIdOf(db, run.runId),
    workflow: run?.workflow ?? "",
    nodeId: decision.nodeId,
    title: decision.title,
    audience: decision.audience,
    choices: request.choices.map(({ id, input, label }) => ({ id, label, input: input !== undefined })),
    status: decision.status,
    deadlineAt: decision.deadlineAt,
    defaultChoice: request.defaultResponse?.choice ?? null,
    createdAt: decision.createdAt,
    policy: policyView(db, decision, request),
    notes:
      decision.status === "pending"
        ? notesOf(destinations, run === undefined ? null : obstacleText(db, run.obstacle, shortIdOf(db, run.runId)))
        : [],
    destinations: destinations.map(({ shortId: _short, ...sent }) => sent),
    sendAgain: decision.status === "pending" && isUndeliverable(destinations) ? waysOut(destinations) : [],
    resolution:
      stored === undefined
        ? null
        : {
            outcome: OUTCOMES[stored.resolution.provenance],
            provenance: stored.resolution.provenance,
            choice: stored.resolution.choice,
            label: labelOf(stored.resolution.choice),
            input: stored.resolution.input ?? null,
            by: stored.personName ?? null,
            channel: stored.resolution.source?.channel ?? null,
            assurance: stored.resolution.assurance,
            resolvedAt: stored.resolution.resolvedAt,
            graceAfterOutage: stored.resolution.graceAfterOutage,
          },
  };
}

/** What an operator should know while it waits. `undeliverable` is computed: it stays answerable and its deadline runs. */
function notesOf(destinations: readonly Sent[], obstacle: string | null): string[] {
  const notes: string[] = [];
  if (isUndeliverable(destinations)) {
    const ways = waysOut(destinations);
    const how = ways.length === 0 ? "" : `; to send it again: ${ways.join(" or ")}`;
    notes.push(`undeliverable: no destination could show the card${how}`);
  }
  for (const { destination, shortId, status } of destinations)
    if (status === "ambiguous")
      notes.push(
        `delivery to ${destination} is in doubt; to settle it: holdpoint channel recover ${shortId} confirm|retry`,
      );
  if (obstacle !== null) notes.push(`an answer is kept, but the run will wait: ${obstacle}`);
  return notes;
}

/** What keeps a waiting run from being continued, and the way out. */
function obstacleText(db: ReadDb, packed: string | null, run: string): string | null {
  if (packed === null) return null;
  const { message, remedy } = db.unpack(packed) as unknown as ErrorRecord;
  return `${message} ${remedy.replaceAll("<run>", run)}`;
}

function isUndeliverable(destinations: readonly Sent[]): boolean {
  const lost = destinations.filter(({ status }) => status === "rejected" || status === "cancelled");
  return destinations.length > 0 && lost.length === destinations.length;
}

/** A cancelled delivery is never sent again. */
function waysOut(destinations: readonly Sent[]): string[] {
  return destinations.filter(({ status }) => status === "rejected").map(({ shortId }) => sendAgain(shortId));
}
