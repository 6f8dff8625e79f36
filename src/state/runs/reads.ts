/** Reads of runs for views, on the read-only connection. */
import type { NodeOutcome, Position } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { CONTENT, PAGE } from "../../contracts/limits.ts";
import { type ReadDb, shownValue, unpackOrNull } from "../reading.ts";
import type { Reader } from "../statements.ts";
import { type HeldStep, heldStepOf } from "./held-step.ts";
import { nodeWindow, type NodeWindow } from "./node-window.ts";
import { positionOf, visitsOf } from "./position.ts";
import { runByNo, runNoOf, shortIdOf } from "./rows.ts";
import { type WaitingSources, waitingSources } from "./source-obstacle.ts";

/** What lists and the display status are made of. Times in milliseconds. */
export interface RunListRow {
  readonly runNo: number;
  readonly runId: string;
  readonly shortId: string;
  readonly resourceNo: number;
  readonly workflow: string;
  readonly title: string | null;
  readonly status: string;
  readonly paused: boolean;
  readonly revision: number;
  readonly steps: number;
  /** Node of the open or last attempt. */
  readonly currentNode: string | null;
  readonly queueStatus: string;
  readonly parkReason: string | null;
  readonly queueError: JsonValue | null;
  readonly availableAt: number;
  /** Action effects of this run that a person must settle. */
  readonly ambiguousEffects: number;
  /** Fingerprint of the decision it waits for. */
  readonly pendingDecision: string | null;
  /** Short id of the checkpoint that it waits for, and what that says. */
  readonly pendingCheckpoint: string | null;
  readonly checkpointSummary: string | null;
  /** The Pi session whose agent it waits for, and whether that is in a turn of the step. */
  readonly pendingSession: string | null;
  readonly inTurn: boolean;
  /** When it goes on by itself, for a sleeping run, and what it waits for. */
  readonly wakeAt: number | null;
  readonly sleepReason: string | null;
  readonly error: JsonValue | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly finishedAt: number | null;
}

export interface RunDetailRow extends RunListRow {
  readonly workflowPath: string;
  readonly projectPath: string;
  readonly definitionDigest: string | null;
  readonly continuations: number;
  /** Values for people: large ones are named with their size. */
  readonly input: JsonValue;
  readonly finalOutput: JsonValue | null;
  readonly restartOf: string | null;
  readonly restartNumber: number;
  readonly restartedAs: string | null;
}

export interface AttemptReadRow {
  readonly attemptNo: number;
  readonly nodeId: string;
  readonly visit: number;
  readonly attemptNumber: number;
  readonly status: string;
  readonly step: number | null;
  readonly runnerEpoch: string | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly durationMs: number | null;
  readonly error: JsonValue | null;
}

export interface NodeReadRow {
  readonly nodeId: string;
  readonly visits: number;
  readonly attempts: number;
  readonly outcome: NodeOutcome | null;
  readonly output: JsonValue | undefined;
  readonly error: JsonValue | null;
}

export interface EventReadRow {
  readonly resourceNo: number;
  readonly index: number;
  readonly revision: number;
  readonly type: string;
  readonly actorType: string;
  readonly actorId: string;
  readonly payload: JsonValue;
  readonly at: number;
}

export interface RunnerReadRow {
  readonly runnerEpoch: string;
  readonly command: string;
  readonly status: string;
  readonly generation: number;
  readonly startedAt: number;
  readonly readyAt: number | null;
  readonly finishedAt: number | null;
  readonly error: JsonValue | null;
  readonly childId: string | null;
  readonly pid: number | null;
  readonly outcome: string | null;
}

