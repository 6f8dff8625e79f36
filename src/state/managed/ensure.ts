/** `managed.ensure`: one run for each owner and stable key, whatever is asked how often. */
import { sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { makeRunId, resourceId } from "../../contracts/ids.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import { insertRun } from "../runs/start.ts";
import { managedRun, type ManagedRun } from "./rows.ts";

export interface EnsureManaged {
  /** The resource that asks, as its manager names it. */
  readonly owner: string;
  /** Stable for what is asked; the owner chooses it. */
  readonly requestKey: string;
  readonly workflow: string;
  readonly workflowPath: string;
  readonly projectPath: string;
  readonly input: JsonValue;
}

/** Digest of what makes two requests the same: the workflow and its input, not where its file lies. */
export function inputFingerprint(request: Pick<EnsureManaged, "workflow" | "input">): string {
  return sha256Digest({ workflow: request.workflow, input: request.input });
}

/**
 * The run is stored with its request before anything is scheduled. Throws `idempotencyConflict` for a known key with another
 * workflow or input.
 */
export const ensure = defineCommand("managed.ensure", (tx, input: EnsureManaged): ManagedRun => {
  const { owner, projectPath, requestKey, workflow, workflowPath } = input;
  const fingerprint = inputFingerprint(input);
  const found = managedRun(tx, owner, requestKey);
  if (found !== undefined) {
    if (found.inputFingerprint !== fingerprint) {
      throw new HoldpointError(
        "idempotencyConflict",
        `Request "${requestKey}" of ${owner} asked for ${found.workflow} before, with another workflow or input.`,
        { details: { owner, requestKey, expected: found.inputFingerprint, seen: fingerprint } },
      );
    }
    return found;
  }
  const runNo = insertRun(tx, {
    runId: makeRunId(workflow, tx.now, tx.random),
    workflow,
    workflowPath,
    projectPath,
    packedInput: tx.pack(input.input),
    actor: { type: "controller", id: owner },
  });
  tx.run(
    `INSERT INTO managed_resource_workflows (request_id, owner, request_key, workflow_name, input_fingerprint, run_no, status, created_at)
     VALUES (?, ?, ?, ?, ?, ?, 'open', ?)`,
    resourceId("managed", `${owner}\0${requestKey}`),
    owner,
    requestKey,
    workflow,
    fingerprint,
    runNo,
    tx.now,
  );
  return managedRun(tx, owner, requestKey) as ManagedRun;
});
