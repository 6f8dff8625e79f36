/**
 * Leases: who may write for a resource. Expiry only permits take-over; what fences is a higher generation or epoch.
 * Only the hash of a token is stored, and neither token nor hash is ever logged.
 */
import { HoldpointError } from "../contracts/errors.ts";
import { LEASE } from "../contracts/limits.ts";
import { sha256 } from "./hash.ts";
import type { Tx } from "./tx.ts";

/** The proof that a runner may write for its run; lives in the server's memory only. */
export interface Claim {
  readonly runId: string;
  readonly resourceNo: number;
  readonly runNo: number;
  readonly generation: number;
  readonly token: string;
  readonly runnerEpoch: string;
  readonly serverEpoch: number;
}

/** What of a claim proves that it stands, whatever it is a claim on. */
export type LeaseProof = Pick<Claim, "resourceNo" | "generation" | "token" | "runnerEpoch" | "serverEpoch">;

export interface LeaseOwner {
  readonly ownerId: string;
  readonly serverEpoch: number;
}

interface LeaseRow {
  generation: number;
  serverEpoch: number | null;
  ownerId: string | null;
  tokenHash: Buffer | null;
  currentEpoch: number | null;
}

/** Gives the resource to a new owner: generation + 1, whoever had it before is fenced from now on. */
export function acquireLease(
  tx: Tx,
  resourceNo: number,
  owner: LeaseOwner,
  leaseMs: number = LEASE.claimMs,
): { generation: number; token: string } {
  const token = tx.random(32).toString("base64url");
  const row = tx.get<{ generation: number }>(
    `INSERT INTO leases (resource_no, generation, server_epoch, owner_id, token_hash, acquired_at, heartbeat_at, expires_at)
     VALUES (?1, 1, ?2, ?3, ?4, ?5, ?5, ?6)
     ON CONFLICT (resource_no) DO UPDATE SET generation = generation + 1, server_epoch = excluded.server_epoch, owner_id = excluded.owner_id,
       token_hash = excluded.token_hash, acquired_at = excluded.acquired_at, heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at
     RETURNING generation`,
    resourceNo,
    owner.serverEpoch,
    owner.ownerId,
    sha256(token),
    tx.now,
    tx.now + leaseMs,
  );
  return { generation: row?.generation ?? 1, token };
}

/**
 * Checks a claim and renews it in the same write. An expired claim may renew as long as its owner, token, generation and
 * epoch still stand. Throws `claimLost`; `details.reason` is `missingAuthority`, `generationChanged`, `ownerChanged`,
 * `tokenChanged` or `epochChanged`.
 */
export function checkLease(tx: Tx, claim: Claim): void {
  renewLease(tx, claim, { what: `run ${claim.runId}`, details: { runId: claim.runId }, leaseMs: LEASE.claimMs });
}

/** The same for a claim on anything. `what` names it in the message, `details` in the error. */
export function renewLease(
  tx: Tx,
  claim: LeaseProof,
  { details, leaseMs, what }: { what: string; details: Readonly<Record<string, string>>; leaseMs: number },
): void {
  const reason = lossOf(tx, claim);
  if (reason !== null) {
    throw new HoldpointError(
      "claimLost",
      `The claim of generation ${claim.generation} on ${what} no longer stands (${reason}).`,
      { details: { reason, ...details, generation: claim.generation } },
    );
  }
  tx.run(
    "UPDATE leases SET heartbeat_at = ?, expires_at = ? WHERE resource_no = ?",
    tx.now,
    tx.now + leaseMs,
    claim.resourceNo,
  );
}

function lossOf(tx: Tx, claim: LeaseProof): string | null {
  const row = tx.get<LeaseRow>(
    `SELECT generation, server_epoch AS serverEpoch, owner_id AS ownerId, token_hash AS tokenHash,
       (SELECT epoch FROM server_state WHERE id = 1) AS currentEpoch FROM leases WHERE resource_no = ?`,
    claim.resourceNo,
  );
  if (row === undefined) return "missingAuthority";
  if (row.generation !== claim.generation) return "generationChanged";
  if (row.ownerId === null || row.tokenHash === null) return "missingAuthority";
  if (row.ownerId !== claim.runnerEpoch) return "ownerChanged";
  if (row.serverEpoch !== claim.serverEpoch || row.currentEpoch !== claim.serverEpoch) return "epochChanged";
  return row.tokenHash.equals(sha256(claim.token)) ? null : "tokenChanged";
}

/** Takes the resource from its owner, if it has one; the generation stays, so that the next owner is higher. */
export function releaseLease(tx: Tx, resourceNo: number): void {
  tx.run(
    `UPDATE leases SET server_epoch = NULL, owner_id = NULL, token_hash = NULL, acquired_at = NULL, heartbeat_at = NULL, expires_at = NULL
     WHERE resource_no = ?`,
    resourceNo,
  );
}
