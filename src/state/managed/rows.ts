/** Managed runs as their owners see them. */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { Reader } from "../statements.ts";

/** What a managed run is at: `pending` until a runner works on it, then as its run, then as it was completed. */
export type ManagedStatus = "pending" | "running" | "waiting" | "succeeded" | "failed" | "interrupted";

export interface ManagedRun {
  readonly requestId: string;
  readonly owner: string;
  readonly requestKey: string;
  readonly workflow: string;
  readonly inputFingerprint: string;
  readonly runId: string;
  readonly status: ManagedStatus;
  /** Launches so far. */
  readonly attempts: number;
  readonly error: ErrorRecord | null;
  readonly completedAt: number | null;
}

interface Row {
  requestId: string;
  owner: string;
  requestKey: string;
  workflow: string;
  inputFingerprint: string;
  runId: string;
  status: string;
  runStatus: string;
  attempts: number;
  error: string | null;
  completedAt: number | null;
}

interface Unpacking extends Reader {
  unpack(text: string): JsonValue;
}

const SELECT = `SELECT m.request_id AS requestId, m.owner, m.request_key AS requestKey, m.workflow_name AS workflow, m.input_fingerprint AS inputFingerprint,
  r.run_id AS runId, m.status, r.status AS runStatus, m.error, m.completed_at AS completedAt,
  (SELECT count(*) FROM run_runners w WHERE w.run_no = r.run_no) AS attempts FROM managed_resource_workflows m JOIN runs r USING (run_no)`;

export function managedRun(db: Unpacking, owner: string, requestKey: string): ManagedRun | undefined {
  return asRun(db, db.get<Row>(`${SELECT} WHERE m.owner = ? AND m.request_key = ?`, owner, requestKey));
}

export function managedById(db: Unpacking, requestId: string): ManagedRun | undefined {
  return asRun(db, db.get<Row>(`${SELECT} WHERE m.request_id = ?`, requestId));
}

export function managedOf(db: Unpacking, owner: string): ManagedRun[] {
  return db
    .all<Row>(`${SELECT} WHERE m.owner = ? ORDER BY m.created_at, m.request_key LIMIT 256`, owner)
    .map((row) => asRun(db, row) as ManagedRun);
}

const SHOWN: Readonly<Record<string, ManagedStatus>> = { queued: "pending", waiting: "waiting" };

function asRun(db: Unpacking, row: Row | undefined): ManagedRun | undefined {
  if (row === undefined) return undefined;
  const { error, runStatus, status, ...rest } = row;
  return {
    ...rest,
    status: status === "open" ? (SHOWN[runStatus] ?? "running") : (status as ManagedStatus),
    error: error === null ? null : (db.unpack(error) as unknown as ErrorRecord),
  };
}
