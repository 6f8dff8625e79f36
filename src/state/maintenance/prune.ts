/**
 * Which runs and deleted resources nobody needs any more, and their deletion with everything that belongs to them. A run goes together
 * with the runs that it was restarted as, and only when nothing of any of them is open.
 */
import type Database from "better-sqlite3";
import type { PruneReport } from "../../contracts/maintenance.ts";
import { PAGE } from "../../contracts/limits.ts";
import { deleteAlerts, prunableAlerts } from "./prune-alerts.ts";

interface Candidate {
  readonly root: number;
  readonly runNo: number;
  readonly runId: string;
  readonly title: string | null;
  readonly workflow: string;
  readonly finishedAt: number | null;
  readonly needed: number;
}

/** Resources that are gone for long enough and have nothing open: no run that goes on, no effect in doubt. */
const GONE = `SELECT x.managed_no FROM managed_resources x WHERE x.deleted_at < @before
  AND NOT EXISTS (SELECT 1 FROM managed_resource_workflows m WHERE m.owner = x.uid AND m.status = 'open')
  AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.managed_no = x.managed_no AND e.status IN ('pending','applying','ambiguous'))`;

/** What of a run keeps its tree: anything that is not at its end, or that a resource has asked for that is not gone. */
const NEEDED = `r.finished_at IS NULL
  OR EXISTS (SELECT 1 FROM run_queue q WHERE q.run_no = r.run_no AND q.status <> 'done')
  OR EXISTS (SELECT 1 FROM leases l WHERE l.resource_no = r.resource_no AND l.owner_id IS NOT NULL)
  OR EXISTS (SELECT 1 FROM run_runners u WHERE u.run_no = r.run_no AND u.status IN ('starting','ready'))
  OR EXISTS (SELECT 1 FROM run_processes p WHERE p.run_no = r.run_no AND p.ended_at IS NULL)
  OR EXISTS (SELECT 1 FROM interactive_requests i WHERE i.run_no = r.run_no AND i.status = 'pending')
  OR EXISTS (SELECT 1 FROM run_timers t WHERE t.run_no = r.run_no AND t.status = 'pending')
  OR EXISTS (SELECT 1 FROM human_decisions d WHERE d.run_no = r.run_no AND d.status = 'pending')
  OR EXISTS (SELECT 1 FROM workflow_follow_ups f WHERE f.run_no = r.run_no AND f.status IN ('queued','sent'))
  OR EXISTS (SELECT 1 FROM managed_resource_workflows m WHERE m.run_no = r.run_no
       AND m.owner NOT IN (SELECT uid FROM managed_resources WHERE managed_no IN (${GONE})))
  OR EXISTS (SELECT 1 FROM effects e WHERE e.status IN ('pending','applying','ambiguous') AND (e.run_no = r.run_no
       OR e.decision_no IN (SELECT decision_no FROM human_decisions d WHERE d.run_no = r.run_no)))`;

/** What can go, runs oldest first; the list is cut, the numbers are whole. Changes nothing. */
export function prunable(db: Database.Database, before: number): PruneReport {
  return reportOf(db, candidates(db, before), before, false);
}

/** Deletes them in one transaction that also proves that nothing was left hanging. Throws, and then nothing was deleted. */
export function deleteTrees(db: Database.Database, before: number): PruneReport {
  // Checked at the end for all tables at once; row by row it would search every table for each row.
  db.pragma("foreign_keys = OFF");
  db.exec("BEGIN EXCLUSIVE");
  let report: PruneReport;
  try {
    expectNothingHanging(db, "before");
    const runs = candidates(db, before);
    report = reportOf(db, runs, before, true);
    db.exec("CREATE TEMP TABLE pruned (run_no INTEGER PRIMARY KEY)");
    const insert = db.prepare("INSERT INTO pruned VALUES (?)");
    for (const { runNo } of runs) insert.run(runNo);
    db.exec("CREATE TEMP TABLE pruned_resources (managed_no INTEGER PRIMARY KEY)");
    db.prepare(`INSERT INTO pruned_resources ${GONE}`).run({ before });
    db.exec(`DELETE FROM resources WHERE resource_no IN (SELECT resource_no FROM runs JOIN pruned USING (run_no)
               UNION ALL SELECT resource_no FROM human_decisions JOIN pruned USING (run_no)
               UNION ALL SELECT resource_no FROM managed_resources JOIN pruned_resources USING (managed_no));
             DELETE FROM managed_resource_workflows WHERE owner IN
               (SELECT uid FROM managed_resources JOIN pruned_resources USING (managed_no));
             DELETE FROM managed_resources WHERE managed_no IN (SELECT managed_no FROM pruned_resources);
             DELETE FROM runs WHERE run_no IN (SELECT run_no FROM pruned)`);
    deleteAlerts(db, before);
    while (deleteHanging(db) > 0);
    db.exec(`DELETE FROM workflow_definitions WHERE definition_digest NOT IN
               (SELECT definition_digest FROM runs WHERE definition_digest IS NOT NULL);
             DELETE FROM projects WHERE project_no NOT IN (SELECT project_no FROM runs UNION SELECT project_no FROM managed_resources);
             DELETE FROM managed_sources WHERE sources_digest NOT IN
               (SELECT sources_digest FROM managed_resources WHERE sources_digest IS NOT NULL)`);
    deleteUnusedContent(db);
    expectNothingHanging(db, "after");
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  }
  db.exec("DROP TABLE pruned; DROP TABLE pruned_resources");
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.exec("VACUUM");
  db.pragma("wal_checkpoint(TRUNCATE)");
  return report;
}

