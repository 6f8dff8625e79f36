/** What a resource's conditions become by what a pass says of them. */
import { READY, type ConditionInput, type ManagedResourceCondition } from "../../contracts/resource/model.ts";

/**
 * The conditions after a pass: those that it names, in its order; of two of one type the later counts. `lastTransitionTime` stays
 * while the status is the same.
 */
export function nextConditions(
  before: readonly ManagedResourceCondition[],
  given: readonly ConditionInput[],
  observedGeneration: number,
  now: string,
): ManagedResourceCondition[] {
  const named = new Map(given.map((condition) => [condition.type, condition]));
  return [...named.values()].map((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    const lastTransitionTime = old !== undefined && old.status === condition.status ? old.lastTransitionTime : now;
    return { ...condition, observedGeneration, lastTransitionTime };
  });
}

/** What lists show: the condition `Ready`, or nulls when there is none. */
export function readiness(conditions: readonly ManagedResourceCondition[]): {
  readonly ready: "true" | "false" | "unknown" | null;
  readonly reason: string | null;
} {
  const found = conditions.find(({ type }) => type === READY);
  if (found === undefined) return { ready: null, reason: null };
  return { ready: String(found.status) as "true" | "false" | "unknown", reason: found.reason };
}