const LIST = `SELECT r.run_no AS runNo, r.run_id AS runId, r.resource_no AS resourceNo, r.workflow_name AS workflow, r.title, r.status, r.paused,
  s.revision, r.steps, a.node_id AS currentNode, q.status AS queueStatus, q.park_reason AS parkReason, q.error AS queueError,
  q.available_at AS availableAt,
  (SELECT count(*) FROM effects e WHERE e.run_no = r.run_no AND e.purpose = 'action' AND e.status = 'ambiguous') AS ambiguousEffects,
  (SELECT fingerprint FROM human_decisions d WHERE d.run_no = r.run_no AND d.status = 'pending') AS pendingDecision,
  i.short_id AS pendingCheckpoint, i.summary AS checkpointSummary, t.wake_at AS wakeAt, t.reason AS sleepReason,
  (SELECT session_id FROM agent_requests g WHERE g.run_no = r.run_no AND g.status = 'pending') AS pendingSession,
  EXISTS (SELECT 1 FROM agent_requests g JOIN workflow_turns t USING (request_id) WHERE g.run_no = r.run_no AND t.ended_at IS NULL) AS inTurn,
  r.error, r.created_at AS createdAt, r.updated_at AS updatedAt, r.finished_at AS finishedAt,
  r.workflow_path AS workflowPath, p.canonical_path AS projectPath, r.definition_digest AS definitionDigest,
  r.continuations
  FROM runs r JOIN resources s USING (resource_no) JOIN run_queue q USING (run_no) JOIN projects p USING (project_no)
  LEFT JOIN node_attempts a ON a.run_no = r.run_no AND a.attempt_no = r.attempt_no
  LEFT JOIN interactive_requests i ON i.run_no = r.run_no AND i.status = 'pending'
  LEFT JOIN run_timers t ON t.run_no = r.run_no AND t.status = 'pending'`;

type RawRun = Omit<
  RunDetailRow,
  | "paused"
  | "inTurn"
  | "queueError"
  | "error"
  | "shortId"
  | "input"
  | "finalOutput"
  | "restartOf"
  | "restartNumber"
  | "restartedAs"
> & {
  paused: number;
  inTurn: number;
  queueError: string | null;
  error: string | null;
};

interface Values {
  input: string;
  finalOutput: string | null;
  restartOf: string | null;
  restartNumber: number;
  restartedAs: string | null;
}

const VALUES = `SELECT r.input, r.final_output AS finalOutput, p.run_id AS restartOf, r.restart_number AS restartNumber, c.run_id AS restartedAs
  FROM runs r LEFT JOIN runs p ON p.run_no = r.parent_run_no LEFT JOIN runs c ON c.parent_run_no = r.run_no AND c.lineage_kind = 'restart'
  WHERE r.run_no = ?`;

/** A reader that can unpack values: a command's Tx, or the read-only connection. */
type RunReader = Reader & { unpack(text: string): JsonValue };

/** Unfinished runs, newest first; a page. */
export function openRuns(db: RunReader, page: { readonly limit: number; readonly from: number }): RunListRow[] {
  const sql = `${LIST} WHERE r.finished_at IS NULL ORDER BY r.run_no DESC LIMIT ? OFFSET ?`;
  return db.all<RawRun>(sql, Math.min(page.limit, PAGE.rows), page.from).map((row) => asRow(db, row));
}

/** The runs that ended last started, newest first. */
export function endedRuns(db: RunReader, limit: number): RunListRow[] {
  const sql = `${LIST} WHERE r.finished_at IS NOT NULL ORDER BY r.run_no DESC LIMIT ?`;
  return db.all<RawRun>(sql, Math.min(limit, PAGE.rows)).map((row) => asRow(db, row));
}

