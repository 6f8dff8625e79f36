/**
 * A set-up whose questions another program shows (`holdpoint setup telegram --dialog`, which Pi runs): each line of its standard output
 * is one of these as JSON, and each question is answered by one line of its standard input. A closed input ends it. What a person must
 * not type where others read along, a token, is never asked.
 */
import { z } from "zod";

export const setupDialogSchema = z.discriminatedUnion("type", [
  /** A line to be shown. */
  z.strictObject({ type: z.literal("say"), text: z.string() }),
  /** What was said before is over: it need not be shown any longer. */
  z.strictObject({ type: z.literal("step") }),
  /** Answered by a text; an empty one stands for `fallback`. */
  z.strictObject({ type: z.literal("ask"), question: z.string(), fallback: z.string() }),
  /** Answered by `yes` or anything else. */
  z.strictObject({ type: z.literal("confirm"), question: z.string() }),
]);
export type SetupDialog = z.infer<typeof setupDialogSchema>;
