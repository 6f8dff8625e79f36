/** How managed resources are shown to clients: summaries in pages, and everything about one. */
import type { ErrorRecord } from "../../contracts/errors.ts";
import { CONTENT, PAGE } from "../../contracts/limits.ts";
import type { ResourceDetail, ResourceSummary } from "../../contracts/protocol/resource-operations.ts";
import { shownValue, type ReadDb } from "../reading.ts";
import { effectsOf } from "./effects.ts";
import { resourceByRef, storedResource, type ResourceRef } from "./resource-rows.ts";
import { managedOf } from "./rows.ts";

const SHOWN_EFFECTS = 50;
const SHOWN_EVENTS = 50;

interface SummaryRow {
  readonly uid: string;
  readonly manager: string;
  readonly key: string;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly ready: "true" | "false" | "unknown" | null;
  readonly readyReason: string | null;
  readonly outcome: "settled" | "requeue" | "requeueAfter" | "failed" | null;
  readonly reconciledAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletionAt: number | null;
  readonly nextAt: number | null;
  readonly failures: number | null;
  readonly claimed: number | null;
}

const SUMMARY = `SELECT m.uid, m.manager, m.resource_key AS "key", m.generation, m.observed_generation AS observedGeneration, m.ready,
  m.ready_reason AS readyReason, m.outcome, m.reconciled_at AS reconciledAt, m.created_at AS createdAt, m.updated_at AS updatedAt,
  m.deletion_at AS deletionAt, q.available_at AS nextAt, q.failures, q.claimed_until IS NOT NULL AS claimed
  FROM managed_resources m LEFT JOIN managed_resource_queue q USING (managed_no)`;

export interface ListResources {
  readonly projectPath: string;
  /** null = of all managers. */
  readonly manager: string | null;
  /** Where the page before ended; null = from the beginning. */
  readonly after: { readonly manager: string; readonly key: string } | null;
  readonly limit: number;
}

/** A page in order of manager and key. */
export function listResources(
  db: ReadDb,
  { after, limit, manager, projectPath }: ListResources,
): { resources: ResourceSummary[]; more: boolean } {
  const wanted = Math.min(limit, PAGE.rows);
  const from = after ?? { manager: "", key: "" };
  const rows = db.all<SummaryRow>(
    `${SUMMARY} WHERE m.project_no = (SELECT project_no FROM projects WHERE canonical_path = ?1) AND m.deleted_at IS NULL
       AND (?2 IS NULL OR m.manager = ?2) AND (m.manager, m.resource_key) > (?3, ?4) ORDER BY m.manager, m.resource_key LIMIT ?5`,
    projectPath,
    manager,
    from.manager,
    from.key,
    wanted + 1,
  );
  return { resources: rows.slice(0, wanted).map(summaryOf), more: rows.length > wanted };
}

function summaryOf(row: SummaryRow): ResourceSummary {
  const { claimed, failures, nextAt, ready, readyReason, ...rest } = row;
  // What was found for an older spec says nothing about this one.
  const current = row.observedGeneration === row.generation;
  return {
    ...rest,
    ready: ready === null ? null : !current ? "unknown" : ready,
    readyReason: ready !== null && !current ? "NotObserved" : readyReason,
    nextAt,
    failures: failures ?? 0,
    reconciling: claimed === 1,
  };
}

/** Everything about one. Throws `resourceNotFound`. */
export function resourceDetail(db: ReadDb, ref: ResourceRef): ResourceDetail {
  const row = resourceByRef(db, ref);
  const stored = storedResource(db, row);
  const queue = db.get<{ availableAt: number; reason: string; failures: number; claimed: number }>(
    `SELECT available_at AS availableAt, reason, failures, claimed_until IS NOT NULL AS claimed FROM managed_resource_queue WHERE managed_no = ?`,
    row.managedNo,
  );
  return {
    resource: {
      ...stored,
      spec: shownValue(db, row.spec, CONTENT.viewBytes),
      status: { ...stored.status, resourceManagerStatus: shownValue(db, row.managerStatus, CONTENT.viewBytes) },
    },
    projectPath: row.projectPath,
    source: row.source,
    sourcesDigest: row.sourcesDigest,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    queue:
      queue === undefined
        ? null
        : {
            availableAt: queue.availableAt,
            reason: queue.reason,
            failures: queue.failures,
            reconciling: queue.claimed === 1,
          },
    lastPass:
      row.reconciledAt === null
        ? null
        : {
            at: row.reconciledAt,
            outcome: row.outcome as NonNullable<ResourceDetail["lastPass"]>["outcome"],
            durationMs: row.durationMs ?? 0,
            error: row.error === null ? null : (db.unpack(row.error) as unknown as ErrorRecord),
          },
    effects: effectsOf(db, row.managedNo, row.uid, SHOWN_EFFECTS),
    children: managedOf(db, row.uid).map(({ attempts, completedAt, error, requestKey, runId, status, workflow }) => ({
      requestKey,
      workflow,
      runId,
      state: status,
      attempts,
      error,
      completedAt,
    })),
    events: db
      .all<{ index: number; type: string; actorType: string; payload: string; at: number }>(
        `SELECT event_index AS "index", event_type AS type, actor_type AS actorType, payload, recorded_at AS at FROM events
         WHERE resource_no = ? ORDER BY event_index DESC LIMIT ${SHOWN_EVENTS}`,
        row.resourceNo,
      )
      .map(({ payload, ...event }) => ({ ...event, payload: db.unpack(payload) })),
  };
}
