/** What a plan is, for the built-in workflows that make, change, approve and carry out one. */
import { sha256Digest } from "holdpoint";
import { z } from "zod";

const line = z.string().min(1).max(1_000);

export const planSchema = z.strictObject({
  /** The plan in one line. */
  summary: line,
  steps: z.array(line).min(1).max(64),
  /** How it is seen that the steps were done well. */
  verification: z.array(line).max(32).default([]),
  risks: z.array(line).max(16).default([]),
});
export type Plan = z.infer<typeof planSchema>;

/** Two plans that say the same have one digest, however their fields are ordered. */
export function planDigest(plan: Plan): string {
  return sha256Digest(planSchema.parse(plan));
}

/** For the contract of a step that submits a plan. */
export const PLAN_IN_WORDS =
  'JSON: {"summary": one line, "steps": [1 to 64 lines], "verification": [lines: how it is seen that it was done well], "risks": [lines]}';