function candidates(db: Database.Database, before: number): Candidate[] {
  const rows = db
    .prepare(
      `WITH RECURSIVE tree(root, run_no) AS (
         SELECT run_no, run_no FROM runs WHERE parent_run_no IS NULL
         UNION ALL SELECT t.root, r.run_no FROM tree t JOIN runs r ON r.parent_run_no = t.run_no AND r.lineage_kind = 'restart')
       SELECT t.root, r.run_no AS runNo, r.run_id AS runId, r.title, r.workflow_name AS workflow, r.finished_at AS finishedAt,
         (${NEEDED}) AS needed FROM tree t JOIN runs r USING (run_no) ORDER BY r.run_no`,
    )
    .all({ before }) as Candidate[];
  const kept = new Set(
    rows
      .filter(({ finishedAt, needed }) => needed === 1 || finishedAt === null || finishedAt >= before)
      .map(({ root }) => root),
  );
  return rows.filter(({ root }) => !kept.has(root));
}

function reportOf(db: Database.Database, runs: Candidate[], before: number, applied: boolean): PruneReport {
  const total = db.prepare("SELECT count(*) FROM runs").pluck().get() as number;
  return {
    before,
    applied,
    total: runs.length,
    kept: total - runs.length,
    resources: db.prepare(`SELECT count(*) FROM (${GONE})`).pluck().get({ before }) as number,
    alerts: prunableAlerts(db, before),
    runs: runs.slice(0, PAGE.rows).map(({ finishedAt, runId, title, workflow }) => ({
      runId,
      title,
      workflow,
      finishedAt: finishedAt ?? 0,
    })),
    runIds: applied ? runs.map(({ runId }) => runId) : [],
  };
}

interface ForeignKey {
  readonly from: string;
  readonly table: string;
}

/** Deletes rows whose parent is gone, in every table that has one. Returns how many; their own children may hang now. */
function deleteHanging(db: Database.Database): number {
  let changes = 0;
  for (const table of tablesOf(db)) {
    for (const { from, table: parent } of db.pragma(`foreign_key_list(${table})`) as ForeignKey[]) {
      const gone = `${from} IS NOT NULL AND ${from} NOT IN (SELECT ${keyOf(db, parent)} FROM ${parent})`;
      changes += db.prepare(`DELETE FROM ${table} WHERE ${gone}`).run().changes;
    }
  }
  return changes;
}

/** Large values stand in columns as `@sha256:<hex>`; the files of runs are named by their hash. */
function deleteUnusedContent(db: Database.Database): void {
  const files = "SELECT sha256 FROM run_sources UNION SELECT sha256 FROM managed_sources";
  const used = new Set(db.prepare(files).pluck().all() as string[]);
  for (const table of tablesOf(db)) {
    for (const { name, type } of db.pragma(`table_info(${table})`) as { name: string; type: string }[]) {
      if (type !== "TEXT") continue;
      const sql = `SELECT DISTINCT substr(${name}, 9) FROM ${table} WHERE ${name} >= '@sha256:' AND ${name} < '@sha256;'`;
      for (const hash of db.prepare(sql).pluck().all() as string[]) used.add(hash);
    }
  }
  const remove = db.prepare("DELETE FROM blobs WHERE blob_hash = ?");
  for (const hash of db.prepare("SELECT blob_hash FROM blobs").pluck().all() as Buffer[])
    if (!used.has(hash.toString("hex"))) remove.run(hash);
}

function tablesOf(db: Database.Database): string[] {
  const sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
  return db.prepare(sql).pluck().all() as string[];
}

/** Every reference of ours is to the primary key, of one column. */
function keyOf(db: Database.Database, table: string): string {
  const keys = (db.pragma(`table_info(${table})`) as { name: string; pk: number }[]).filter(({ pk }) => pk > 0);
  const [key] = keys;
  if (keys.length !== 1 || key === undefined) throw new Error(`${table} has no key of one column`);
  return key.name;
}

function expectNothingHanging(db: Database.Database, when: string): void {
  const found = db.pragma("foreign_key_check") as { table: string }[];
  if (found.length > 0)
    throw new Error(`${found.length} rows have no parent ${when} the deletion, first in ${found[0]?.table}`);
}
