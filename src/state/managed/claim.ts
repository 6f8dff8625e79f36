/** `managed.claim` and `managed.renew`: one pass at a time for each resource. */
import type { SourceFile } from "../../contracts/definition.ts";
import { RESOURCE } from "../../contracts/limits.ts";
import type { StoredResource } from "../../contracts/resource/model.ts";
import { defineCommand } from "../command.ts";
import { acquireLease, renewLease } from "../leases.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { liveResource, type ResourceClaim, type ResourceRow, storedResource } from "./resource-rows.ts";

export interface ClaimResource {
  /** `runner`, or the built-in manager whose lane asks. */
  readonly lane: string;
  /** Names this pass; also what logs call it. */
  readonly reconcileId: string;
  readonly serverEpoch: number;
  /** Resources in whose passes the caller still is: time alone takes nothing from it. */
  readonly held: readonly number[];
}

export interface ClaimedResource {
  readonly claim: ResourceClaim;
  readonly resource: StoredResource;
  readonly projectPath: string;
  readonly source: string;
  readonly sourcesDigest: string | null;
  readonly sources: readonly SourceFile[];
  /** Why it is due, in a word. */
  readonly reason: string;
  readonly failures: number;
}

const DUE = `SELECT managed_no AS no, reason, failures FROM managed_resource_queue WHERE lane = ?1 AND claimed_until IS NULL AND available_at <= ?2
  ORDER BY available_at LIMIT 1`;
const EXPIRED = `SELECT managed_no AS no, reason, failures FROM managed_resource_queue WHERE lane = ?1 AND claimed_until <= ?2
  ORDER BY claimed_until LIMIT 64`;

interface Due {
  readonly no: number;
  readonly reason: string;
  readonly failures: number;
}

/** The pass that is due longest; null when none is. A claim that expired is taken over, with a higher generation. */
export const claim = defineCommand("managed.claim", (tx: Tx, input: ClaimResource): ClaimedResource | null => {
  const { held, lane, reconcileId, serverEpoch } = input;
  const due = tx.all<Due>(EXPIRED, lane, tx.now).find(({ no }) => !held.includes(no)) ?? tx.get<Due>(DUE, lane, tx.now);
  if (due === undefined) return null;
  const row = liveResource(tx, due.no) as ResourceRow;
  tx.run(
    "UPDATE managed_resource_queue SET claimed_until = ?, again = 0 WHERE managed_no = ?",
    tx.now + RESOURCE.leaseMs,
    due.no,
  );
  const owner = { ownerId: reconcileId, serverEpoch };
  const { generation, token } = acquireLease(tx, row.resourceNo, owner, RESOURCE.leaseMs);
  return {
    claim: {
      managedNo: due.no,
      uid: row.uid,
      resourceNo: row.resourceNo,
      generation,
      token,
      runnerEpoch: reconcileId,
      serverEpoch,
    },
    resource: storedResource(tx, row),
    projectPath: row.projectPath,
    source: row.source,
    sourcesDigest: row.sourcesDigest,
    sources: managerSources(tx, row.sourcesDigest),
    reason: due.reason,
    failures: due.failures,
  };
});

/** The files that were approved. */
export function managerSources(db: Reader, digest: string | null): SourceFile[] {
  if (digest === null) return [];
  return db.all<SourceFile>(
    "SELECT path, sha256 FROM managed_sources WHERE sources_digest = ? ORDER BY path LIMIT 512",
    digest,
  );
}

/** Claims of passes that go on; one that is lost is left alone. Returns the numbers of those that stand. */
export const renew = defineCommand(
  "managed.renew",
  (tx: Tx, { claims }: { readonly claims: readonly ResourceClaim[] }) => {
    const standing: number[] = [];
    for (const claim of claims) {
      try {
        renewLease(tx, claim, { what: `resource ${claim.uid}`, details: {}, leaseMs: RESOURCE.leaseMs });
      } catch {
        continue;
      }
      tx.run(
        "UPDATE managed_resource_queue SET claimed_until = ? WHERE managed_no = ?",
        tx.now + RESOURCE.leaseMs,
        claim.managedNo,
      );
      standing.push(claim.managedNo);
    }
    return standing;
  },
);

/** No pass goes on any more: their server is gone, and so are its children. */
export function releaseClaims(tx: Tx): number {
  return tx.run(
    "UPDATE managed_resource_queue SET claimed_until = NULL, available_at = min(available_at, ?) WHERE claimed_until IS NOT NULL",
    tx.now,
  ).changes;
}
