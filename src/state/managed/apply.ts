/** `managed.apply`: a caller says what it wants of a resource. Only this changes a spec, and with it the generation. */
import { sha256Digest } from "../../contracts/canonical.ts";
import type { SourceFile } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { resourceId } from "../../contracts/ids.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { checkResourceName } from "../../contracts/resource/model.ts";
import { defineCommand } from "../command.ts";
import { type Receipt, type Receipted, withReceipt } from "../receipts.ts";
import { projectNo } from "../runs/start.ts";
import type { Actor, Tx } from "../tx.ts";
import { put } from "./enqueue.ts";
import { findResource, packResourceValue, type ResourceRef, type ResourceRow } from "./resource-rows.ts";

export interface SourceContent extends SourceFile {
  readonly content: Buffer;
}

export interface ApplyInput extends ResourceRef {
  readonly spec: JsonValue;
  /** What the manager makes of a new resource's status; not used for one that exists. */
  readonly initialStatus: JsonValue;
  /** `runner` for files of users, else the built-in manager whose lane reconciles it. */
  readonly lane: string;
  /** The manager's file, or `builtin:<name>@<revision>`. */
  readonly source: string;
  /** What the manager consists of; empty for one that the server has itself. */
  readonly sources: readonly SourceContent[];
  /** The version that the caller had read; null = whatever it is. */
  readonly expectedVersion: number | null;
  readonly receipt: Receipt | null;
  readonly actor: Actor;
}

export interface ApplyAck {
  readonly uid: string;
  readonly resourceVersion: number;
  readonly generation: number;
  readonly outcome: "created" | "changed" | "unchanged";
}

/**
 * The same spec again keeps the generation, approves the manager's present files, and asks for a pass. Throws `resourceInvalid`,
 * `resourceDeleting`, `resourceChanged`.
 */
export const apply = defineCommand("managed.apply", (tx: Tx, input: ApplyInput): Receipted<ApplyAck> =>
  withReceipt(tx, input.receipt, () => {
    checkResourceName(input.manager, input.key);
    const found = findResource(tx, input);
    // The same spec only approves files: a manager that cannot clean up must be mended for the resource to go.
    if (found?.deletionAt != null && sha256Digest(input.spec) !== found.specDigest)
      throw new HoldpointError("resourceDeleting", `Resource "${input.key}" of "${input.manager}" is being deleted.`);
    const sourcesDigest = storeSources(tx, input.sources);
    return found === undefined ? create(tx, input, sourcesDigest) : change(tx, found, input, sourcesDigest);
  }),
);

function create(tx: Tx, input: ApplyInput, sourcesDigest: string | null): ApplyAck {
  const { actor, initialStatus, key, lane, manager, projectPath, source, spec } = input;
  checkVersion(input, 0);
  const uid = resourceId("managed", tx.random(20).toString("hex"));
  const resourceNo = tx.resource("managed", uid);
  const { lastInsertRowid: managedNo } = tx.run(
    `INSERT INTO managed_resources (uid, resource_no, project_no, manager, resource_key, lane, source, sources_digest, generation, spec, spec_digest,
       manager_status, conditions, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9, ?10, ?11, '[]', ?12, ?12)`,
    uid,
    resourceNo,
    projectNo(tx, projectPath),
    manager,
    key,
    lane,
    source,
    sourcesDigest,
    packResourceValue(tx, spec, "spec"),
    sha256Digest(spec),
    packResourceValue(tx, initialStatus, "status"),
    tx.now,
  );
  tx.event(resourceNo, {
    type: "resource.created",
    actor,
    payload: { manager, key, generation: 1, source, sourcesDigest },
  });
  put(tx, managedNo, lane, { reason: "applied", urgent: true });
  return { uid, resourceVersion: tx.revision(resourceNo), generation: 1, outcome: "created" };
}

function change(tx: Tx, row: ResourceRow, input: ApplyInput, sourcesDigest: string | null): ApplyAck {
  const { actor, lane, source, spec } = input;
  checkVersion(input, tx.revision(row.resourceNo));
  const specDigest = sha256Digest(spec);
  const sameSpec = specDigest === row.specDigest;
  const sameSource = source === row.source && sourcesDigest === row.sourcesDigest && lane === row.lane;
  const generation = row.generation + (sameSpec ? 0 : 1);
  if (!sameSpec || !sameSource) {
    tx.run(
      `UPDATE managed_resources SET spec = ?, spec_digest = ?, generation = ?, lane = ?, source = ?, sources_digest = ?, updated_at = ?
       WHERE managed_no = ?`,
      sameSpec ? row.spec : packResourceValue(tx, spec, "spec"),
      specDigest,
      generation,
      lane,
      source,
      sourcesDigest,
      tx.now,
      row.managedNo,
    );
    if (lane !== row.lane)
      tx.run("UPDATE managed_resource_queue SET lane = ? WHERE managed_no = ?", lane, row.managedNo);
    tx.event(row.resourceNo, {
      type: sameSpec ? "resource.sourceApproved" : "resource.specChanged",
      actor,
      payload: { generation, source, sourcesDigest },
    });
  }
  put(tx, row.managedNo, lane, { reason: "applied", urgent: true });
  return {
    uid: row.uid,
    resourceVersion: tx.revision(row.resourceNo),
    generation,
    outcome: sameSpec ? "unchanged" : "changed",
  };
}

function checkVersion({ expectedVersion, key, manager }: ApplyInput, seen: number): void {
  if (expectedVersion === null || expectedVersion === seen) return;
  const now = seen === 0 ? "does not exist" : `has version ${seen}`;
  throw new HoldpointError(
    "resourceChanged",
    `Resource "${key}" of "${manager}" ${now}; the change was made for version ${expectedVersion}.`,
    { details: { expected: expectedVersion, seen } },
  );
}

/** Stores what a manager consists of; returns the digest over it, null for one without files. */
function storeSources(tx: Tx, sources: readonly SourceContent[]): string | null {
  if (sources.length === 0) return null;
  const digest = sha256Digest(sources.map(({ path, sha256 }) => [path, sha256]));
  for (const { content, path, sha256 } of sources) {
    // blob() hashes the content itself, so a wrong hash cannot be stored as an approved one.
    const hash = tx.blob(content);
    if (hash !== sha256)
      throw new HoldpointError("managerSourceChanged", `${path} has SHA-256 ${hash}, not ${sha256}.`);
    tx.run(
      "INSERT INTO managed_sources (sources_digest, path, sha256) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      digest,
      path,
      sha256,
    );
  }
  return digest;
}
