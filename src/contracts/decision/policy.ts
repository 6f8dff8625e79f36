// The policy of a decision: how many persons it takes, snapshotted into the request and bound by its digest.

import { z } from "zod";

import { DECISION } from "../limits.ts";
import type { Choice } from "./choices.ts";
import type { Problem } from "./issues.ts";

/** Keys other than `quorum` are written only when they are set, so that older digests stay what they are. */
export const policySchema = z.strictObject({
  /** Different persons that must name the same choice. */
  quorum: z.number().int().min(1).max(DECISION.quorum),
  /** Choices that one person can decide alone, whatever the quorum. */
  veto: z.array(z.string()).min(1).optional(),
});
export type DecisionPolicy = z.infer<typeof policySchema>;

/** First valid answer wins. */
export const FIRST_ANSWER: DecisionPolicy = { quorum: 1 };

/** What a policy and the choices it is applied to cannot have together, or undefined. */
export function policyProblem(policy: DecisionPolicy, choices: readonly Choice[]): Problem | undefined {
  for (const [index, id] of (policy.veto ?? []).entries()) {
    if (!choices.some((choice) => choice.id === id))
      return { path: ["veto", index], text: `names the unknown choice "${id}"` };
  }
  if (policy.quorum === 1) return undefined;
  const asking = choices.find((choice) => choice.input !== undefined && policy.veto?.includes(choice.id) !== true);
  if (asking === undefined) return undefined;
  return {
    path: ["quorum"],
    text: `is ${policy.quorum}, but the choice "${asking.id}" takes a text, which several persons cannot agree on; mark it as a veto`,
    limit: 1,
    seen: policy.quorum,
  };
}
