// The policy of a decision: how many persons it takes, which answers count, when people are reminded and whom else to
// ask. Snapshotted into the request and bound by its digest; who the people are is read from the live configuration.

import { z } from "zod";

import { DECISION, POLICY } from "../limits.ts";
import { isTimeZone } from "../time-zone.ts";
import type { Choice } from "./choices.ts";
import type { Problem } from "./issues.ts";

const waitMs = z
  .number()
  .int()
  .min(1)
  .max(POLICY.waitMinutes * 60_000);

/** A time of day on the wall: "22:00". */
export const wallTimeSchema = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day such as 22:00");

/** A part of the day in a zone, by its clocks on the wall: from the one time until just before the other. */
const quietSchema = z
  .strictObject({
    from: wallTimeSchema,
    to: wallTimeSchema,
    timeZone: z.string().refine(isTimeZone, 'must be an IANA time zone such as "Europe/Berlin"'),
  })
  .refine(({ from, to }) => from !== to, "must begin and end at different times");
export type QuietHours = z.infer<typeof quietSchema>;

const remindAfterSchema = z.strictObject({
  afterMs: waitMs,
  everyMs: waitMs,
  /** Messages at most; what was missed during a silence is one message. */
  atMost: z.number().int().min(1).max(POLICY.reminders),
  quiet: quietSchema.optional(),
});
export type RemindAfter = z.infer<typeof remindAfterSchema>;

/** Keys other than `quorum` are written only when they are set, so that older digests stay what they are. */
export const policySchema = z.strictObject({
  /** Different persons that must name the same choice. */
  quorum: z.number().int().min(1).max(DECISION.quorum),
  /** Choices that one person can decide alone, whatever the quorum. */
  veto: z.array(z.string()).min(1).optional(),
  /** Answers of other channels, or without this assurance, do not count. */
  require: z
    .strictObject({
      /** Kinds (`telegram`) or channels with their profile (`telegram:ops`). */
      channels: z.array(z.string().min(1)).min(1).optional(),
      assurance: z.literal("remote").optional(),
    })
    .optional(),
  remindAfter: remindAfterSchema.optional(),
  /** A second audience that is asked too; it changes no digest. */
  escalateAfter: z.strictObject({ afterMs: waitMs, audience: z.string().min(1) }).optional(),
});
export type DecisionPolicy = z.infer<typeof policySchema>;

/** Why the second audience was asked: nobody answered, no destination could show the card, or everybody voted in vain. */
export const escalationCauseSchema = z.enum(["silence", "undeliverable", "noQuorum"]);
export type EscalationCause = z.infer<typeof escalationCauseSchema>;

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
    text: `is ${policy.quorum}, but the choice "${asking.id}" takes a text, which several persons cannot agree on; add it to "veto" of the audience's policy`,
    limit: 1,
    seen: policy.quorum,
  };
}
