/** Reads of updates: the current projection of a run, and its tracks of progress. */
import { PAGE, PROGRESS, UPDATE } from "../../contracts/limits.ts";
import { PROGRESS_TYPE, progressSchema } from "../../contracts/progress.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { observe, type ProgressTrack } from "../../workflow/rules/index.ts";
import type { ReadDb } from "../reading.ts";

export interface UpdateReadRow {
  readonly seq: number;
  readonly updateId: string;
  readonly type: string;
  readonly key: string;
  readonly nodeId: string;
  readonly data: JsonValue;
  readonly at: number;
}

/** Reports of one key that are looked at: enough for the estimate's intervals, with some that brought no advance. */
const REPORTS = PROGRESS.intervals * 8;

const SELECT = `SELECT u.update_seq AS seq, u.update_id AS updateId, u.update_type AS type, u.update_key AS "key", a.node_id AS nodeId, u.data,
  u.recorded_at AS at FROM workflow_updates u JOIN node_attempts a ON a.run_no = u.run_no AND a.attempt_no = u.attempt_no`;

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** The newest update of each type and key, in order of number; `after` is the number of the page's predecessor, -1 first. */
  current: (runNo: number, after = -1, limit: number = PAGE.rows): UpdateReadRow[] =>
    db
      .all<Omit<UpdateReadRow, "data"> & { data: string }>(
        `${SELECT} JOIN workflow_updates_current c ON c.run_no = u.run_no AND c.update_seq = u.update_seq
         WHERE c.run_no = ? AND c.update_seq > ? ORDER BY u.update_seq LIMIT ?`,
        runNo,
        after,
        Math.min(limit, PAGE.rows),
      )
      .map((row) => ({ ...row, data: db.unpack(row.data) })),

  /** When a run looks at something next by itself, from its newest update `next-check`; null when it does not say. */
  nextCheckAt: (runNo: number): number | null => {
    const row = db.get<{ data: string }>(
      `SELECT u.data FROM workflow_updates_current c JOIN workflow_updates u ON u.run_no = c.run_no AND u.update_seq = c.update_seq
       WHERE c.run_no = ? AND c.update_type = 'next-check' ORDER BY c.update_seq DESC LIMIT 1`,
      runNo,
    );
    const data = row === undefined ? null : (db.unpack(row.data) as { at?: unknown } | null);
    const at = typeof data?.at === "string" ? Date.parse(data.at) : data?.at;
    return typeof at === "number" && Number.isSafeInteger(at) ? at : null;
  },

  /** How many updates a run published, and how many of them are current. */
  counts: (runNo: number): { updates: number; current: number } =>
    db.get<{ updates: number; current: number }>(
      "SELECT updates, slots AS current FROM workflow_update_budgets WHERE run_no = ?",
      runNo,
    ) ?? { updates: 0, current: 0 },

  /** Tracks of progress by key, at most `limit` of them, those that reported last. `live`: what reported is still at work. */
  tracks: (runNo: number, limit: number): { key: string; track: ProgressTrack; live: boolean }[] =>
    db
      .all<{ key: string; status: string }>(
        `SELECT c.update_key AS "key", a.status FROM workflow_updates_current c JOIN workflow_updates u USING (run_no, update_seq)
         JOIN node_attempts a USING (run_no, attempt_no) WHERE c.run_no = ? AND c.update_type = ? ORDER BY c.update_seq DESC LIMIT ?`,
        runNo,
        PROGRESS_TYPE,
        Math.min(limit, UPDATE.currentItems),
      )
      .flatMap(({ key, status }) => {
        const track = trackOf(db, runNo, key);
        return track === undefined ? [] : [{ key, track, live: status === "running" }];
      }),
});

function trackOf(db: ReadDb, runNo: number, key: string): ProgressTrack | undefined {
  const reports = db.all<{ data: string; at: number }>(
    `SELECT data, recorded_at AS at FROM workflow_updates WHERE run_no = ? AND update_type = ? AND update_key = ?
     ORDER BY update_seq DESC LIMIT ${REPORTS}`,
    runNo,
    PROGRESS_TYPE,
    key,
  );
  return reports.reverse().reduce<ProgressTrack | undefined>((track, { at, data }) => {
    const progress = progressSchema.safeParse(db.unpack(data));
    return progress.success ? observe(track, progress.data, at) : track;
  }, undefined);
}
