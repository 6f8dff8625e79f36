/** Rows of managed resources as the commands read them, and the resource as its manager sees it. */
import { HoldpointError } from "../../contracts/errors.ts";
import { RESOURCE } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ManagedResourceCondition, StoredResource } from "../../contracts/resource/model.ts";
import { type LeaseProof, renewLease } from "../leases.ts";
import type { Reader } from "../statements.ts";
import type { Actor, Tx } from "../tx.ts";
import { managedById } from "./rows.ts";

export interface ResourceRow {
  readonly managedNo: number;
  readonly uid: string;
  readonly resourceNo: number;
  readonly projectNo: number;
  readonly projectPath: string;
  readonly manager: string;
  readonly key: string;
  readonly lane: string;
  readonly source: string;
  readonly sourcesDigest: string | null;
  readonly generation: number;
  readonly spec: string;
  readonly specDigest: string;
  readonly managerStatus: string;
  readonly conditions: string;
  readonly observedGeneration: number;
  readonly requestId: string | null;
  readonly reconciledAt: number | null;
  readonly outcome: string | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletionAt: number | null;
}

export const RESOURCE_ROW = `SELECT m.managed_no AS managedNo, m.uid, m.resource_no AS resourceNo, m.project_no AS projectNo,
  p.canonical_path AS projectPath, m.manager, m.resource_key AS "key", m.lane, m.source, m.sources_digest AS sourcesDigest, m.generation, m.spec,
  m.spec_digest AS specDigest, m.manager_status AS managerStatus, m.conditions, m.observed_generation AS observedGeneration,
  m.request_id AS requestId, m.reconciled_at AS reconciledAt, m.outcome, m.duration_ms AS durationMs, m.error, m.created_at AS createdAt,
  m.updated_at AS updatedAt, m.deletion_at AS deletionAt FROM managed_resources m JOIN projects p USING (project_no)`;

/** How callers name a resource. */
export interface ResourceRef {
  /** Canonical path of the project folder. Two projects never see each other's resources. */
  readonly projectPath: string;
  readonly manager: string;
  readonly key: string;
}

export function findResource(db: Reader, { key, manager, projectPath }: ResourceRef): ResourceRow | undefined {
  return db.get<ResourceRow>(
    `${RESOURCE_ROW} WHERE p.canonical_path = ? AND m.manager = ? AND m.resource_key = ? AND m.deleted_at IS NULL`,
    projectPath,
    manager,
    key,
  );
}

/** Throws `resourceNotFound`. */
export function resourceByRef(db: Reader, ref: ResourceRef): ResourceRow {
  const row = findResource(db, ref);
  if (row !== undefined) return row;
  throw new HoldpointError(
    "resourceNotFound",
    `No resource "${ref.key}" of manager "${ref.manager}" exists in ${ref.projectPath}.`,
  );
}

/** The resource of an internal number, unless it is gone. */
export function liveResource(db: Reader, managedNo: number): ResourceRow | undefined {
  return db.get<ResourceRow>(`${RESOURCE_ROW} WHERE m.managed_no = ? AND m.deleted_at IS NULL`, managedNo);
}

/** The proof that a pass may write for its resource; lives in the server's memory only. */
export interface ResourceClaim extends LeaseProof {
  readonly managedNo: number;
  readonly uid: string;
}

/** Checks and renews a claim, and loads its resource. Throws `claimLost`. */
export function claimedResource(tx: Tx, claim: ResourceClaim): ResourceRow {
  const { managedNo, uid } = claim;
  renewLease(tx, claim, { what: `resource ${uid}`, details: { uid }, leaseMs: RESOURCE.leaseMs });
  const row = liveResource(tx, managedNo);
  if (row === undefined) throw new HoldpointError("claimLost", `Resource ${uid} is gone.`);
  return row;
}

export function passActor(claim: ResourceClaim): Actor {
  return { type: "resourceManager", id: claim.runnerEpoch };
}

export function finalizersOf(db: Reader, managedNo: number): string[] {
  const sql =
    "SELECT finalizer FROM managed_resource_finalizers WHERE managed_no = ? ORDER BY added_at, finalizer LIMIT 256";
  return db.all<{ finalizer: string }>(sql, managedNo).map(({ finalizer }) => finalizer);
}

interface Unpacking extends Reader {
  unpack(text: string): JsonValue;
}

export function conditionsOf(db: Unpacking, row: Pick<ResourceRow, "conditions">): ManagedResourceCondition[] {
  return db.unpack(row.conditions) as unknown as ManagedResourceCondition[];
}

export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** The resource as its manager and clients see it. */
export function storedResource(db: Unpacking, row: ResourceRow): StoredResource {
  const child = row.requestId === null ? undefined : managedById(db, row.requestId);
  const version = db.get<{ revision: number }>(
    "SELECT revision FROM resources WHERE resource_no = ?",
    row.resourceNo,
  ) as { revision: number };
  return {
    metadata: {
      uid: row.uid,
      resourceManager: row.manager,
      key: row.key,
      resourceVersion: version.revision,
      generation: row.generation,
      ...(row.deletionAt === null ? {} : { deletionTimestamp: iso(row.deletionAt) }),
      finalizers: finalizersOf(db, row.managedNo),
    },
    spec: db.unpack(row.spec),
    status: {
      observedGeneration: row.observedGeneration,
      conditions: conditionsOf(db, row),
      ...(child === undefined
        ? {}
        : {
            workflowRun: {
              requestId: child.requestKey,
              runId: child.runId,
              state: child.status,
              attempt: child.attempts,
            },
          }),
      resourceManagerStatus: db.unpack(row.managerStatus),
    },
  };
}

/** A spec or status as column text. Throws `resourceInvalid` with the limit and the size seen. */
export function packResourceValue(tx: Tx, value: JsonValue, what: string): string {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > RESOURCE.valueBytes)
    throw new HoldpointError(
      "resourceInvalid",
      `The ${what} of a resource has ${bytes} bytes; the limit is ${RESOURCE.valueBytes}.`,
      { details: { limit: RESOURCE.valueBytes, seen: bytes } },
    );
  return tx.pack(value);
}
