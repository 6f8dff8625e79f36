/** One call of the tool `workflow`, strict for each action: fields that an action does not have are refused by name. */
import { z } from "zod";
import { FOLLOW_UP } from "../../../../src/contracts/limits.ts";
import { agentUpdateSchema } from "../../../../src/contracts/pi/bridge.ts";
import { jsonSchema } from "../../../../src/contracts/protocol/shared.ts";

const id = z.string().min(1).max(200);
const run = { runId: id.optional() };
const count = z.int().nonnegative();

const callSchema = z.discriminatedUnion("action", [
  z.strictObject({ action: z.literal("list"), offset: count.optional() }),
  z.strictObject({ action: z.literal("start"), workflow: z.string().min(1).max(400), input: jsonSchema.optional() }),
  z.strictObject({ action: z.literal("status"), ...run }),
  z.strictObject({ action: z.literal("pause"), ...run }),
  z.strictObject({ action: z.literal("resume"), ...run }),
  z.strictObject({ action: z.literal("cancel"), ...run }),
  z.strictObject({ action: z.literal("restart"), runId: id, expectedRevision: count.optional() }),
  z.strictObject({ action: z.literal("answer"), requestId: id, input: jsonSchema }),
  z.strictObject({
    action: z.literal("change-settings"),
    ...run,
    scopeId: id.optional(),
    expectedChangeNumber: count.optional(),
    patch: z.array(z.record(z.string(), jsonSchema)).min(1),
  }),
  z.strictObject({
    action: z.literal("queue-follow-up"),
    ...run,
    prompt: z.string().min(1).max(FOLLOW_UP.promptChars),
  }),
  z.strictObject({ action: z.literal("remove-follow-up"), ...run, followUpId: id }),
  z.strictObject({ action: z.literal("update"), requestId: id, update: agentUpdateSchema }),
  z.strictObject({ action: z.literal("submit"), requestId: id, output: jsonSchema }),
]);
export type SessionToolCall = z.infer<typeof callSchema>;

/** The call, or an error whose message tells a model what to correct. */
export function parseCall(params: unknown): SessionToolCall {
  const parsed = callSchema.safeParse(params);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 5).map(({ message, path }) => `${path.join(".") || "call"}: ${message}`);
  throw new Error(`The call is not understood: ${issues.join("; ")}.`);
}
