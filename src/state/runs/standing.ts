/**
 * A run with its head, its queue row, its open attempt and that attempt's node, in one statement: a command that continues a waiting run
 * needs all of them, and costs as much as the statements it takes.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { HEAD_COLUMNS, type HeadRow } from "../chain.ts";
import type { Tx } from "../tx.ts";
import type { NodeState } from "./progress.ts";
import type { QueueRow } from "./queueing.ts";
import type { AttemptRow, RunRow } from "./rows.ts";

export interface Standing {
  readonly run: RunRow;
  /** The open or last attempt. */
  readonly attempt: AttemptRow | undefined;
  readonly node: NodeState | undefined;
  readonly queue: QueueRow;
  /** Whether something is noted that keeps a waiting run from being continued. */
  readonly obstructed: boolean;
}

interface Row extends RunRow, HeadRow {
  readonly nodeId: string | null;
  readonly visit: number;
  readonly attemptNumber: number;
  readonly attemptStatus: string;
  readonly runnerEpoch: string | null;
  readonly startedAt: number;
  readonly visits: number | null;
  readonly attempts: number;
  readonly outcome: string | null;
  readonly output: string | null;
  readonly error: string | null;
  readonly queueStatus: string;
  readonly priority: number;
  readonly consecutiveErrors: number;
  readonly parkReason: string | null;
  readonly noted: number;
}

const STANDING = `SELECT r.run_no AS runNo, r.run_id AS runId, r.resource_no AS resourceNo, r.workflow_name AS workflowName,
    r.definition_digest AS definitionDigest, r.status, r.paused, r.steps, r.attempt_no AS attemptNo, r.continuations,
    a.node_id AS nodeId, a.visit, a.attempt_number AS attemptNumber, a.status AS attemptStatus, a.runner_epoch AS runnerEpoch, a.started_at AS startedAt,
    n.visits, n.attempts, n.outcome, n.output, n.error,
    q.status AS queueStatus, q.priority, q.consecutive_errors AS consecutiveErrors, q.park_reason AS parkReason, q.error IS NOT NULL AS noted,
    ${HEAD_COLUMNS}
  FROM runs r JOIN resources h ON h.resource_no = r.resource_no JOIN run_queue q ON q.run_no = r.run_no
  LEFT JOIN node_attempts a ON a.run_no = r.run_no AND a.attempt_no = r.attempt_no
  LEFT JOIN run_nodes n ON n.run_no = a.run_no AND n.node_id = a.node_id
  WHERE r.run_no = ?`;

/** How a run stands; a number that does not exist is a defect. */
export function standingOf(tx: Tx, runNo: number): Standing {
  const row = tx.get<Row>(STANDING, runNo);
  if (row === undefined) throw new HoldpointError("runNotFound", `Run number ${runNo} does not exist.`);
  tx.know(row.resourceNo, "run", row.runId, row);
  const { attempts, consecutiveErrors, error, nodeId, outcome, output, parkReason, priority, queueStatus, visits } =
    row;
  const waits = row.status === "waiting" && queueStatus === "parked" && WAITED_FOR.has(parkReason);
  return {
    run: runOf(row),
    attempt: nodeId === null ? undefined : attemptOf(row, nodeId),
    node: visits === null ? undefined : { visits, attempts, outcome, output, error, stored: true },
    queue: { status: queueStatus, priority, consecutiveErrors, parkReason },
    obstructed: waits && row.noted === 1,
  };
}

const WAITED_FOR: ReadonlySet<string | null> = new Set(["decision", "checkpoint"]);

function runOf(row: Row): RunRow {
  const { attemptNo, continuations, definitionDigest, paused, resourceNo, runId, runNo, status, steps } = row;
  const { workflowName } = row;
  return {
    runNo,
    runId,
    resourceNo,
    workflowName,
    definitionDigest,
    status,
    paused,
    steps,
    attemptNo,
    continuations,
  };
}

function attemptOf(row: Row, nodeId: string): AttemptRow {
  const { attemptNumber, attemptStatus, runnerEpoch, startedAt, visit } = row;
  return {
    attemptNo: row.attemptNo as number,
    nodeId,
    visit,
    attemptNumber,
    status: attemptStatus,
    runnerEpoch,
    startedAt,
  };
}
