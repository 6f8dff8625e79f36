// What the buttons of alerts answer: codes with values, as for everything that people are told.

import { z } from "zod";

import { alertActionSchema } from "../alert.ts";
import { timeSchema } from "./request.ts";

const by = z.string().optional();

export const ALERT_REPLIES = [
  /** `at`: when it was done; of a snooze, until when. */
  z.strictObject({ code: z.literal("alertDone"), action: alertActionSchema, at: timeSchema }),
  /** The same for all in a list that still hold. */
  z.strictObject({
    code: z.literal("alertsDone"),
    action: alertActionSchema,
    count: z.number().int().nonnegative(),
    at: timeSchema,
  }),
  /** Somebody was first. */
  z.strictObject({ code: z.literal("alertBefore"), action: alertActionSchema, by, at: timeSchema }),
  /** It does not hold any more, since then. */
  z.strictObject({ code: z.literal("alertOver"), at: timeSchema }),
  z.strictObject({ code: z.literal("alertNotOnList") }),
] as const;

const alertReplySchema = z.discriminatedUnion("code", ALERT_REPLIES);
export type AlertReply = z.infer<typeof alertReplySchema>;
