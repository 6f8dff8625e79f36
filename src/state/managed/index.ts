/**
 * Managed resources and the runs they ask for. Owns `managed_resources`, their finalizers, sources and queue, and
 * `managed_resource_workflows`. Must not: execute or judge anything; it keeps what is wanted, what was found, and when to look again.
 */
import { PAGE } from "../../contracts/limits.ts";
import type { ReadDb } from "../reading.ts";
import { apply } from "./apply.ts";
import { claim, renew } from "./claim.ts";
import { complete } from "./complete.ts";
import { finalizer, remove } from "./delete.ts";
import { reserve, settle } from "./effects.ts";
import { enqueue, rebuild } from "./enqueue.ts";
import { ensure } from "./ensure.ts";
import { finish } from "./finish.ts";
import type { ResourceRef } from "./resource-rows.ts";
import { managedOf, managedRun, type ManagedRun } from "./rows.ts";
import { listResources, resourceDetail, type ListResources } from "./views.ts";

export const commands = {
  apply,
  enqueue,
  rebuild,
  claim,
  renew,
  finish,
  remove,
  finalizer,
  reserve,
  settle,
  ensure,
  complete,
} as const;

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  list: (query: ListResources) => listResources(db, query),
  detail: (ref: ResourceRef) => resourceDetail(db, ref),
  /** What of a lane is due: how many passes, at most `limit`, and when the next one will be if none is. */
  dueAt: (
    lane: string,
    now: number,
    limit: number,
    held: readonly number[] = [],
  ): { count: number; next: number | null } => {
    const others = "managed_no NOT IN (SELECT value FROM json_each(?2))";
    const due = db.all(
      `SELECT 1 FROM managed_resource_queue WHERE lane = ?1 AND claimed_until IS NULL AND available_at <= ?3
       UNION ALL SELECT 1 FROM managed_resource_queue WHERE lane = ?1 AND claimed_until <= ?3 AND ${others}
       LIMIT ${Math.min(limit, PAGE.rows)}`,
      lane,
      JSON.stringify(held),
      now,
    ).length;
    const next = db.get<{ at: number | null }>(
      `SELECT min(at) AS at FROM (
         SELECT min(available_at) AS at FROM managed_resource_queue WHERE lane = ?1 AND claimed_until IS NULL
         UNION ALL SELECT min(claimed_until) FROM managed_resource_queue WHERE lane = ?1 AND claimed_until IS NOT NULL AND ${others})`,
      lane,
      JSON.stringify(held),
    );
    return { count: due, next: next?.at ?? null };
  },
  /** How many there are, and how many wait for a pass or are in one. */
  counts: (): { resources: number; queued: number } => ({
    resources: count(db, "SELECT count(*) AS n FROM managed_resources WHERE deleted_at IS NULL"),
    queued: count(db, "SELECT count(*) AS n FROM managed_resource_queue"),
  }),

  /** What became of a request so far, or null for one that was never made. `owner` is the resource's uid. */
  get: (owner: string, requestKey: string): ManagedRun | null => managedRun(db, owner, requestKey) ?? null,
  /** All of an owner, oldest first. */
  byOwner: (owner: string): ManagedRun[] => managedOf(db, owner),
  /** Requests whose run has ended and that were not completed, at most a page. */
  due: (): { requestId: string; owner: string }[] =>
    db.all(
      `SELECT m.request_id AS requestId, m.owner FROM managed_resource_workflows m JOIN runs r USING (run_no)
       WHERE m.status = 'open' AND r.finished_at IS NOT NULL ORDER BY m.run_no LIMIT ${PAGE.rows}`,
    ),
});

function count(db: ReadDb, sql: string): number {
  return db.get<{ n: number }>(sql)?.n ?? 0;
}
