/**
 * Receipts: a client that repeats a request after a lost answer gets the stored answer, not a second execution.
 * The receipt is written in the same savepoint as what it confirms.
 */
import { HoldpointError } from "../contracts/errors.ts";
import type { Tx } from "./tx.ts";

export interface Receipt {
  /** The client's own id: the scope of its keys. */
  readonly clientId: string;
  readonly idempotencyKey: string;
  readonly operation: string;
  /** SHA-256 of the canonical payload. */
  readonly fingerprint: Buffer;
  readonly serverEpoch: number;
}

export interface Receipted<T> {
  readonly outcome: "accepted" | "adopted";
  readonly result: T;
}

/**
 * Runs `work` once per (client, key). The same key with the same operation and fingerprint adopts the stored result;
 * with another one it throws `idempotencyConflict`. Without a receipt `work` just runs. `T` must be plain JSON.
 */
export function withReceipt<T>(tx: Tx, receipt: Receipt | null, work: () => T): Receipted<T> {
  if (receipt === null) return { outcome: "accepted", result: work() };
  const stored = tx.get<{ operation: string; fingerprint: Buffer; result: string }>(
    "SELECT operation, fingerprint, result FROM server_commands WHERE client_id = ? AND idempotency_key = ?",
    receipt.clientId,
    receipt.idempotencyKey,
  );
  if (stored !== undefined) {
    if (stored.operation !== receipt.operation || !stored.fingerprint.equals(receipt.fingerprint)) {
      throw new HoldpointError(
        "idempotencyConflict",
        `Idempotency key "${receipt.idempotencyKey}" was used before for ${stored.operation} with another payload.`,
      );
    }
    return { outcome: "adopted", result: tx.unpack(stored.result) as T };
  }
  const result = work();
  tx.run(
    "INSERT INTO server_commands (client_id, idempotency_key, operation, fingerprint, result, server_epoch, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    receipt.clientId,
    receipt.idempotencyKey,
    receipt.operation,
    receipt.fingerprint,
    tx.pack(result),
    receipt.serverEpoch,
    tx.now,
  );
  return { outcome: "accepted", result };
}
