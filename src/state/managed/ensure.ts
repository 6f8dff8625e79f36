/** `managed.ensure`: one run for each resource and stable key, whatever is asked how often. */
import { sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { makeRunId, resourceId } from "../../contracts/ids.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import { insertRun } from "../runs/start.ts";
import { claimedResource, type ResourceClaim } from "./resource-rows.ts";
import { managedRun, type ManagedRun } from "./rows.ts";

export interface EnsureManaged {
  readonly claim: ResourceClaim;
  /** Stable for what is asked; the manager chooses it. */
  readonly requestKey: string;
  readonly workflow: string;
  readonly workflowPath: string;
  readonly input: JsonValue;
}

/** Digest of what makes two requests the same: the workflow and its input, not where its file lies. */
export function inputFingerprint(request: Pick<EnsureManaged, "workflow" | "input">): string {
  return sha256Digest({ workflow: request.workflow, input: request.input });
}

/**
 * The run is stored with its request before anything is scheduled, and is the resource's current one from now on. Throws `claimLost`,
 * and `idempotencyConflict` for a known key with another workflow or input.
 */
export const ensure = defineCommand("managed.ensure", (tx, input: EnsureManaged): ManagedRun => {
  const { requestKey, workflow, workflowPath } = input;
  const { managedNo, projectPath, requestId: current, resourceNo, uid } = claimedResource(tx, input.claim);
  const fingerprint = inputFingerprint(input);
  const found = managedRun(tx, uid, requestKey);
  if (found !== undefined && found.inputFingerprint !== fingerprint) {
    throw new HoldpointError(
      "idempotencyConflict",
      `Request "${requestKey}" asked for ${found.workflow} before, with another workflow or input.`,
      { details: { owner: uid, requestKey, expected: found.inputFingerprint, seen: fingerprint } },
    );
  }
  const requestId = found?.requestId ?? resourceId("managed", `${uid}\0${requestKey}`);
  if (requestId !== current)
    tx.run("UPDATE managed_resources SET request_id = ? WHERE managed_no = ?", requestId, managedNo);
  if (found !== undefined) return found;
  const actor = { type: "controller", id: uid };
  const runId = makeRunId(workflow, tx.now, tx.random);
  const runNo = insertRun(tx, {
    runId,
    workflow,
    workflowPath,
    projectPath,
    packedInput: tx.pack(input.input),
    actor,
  });
  tx.run(
    `INSERT INTO managed_resource_workflows (request_id, owner, request_key, workflow_name, input_fingerprint, run_no, status, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'open', ?)`,
    requestId,
    uid,
    requestKey,
    workflow,
    fingerprint,
    runNo,
    tx.now,
  );
  tx.event(resourceNo, { type: "workflow.requested", actor, payload: { requestKey, workflow, runId } });
  return managedRun(tx, uid, requestKey) as ManagedRun;
});
