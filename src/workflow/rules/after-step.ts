/**
 * What follows a finished step of a run: the next node, or the end of the run with its status and error.
 * The one place that both the runner and the server ask, so that they cannot disagree about an ending.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import type { NodeResult } from "../../contracts/protocol/runner.ts";
import { graphOf, type PlannedTransition } from "./graph.ts";
import type { MountMarks } from "./mounts.ts";
import { route } from "./route.ts";

export interface RunEnd {
  readonly kind: "end";
  readonly status: "completed" | "failed" | "timed_out" | "cancelled";
  /** Why, unless the run completed. */
  readonly error?: ErrorRecord;
  /** Mounts that the last node left. */
  readonly transitions?: readonly PlannedTransition[] | undefined;
}
export type AfterStep =
  | {
      readonly kind: "next";
      readonly nodeId: string;
      /** Mounts left and entered before the next node, in order; undefined for none. */
      readonly transitions?: readonly PlannedTransition[] | undefined;
    }
  | RunEnd;

const COMPLETED: RunEnd = { kind: "end", status: "completed" };
const STATUS = { ok: "completed", failed: "failed", timed_out: "timed_out", cancelled: "cancelled" } as const;

/**
 * `stepsDone` counts every executed node of the run including this one. A run, or an invocation of a mount, that has used
 * up its `maxSteps` may end or be left, but not start another node: the run fails with `maxSteps`.
 *
 * @param marks where the run was in its mounts when the step began (`mountsAfter`); needed when the definition has
 *   includes. After the step they are `applyTransitions(marks, after.transitions, stepsDone)`.
 */
export function afterStep(
  definition: DefinitionSnapshot,
  result: NodeResult,
  stepsDone: number,
  marks?: MountMarks,
): AfterStep {
  const to = route(definition, result.nodeId, result);
  if (to.kind === "error") return { kind: "end", status: "failed", error: to.error };
  if (to.kind === "end") {
    const status = STATUS[result.outcome];
    if (status === "completed") return to.transitions === undefined ? COMPLETED : { ...COMPLETED, ...to };
    return result.error === undefined ? { kind: "end", status } : { kind: "end", status, error: result.error };
  }
  if (stepsDone >= definition.maxSteps) {
    return exhausted(
      `workflow "${definition.name}"`,
      `The run executed ${stepsDone}`,
      definition.maxSteps,
      stepsDone,
      to.nodeId,
    );
  }
  if (definition.includes !== undefined) return withinMounts(definition, result.nodeId, to, stepsDone, marks) ?? to;
  return to;
}

/** The end because of a mount's limit, if there is one: for the mounts in which the run was and stays. */
function withinMounts(
  definition: DefinitionSnapshot,
  from: string,
  to: Extract<AfterStep, { kind: "next" }>,
  stepsDone: number,
  marks: MountMarks | undefined,
): RunEnd | undefined {
  const node = graphOf(definition).get(from);
  if (node === undefined) return undefined;
  const stays = node.mounts.length - node.exits.length;
  for (let i = 0; i < stays; i++) {
    const mount = node.mounts[i] as string;
    const limit = definition.includes?.[mount]?.maxSteps;
    const mark = marks?.get(mount);
    if (limit === undefined || mark === undefined) {
      throw new HoldpointError("internal", `Nothing is known of mount "${mount}", in which node "${from}" lies.`);
    }
    const done = stepsDone - mark.firstStep;
    if (done < limit) continue;
    const what = `workflow "${definition.includes?.[mount]?.workflow}" at mount "${mount}"`;
    return exhausted(
      what,
      `Invocation ${mark.invocation} of mount "${mount}" executed ${done}`,
      limit,
      done,
      to.nodeId,
    );
  }
  return undefined;
}

function exhausted(what: string, begin: string, limit: number, seen: number, next: string): RunEnd {
  const error = new HoldpointError(
    "maxSteps",
    `${begin} nodes; maxSteps of ${what} is ${limit}, and node "${next}" would be next.`,
    { details: { limit, seen, next } },
  );
  return { kind: "end", status: "failed", error: error.toRecord() };
}
