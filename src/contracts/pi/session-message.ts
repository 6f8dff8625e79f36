/**
 * What Holdpoint puts into a Pi session: messages and entries, each with an id of ours in its details. The id is the evidence of delivery:
 * it is looked for on the session's tree before anything is sent, and after.
 */
import { z } from "zod";
import { cardModelSchema, cardStateSchema } from "../decision/card.ts";
import { PI_LINK } from "../limits.ts";
import { notificationModelSchema } from "../notification.ts";
import { errorRecordSchema } from "../protocol/shared.ts";
import { CUSTOM_TYPES } from "./custom-types.ts";

export { CUSTOM_TYPES, type SessionMessageKind } from "./custom-types.ts";

const id = z.string().min(1).max(256);

/** Which run a message belongs to, as people see it. */
const runFields = {
  runId: id,
  runShortId: z.string(),
  workflow: z.string(),
  title: z.string().nullable(),
} as const;

export const stepContractSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("submit"), expectedOutput: z.string() }),
  z.strictObject({ kind: z.literal("assistantMessage"), maxChars: z.number().int().positive() }),
]);

export const sessionMessageSchema = z.discriminatedUnion("kind", [
  /** Work for the model: starts a turn. Pi's content is the complete text (`stepText`). */
  z.strictObject({
    kind: z.literal("step"),
    ...runFields,
    reason: z.enum(["initial", "reminder", "resumed"]),
    requestId: id,
    nodeId: z.string(),
    contract: stepContractSchema,
    statusDetail: z.string().nullable(),
    text: z.string(),
  }),
  /** A question to a person: starts no turn. */
  z.strictObject({ kind: z.literal("decision"), card: cardModelSchema, state: cardStateSchema }),
  /** How such a question ended, or what changed about it: an entry that the model does not see. */
  z.strictObject({ kind: z.literal("settlement"), card: cardModelSchema, state: cardStateSchema }),
  z.strictObject({ kind: z.literal("notification"), notification: notificationModelSchema, timeZone: z.string() }),
  /** A line beside a question: a reminder, that somebody else is asked too. Starts no turn. */
  z.strictObject({ kind: z.literal("notice"), text: z.string() }),
  /** How the run ended: starts a turn, so that the model can tell its user. One for each run. */
  z.strictObject({
    kind: z.literal("terminal"),
    ...runFields,
    status: z.enum(["completed", "failed", "timed_out", "cancelled"]),
    /** JSON text of the result, cut; null when there is none or it is large. */
    result: z.string().nullable(),
    error: errorRecordSchema.nullable(),
    steps: z.number().int(),
    startedAt: z.number().int(),
    finishedAt: z.number().int(),
  }),
  /** A prompt that was queued for after the run: starts a turn. */
  z.strictObject({
    kind: z.literal("followUp"),
    ...runFields,
    followUpId: id,
    orderNumber: z.number().int(),
    prompt: z.string(),
  }),
]);
export type SessionMessage = z.infer<typeof sessionMessageSchema>;

/** `details` of a custom message of ours, `data` of a custom entry. Never sent to the model. */
export const sessionDetailsSchema = z.strictObject({
  schema: z.literal("holdpoint.session-message.v1"),
  /** The hidden id. */
  messageId: id,
  message: sessionMessageSchema,
});
export type SessionDetails = z.infer<typeof sessionDetailsSchema>;

/**
 * One thing to put into the session, exactly once on its tree.
 * - form `message`: `pi.sendMessage({customType, content, display: true, details}, {triggerTurn: trigger, deliverAs: "followUp"})`
 * - form `entry`: `pi.appendEntry(customType, details)`
 */
export const deliverySchema = z.strictObject({
  messageId: id,
  form: z.enum(["message", "entry"]),
  customType: z.enum(Object.values(CUSTOM_TYPES) as [string, ...string[]]),
  /** Plain text, complete and inert: what the model and a client without our renderers read. Empty for an entry. */
  content: z.string().max(PI_LINK.contentChars),
  trigger: z.boolean(),
  details: sessionDetailsSchema,
});
export type Delivery = z.infer<typeof deliverySchema>;
