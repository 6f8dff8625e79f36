/**
 * What follows a finished step of a run: the next node, or the end of the run with its status and error.
 * The one place that both the runner and the server ask, so that they cannot disagree about an ending.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import type { NodeResult } from "../../contracts/protocol/runner.ts";
import { route } from "./route.ts";

export interface RunEnd {
  readonly kind: "end";
  readonly status: "completed" | "failed" | "timed_out" | "cancelled";
  /** Why, unless the run completed. */
  readonly error?: ErrorRecord;
}
export type AfterStep = { readonly kind: "next"; readonly nodeId: string } | RunEnd;

const COMPLETED: RunEnd = { kind: "end", status: "completed" };
const STATUS = { ok: "completed", failed: "failed", timed_out: "timed_out", cancelled: "cancelled" } as const;

/**
 * `stepsDone` counts every executed node of the run including this one. A run that has used up its `maxSteps` may end,
 * but not start another node: it fails with `maxSteps`.
 */
export function afterStep(definition: DefinitionSnapshot, result: NodeResult, stepsDone: number): AfterStep {
  const to = route(definition, result.nodeId, result);
  if (to.kind === "error") return { kind: "end", status: "failed", error: to.error };
  if (to.kind === "end") {
    const status = STATUS[result.outcome];
    if (status === "completed") return COMPLETED;
    return result.error === undefined ? { kind: "end", status } : { kind: "end", status, error: result.error };
  }
  if (stepsDone < definition.maxSteps) return to;
  const error = new HoldpointError(
    "maxSteps",
    `The run executed ${stepsDone} nodes; maxSteps of workflow "${definition.name}" is ${definition.maxSteps}, and node "${to.nodeId}" would be next.`,
    { details: { limit: definition.maxSteps, seen: stepsDone, next: to.nodeId } },
  );
  return { kind: "end", status: "failed", error: error.toRecord() };
}