/** One run as lists have it. */
export function listedRun(db: RunReader, runNo: number): RunListRow {
  const row = db.get<RawRun>(`${LIST} WHERE r.run_no = ?`, runNo);
  if (row === undefined) throw new Error(`run ${runNo} does not exist`);
  return asRow(db, row);
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** Newest first; `before` is the `runNo` of the last row of the page before. */
  list: ({ limit, before }: { limit: number; before: number | null }): RunListRow[] =>
    db
      .all<RawRun>(
        `${LIST} WHERE r.run_no < ? ORDER BY r.run_no DESC LIMIT ?`,
        before ?? Number.MAX_SAFE_INTEGER,
        Math.min(limit, PAGE.rows),
      )
      .map((row) => asRow(db, row)),

  /** Whether this home has a run of exactly this id. */
  exists: (runId: string): boolean => db.get("SELECT 1 FROM runs WHERE run_id = ?", runId) !== undefined,

  /** Throws `runNotFound` or `ambiguousId`. */
  get: (ref: string): RunDetailRow => {
    const runNo = runNoOf(db, ref);
    const row = db.get<RawRun>(`${LIST} WHERE r.run_no = ?`, runNo) as RawRun;
    const { finalOutput, input, ...lineage } = db.get<Values>(VALUES, runNo) as Values;
    const { workflowPath, projectPath, definitionDigest, continuations } = row;
    return {
      ...asRow(db, row),
      workflowPath,
      projectPath,
      definitionDigest,
      continuations,
      input: shownValue(db, input, CONTENT.viewBytes),
      finalOutput: finalOutput === null ? null : shownValue(db, finalOutput, CONTENT.viewBytes),
      ...lineage,
    };
  },

  byNo: (runNo: number): RunListRow => listedRun(db, runNo),

  /** Some nodes of the definition in its order, around the current one, with how each stands. */
  nodeWindow: (runNo: number, size: number): NodeWindow => nodeWindow(db, runNo, size),

  /** The newest attempts, oldest of them first. */
  attempts: (runNo: number, limit: number = PAGE.rows): AttemptReadRow[] =>
    db
      .all<Omit<AttemptReadRow, "error"> & { error: string | null }>(
        `SELECT attempt_no AS attemptNo, node_id AS nodeId, visit, attempt_number AS attemptNumber, status, step, runner_epoch AS runnerEpoch,
           started_at AS startedAt, finished_at AS finishedAt, duration_ms AS durationMs, error
         FROM node_attempts WHERE run_no = ? ORDER BY attempt_no DESC LIMIT ?`,
        runNo,
        Math.min(limit, PAGE.rows),
      )
      .map((row) => ({ ...row, error: unpackOrNull(db, row.error) }))
      .reverse(),

  /** Every node that was visited; `output` is undefined when it has none, and named with its size when it is large. `after` = last node id of the page before. */
  nodes: (runNo: number, after = ""): NodeReadRow[] =>
    db
      .all<Omit<NodeReadRow, "output" | "error"> & { output: string | null; error: string | null }>(
        `SELECT node_id AS nodeId, visits, attempts, outcome, output, error FROM run_nodes WHERE run_no = ? AND node_id > ?
         ORDER BY node_id LIMIT ${PAGE.rows}`,
        runNo,
        after,
      )
      .map((row) => ({
        ...row,
        output: row.output === null ? undefined : shownValue(db, row.output, CONTENT.viewBytes),
        error: unpackOrNull(db, row.error),
      })),

  /** The whole JSON text of a node's latest output, or without a node of the run's result; null when there is none. */
  outputText: (runNo: number, nodeId: string | null): string | null => {
    const row =
      nodeId === null
        ? db.get<{ output: string | null }>("SELECT final_output AS output FROM runs WHERE run_no = ?", runNo)
        : db.get<{ output: string | null }>(
            "SELECT output FROM run_nodes WHERE run_no = ? AND node_id = ?",
            runNo,
            nodeId,
          );
    return row?.output == null ? null : db.unpackText(row.output);
  },

  /** The newest events of some resources, oldest of them first; `cut` when older ones were left out. */
  events: (resourceNos: readonly number[], limit: number): { events: EventReadRow[]; cut: boolean } => {
    const wanted = Math.min(limit, PAGE.rows);
    const rows = resourceNos.flatMap((resourceNo) =>
      db.all<Omit<EventReadRow, "payload"> & { payload: string }>(
        `SELECT resource_no AS resourceNo, event_index AS "index", revision, event_type AS type, actor_type AS actorType, actor_id AS actorId,
           payload, recorded_at AS at FROM events WHERE resource_no = ? ORDER BY event_index DESC LIMIT ?`,
        resourceNo,
        wanted + 1,
      ),
    );
    rows.sort((a, b) => b.at - a.at || b.resourceNo - a.resourceNo || b.index - a.index);
    const events = rows.slice(0, wanted).reverse();
    return { events: events.map((row) => ({ ...row, payload: db.unpack(row.payload) })), cut: rows.length > wanted };
  },

  /** Launches of a run, oldest first, with the process of each. */
  runners: (runNo: number): RunnerReadRow[] =>
    db
      .all<Omit<RunnerReadRow, "error"> & { error: string | null }>(
        `SELECT runner_epoch AS runnerEpoch, command, status, generation, run_runners.started_at AS startedAt, ready_at AS readyAt,
           finished_at AS finishedAt, error, child_id AS childId, pid, outcome
         FROM run_runners LEFT JOIN child_processes USING (child_id) WHERE run_no = ? ORDER BY generation DESC LIMIT ${PAGE.rows}`,
        runNo,
      )
      .map((row) => ({ ...row, error: unpackOrNull(db, row.error) }))
      .reverse(),

  /** The content of an approved source file, by its SHA-256 in hex. Throws `storageBroken` when it is missing. */
  source: (sha256: string): Buffer => db.loadBlob(sha256),

  /** Runs that wait for an answer, by pages, with what they will be continued from. */
  waitingSources: (after: number): WaitingSources[] => waitingSources(db, after),

  /** Number of runs by status; one that is parked with a cause, and for no question, time or pause, counts as `parked`. */
  counts: (): Record<string, number> =>
    Object.fromEntries(
      db
        .all<{ status: string; n: number }>(
          `SELECT CASE WHEN q.status = 'parked' AND q.park_reason NOT IN ('decision', 'checkpoint', 'interaction', 'turn', 'timer', 'paused', 'effectAmbiguous') THEN 'parked'
             ELSE r.status END AS status, count(*) AS n FROM runs r JOIN run_queue q USING (run_no) GROUP BY 1`,
        )
        .map(({ status, n }) => [status, n]),
    ),

  /** How many runs wait for a slot now. */
  queueDue: (now: number): number =>
    db.get<{ n: number }>("SELECT count(*) AS n FROM run_queue WHERE status = 'queued' AND available_at <= ?", now)
      ?.n ?? 0,

  /** How many runs are due, counted up to `limit`; when there is none, the time of the next one or null. */
  dueAt: (now: number, limit: number): { count: number; next: number | null } => {
    // One statement: it is asked after every claim, and each read outside a command is a transaction of its own.
    const found = db.get<{ count: number; next: number | null }>(
      `SELECT n AS count, CASE WHEN n = 0 THEN (SELECT min(available_at) FROM run_queue WHERE status = 'queued') END AS next
         FROM (SELECT count(*) AS n FROM (SELECT 1 FROM run_queue WHERE status = 'queued' AND available_at <= ? LIMIT ?))`,
      now,
      limit,
    );
    return found ?? { count: 0, next: null };
  },

  nextDueAt: (): number | null => nextDueAt(db),

  /** The step that is being executed, as the watch over its time sees it. */
  heldStep: (runNo: number): HeldStep | null => heldStepOf(db, runByNo(db, runNo)),

  /** Where a runner continues after a frame that could not be stored; null when nothing is being executed. */
  position: (runNo: number): { from: number; position: Position; visits: Record<string, number> } | null => {
    const run = runByNo(db, runNo);
    const position = positionOf(db, run);
    return position === null ? null : { from: run.steps, position, visits: visitsOf(db, runNo) };
  },
});

/** When the next queued run is due (perhaps in the past), or null. */
function nextDueAt(db: ReadDb): number | null {
  return (
    db.get<{ at: number | null }>("SELECT min(available_at) AS at FROM run_queue WHERE status = 'queued'")?.at ?? null
  );
}

function asRow(db: RunReader, row: RawRun): RunListRow {
  const { workflowPath: _path, projectPath: _project, definitionDigest: _digest, continuations: _count, ...rest } = row;
  return {
    ...rest,
    shortId: shortIdOf(db, row.runId),
    paused: row.paused === 1,
    inTurn: row.inTurn === 1,
    queueError: unpackOrNull(db, row.queueError),
    error: unpackOrNull(db, row.error),
  };
}
