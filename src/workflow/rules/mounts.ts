/**
 * Which invocation of each mount a run is in: everything that composition adds to a run's position. It follows from the
 * steps alone; runner and server keep it as they go and compute it anew after an interruption.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import type { NodeOutcome } from "../../contracts/protocol/runner.ts";
import { graphOf, type PlannedTransition, startTransitions, transitionsBetween } from "./graph.ts";

/** The latest invocation of a mount. */
export interface MountMark {
  readonly mount: string;
  /** From 1. */
  readonly invocation: number;
  /** The step with which it began. */
  readonly firstStep: number;
  /** How it was left; undefined while the run is in it. */
  readonly exit?: string | undefined;
  /** How the invocation before was left: the parent sees that until the input of this one has been made. */
  readonly before?: { readonly exit: string; readonly firstStep: number } | undefined;
}
/** Full mount path → its latest invocation. A mount that was never entered is not in it. */
export type MountMarks = ReadonlyMap<string, MountMark>;

const NONE: MountMarks = new Map();

/** The marks of a run that has not executed anything. */
export function mountsAtStart(definition: DefinitionSnapshot): MountMarks {
  return applyTransitions(NONE, startTransitions(definition), 0);
}

/** The marks after transitions that happen before step `nextStep`; the same object when there are none. */
export function applyTransitions(
  marks: MountMarks,
  transitions: readonly PlannedTransition[] | undefined,
  nextStep: number,
): MountMarks {
  if (transitions === undefined || transitions.length === 0) return marks;
  const after = new Map(marks);
  for (const transition of transitions) {
    const { mount } = transition;
    const before = after.get(mount);
    if (transition.type === "include_entered") {
      const mark = { mount, invocation: (before?.invocation ?? 0) + 1, firstStep: nextStep };
      const left = before?.exit === undefined ? undefined : { exit: before.exit, firstStep: before.firstStep };
      after.set(mount, left === undefined ? mark : { ...mark, before: left });
    } else if (before !== undefined) {
      after.set(mount, { ...before, exit: transition.exit });
    }
  }
  return after;
}

/**
 * The marks of a run that has executed `steps`, oldest first, and stands at node `next` (null: nowhere, it has ended or
 * its last step has not been routed).
 */
export function mountsAfter(
  definition: DefinitionSnapshot,
  steps: readonly { readonly nodeId: string; readonly outcome: NodeOutcome }[],
  next: string | null,
): MountMarks {
  if (definition.includes === undefined) return NONE;
  const graph = graphOf(definition);
  let marks = mountsAtStart(definition);
  for (const [index, { nodeId }] of steps.entries()) {
    const to = steps[index + 1]?.nodeId ?? next;
    if (to !== null && to !== undefined)
      marks = applyTransitions(marks, transitionsBetween(graph, nodeId, to), index + 1);
  }
  return marks;
}
