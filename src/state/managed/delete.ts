/**
 * Deletion: a request, then cleaning up by the manager as long as there are finalizers, then the end. The row stays for its history and
 * its uid; a resource of the same key is a new one.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { RESOURCE } from "../../contracts/limits.ts";
import { defineCommand } from "../command.ts";
import { type Receipt, type Receipted, withReceipt } from "../receipts.ts";
import type { Actor, Tx } from "../tx.ts";
import { isClaimed, put } from "./enqueue.ts";
import {
  claimedResource,
  finalizersOf,
  liveResource,
  passActor,
  resourceByRef,
  type ResourceClaim,
  type ResourceRef,
  type ResourceRow,
} from "./resource-rows.ts";

export interface DeleteInput extends ResourceRef {
  readonly receipt: Receipt | null;
  readonly actor: Actor;
}

export interface DeleteAck {
  readonly uid: string;
  /** False while finalizers, or a pass that goes on, keep it. */
  readonly deleted: boolean;
  readonly finalizers: string[];
}

/** Asking again changes nothing. Throws `resourceNotFound`. */
export const remove = defineCommand("managed.remove", (tx: Tx, input: DeleteInput): Receipted<DeleteAck> =>
  withReceipt(tx, input.receipt, () => {
    const row = resourceByRef(tx, input);
    if (row.deletionAt === null) {
      tx.run(
        "UPDATE managed_resources SET deletion_at = ?1, updated_at = ?1 WHERE managed_no = ?2",
        tx.now,
        row.managedNo,
      );
      tx.event(row.resourceNo, { type: "resource.deletionRequested", actor: input.actor, payload: {} });
    }
    const deleted = !isClaimed(tx, row.managedNo) && removeIfReady(tx, { ...row, deletionAt: tx.now }, input.actor);
    if (!deleted) put(tx, row.managedNo, row.lane, { reason: "deletion", urgent: true });
    return { uid: row.uid, deleted, finalizers: finalizersOf(tx, row.managedNo) };
  }),
);

/** Ends a resource whose deletion was requested and that nothing keeps any more. */
export function removeIfReady(tx: Tx, row: ResourceRow, actor: Actor): boolean {
  if (row.deletionAt === null || finalizersOf(tx, row.managedNo).length > 0) return false;
  tx.run("DELETE FROM managed_resource_queue WHERE managed_no = ?", row.managedNo);
  tx.run("UPDATE managed_resources SET deleted_at = ?1, updated_at = ?1 WHERE managed_no = ?2", tx.now, row.managedNo);
  tx.event(row.resourceNo, { type: "resource.deleted", actor, payload: {} });
  return true;
}

export interface FinalizerInput {
  readonly claim: ResourceClaim;
  readonly finalizer: string;
  readonly present: boolean;
}

/**
 * Adds or removes a finalizer, at once, so that it stands before what it will clean up exists. Returns all of them. Throws `claimLost`,
 * and `resourceInvalid` for too many or for a new one on a resource that is being deleted.
 */
export const finalizer = defineCommand("managed.finalizer", (tx: Tx, input: FinalizerInput): string[] => {
  const row = claimedResource(tx, input.claim);
  const before = finalizersOf(tx, row.managedNo);
  if (before.includes(input.finalizer) === input.present) return before;
  if (input.present) {
    // Read anew: the claim does not keep callers from asking for the deletion.
    if (liveResource(tx, row.managedNo)?.deletionAt != null)
      throw new HoldpointError("resourceInvalid", `${row.uid} is being deleted and takes no new finalizer.`);
    if (before.length >= RESOURCE.finalizers)
      throw new HoldpointError(
        "resourceInvalid",
        `A resource has at most ${RESOURCE.finalizers} finalizers; this would be number ${before.length + 1}.`,
        { details: { limit: RESOURCE.finalizers, seen: before.length + 1 } },
      );
    tx.run(
      "INSERT INTO managed_resource_finalizers (managed_no, finalizer, added_at) VALUES (?, ?, ?)",
      row.managedNo,
      input.finalizer,
      tx.now,
    );
  } else
    tx.run(
      "DELETE FROM managed_resource_finalizers WHERE managed_no = ? AND finalizer = ?",
      row.managedNo,
      input.finalizer,
    );
  tx.event(row.resourceNo, {
    type: input.present ? "finalizer.added" : "finalizer.removed",
    actor: passActor(input.claim),
    payload: { finalizer: input.finalizer },
  });
  return finalizersOf(tx, row.managedNo);
});
