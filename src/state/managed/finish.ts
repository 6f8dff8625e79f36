/** `managed.finish`: what a pass found and when the next one is due, in one write. Who lost the claim writes nothing. */
import { canonicalJson } from "../../contracts/canonical.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { ReconcileResult } from "../../contracts/resource/result.ts";
import { afterPass, nextConditions, readiness, type PassEnd } from "../../resource/rules/index.ts";
import { defineCommand } from "../command.ts";
import { packError } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import { removeIfReady } from "./delete.ts";
import {
  claimedResource,
  conditionsOf,
  iso,
  packResourceValue,
  passActor,
  type ResourceClaim,
  type ResourceRow,
} from "./resource-rows.ts";

export interface FinishInput {
  readonly claim: ResourceClaim;
  /** The generation of the spec that the pass worked with. */
  readonly generation: number;
  readonly durationMs: number;
  /** What the manager returned; a failure carries its error and changes no status. */
  readonly end: ReconcileResult | { readonly outcome: "failed"; readonly error: ErrorRecord };
}

export interface Finished {
  /** When the next pass is due; null = when something asks for it. */
  readonly nextAt: number | null;
  readonly failures: number;
  /** The resource is gone. */
  readonly deleted: boolean;
}

/** Throws `claimLost` and `resourceInvalid` (a status that is too large). */
export const finish = defineCommand("managed.finish", (tx: Tx, input: FinishInput): Finished => {
  const row = claimedResource(tx, input.claim);
  const { end } = input;
  if (end.outcome === "failed") noteFailure(tx, row, input, end.error);
  else storeStatus(tx, row, input, end);
  tx.release(row.resourceNo);
  if (removeIfReady(tx, row, passActor(input.claim))) return { nextAt: null, failures: 0, deleted: true };
  const { again, failures } = tx.get(
    "SELECT again, failures FROM managed_resource_queue WHERE managed_no = ?",
    row.managedNo,
  ) as {
    again: number;
    failures: number;
  };
  // A spec that changed meanwhile has asked again by itself.
  const next = afterPass(end satisfies PassEnd, { again: again === 1, failures }, tx.now, randomOf(tx));
  if (next === null) {
    tx.run("DELETE FROM managed_resource_queue WHERE managed_no = ?", row.managedNo);
    return { nextAt: null, failures: 0, deleted: false };
  }
  tx.run(
    "UPDATE managed_resource_queue SET available_at = ?, failures = ?, reason = CASE WHEN again THEN reason ELSE ? END, again = 0, claimed_until = NULL WHERE managed_no = ?",
    next.availableAt,
    next.failures,
    end.outcome,
    row.managedNo,
  );
  return { nextAt: next.availableAt, failures: next.failures, deleted: false };
});

function randomOf(tx: Tx): number {
  return tx.random(4).readUInt32BE(0) / 2 ** 32;
}

function storeStatus(tx: Tx, row: ResourceRow, input: FinishInput, end: ReconcileResult): void {
  const before = conditionsOf(tx, row);
  const conditions =
    end.conditions === undefined ? before : nextConditions(before, end.conditions, input.generation, iso(tx.now));
  const packed = tx.pack(conditions);
  const status =
    end.resourceManagerStatus === undefined
      ? row.managerStatus
      : packResourceValue(tx, end.resourceManagerStatus, "status");
  // A pass that only wants to come again has not said that the status is the one of this spec.
  const told = end.outcome === "settled" || end.conditions !== undefined || end.resourceManagerStatus !== undefined;
  const observed = told ? input.generation : row.observedGeneration;
  const changed = packed !== row.conditions || status !== row.managerStatus || observed !== row.observedGeneration;
  const { ready, reason } = readiness(conditions);
  tx.run(
    `UPDATE managed_resources SET manager_status = ?, conditions = ?, observed_generation = ?, ready = ?, ready_reason = ?, reconciled_at = ?,
       outcome = ?, duration_ms = ?, error = NULL, updated_at = CASE WHEN ? THEN ? ELSE updated_at END WHERE managed_no = ?`,
    status,
    packed,
    observed,
    ready,
    reason,
    tx.now,
    end.outcome,
    Math.round(input.durationMs),
    changed ? 1 : 0,
    tx.now,
    row.managedNo,
  );
  // A pass that finds everything as it was leaves no trace but its time: a monitor makes a thousand of them a day.
  if (!changed) return;
  tx.event(row.resourceNo, {
    type: "resource.status",
    actor: passActor(input.claim),
    payload: {
      generation: input.generation,
      outcome: end.outcome,
      conditions: conditions.map(({ reason, status, type }) => ({ type, status, reason })),
      statusBytes: Buffer.byteLength(canonicalJson(end.resourceManagerStatus ?? null)),
    },
  });
}

function noteFailure(tx: Tx, row: ResourceRow, input: FinishInput, error: ErrorRecord): void {
  const packed = packError(tx, error);
  tx.run(
    "UPDATE managed_resources SET reconciled_at = ?, outcome = 'failed', duration_ms = ?, error = ? WHERE managed_no = ?",
    tx.now,
    Math.round(input.durationMs),
    packed,
    row.managedNo,
  );
  // The same failure again says nothing new.
  if (packed === row.error) return;
  tx.event(row.resourceNo, {
    type: "resource.failed",
    actor: passActor(input.claim),
    payload: {
      generation: input.generation,
      code: error.code,
      kind: error.kind,
      message: error.message.slice(0, 2_000),
    },
  });
}
