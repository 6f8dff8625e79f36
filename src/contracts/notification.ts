/** A notification as a chat shows it: what a run said, and which run it was. Words around it are in renderers/text. */
import { z } from "zod";
import { severitySchema } from "./alert.ts";
import { NOTIFY } from "./limits.ts";

/** How the message of a notification is written, where it is more than text. */
export const notificationFormatSchema = z.literal("markdown");

export const notificationModelSchema = z.strictObject({
  level: z.enum(["progress", "final"]),
  /** Left out: info. */
  severity: severitySchema.optional(),
  workflowName: z.string(),
  title: z.string().nullable(),
  runShortId: z.string(),
  /** As the workflow wrote it: text from outside, to be shown inert. */
  message: z.string().max(NOTIFY.messageChars),
  /** The message is Markdown, to be shown as marks and text; left out: it is text. */
  format: notificationFormatSchema.optional(),
  /** When it was made, milliseconds since the epoch. */
  at: z.number().int(),
  /** When an earlier copy may have arrived. */
  possibleRepeatOf: z.number().int().optional(),
});
export type NotificationModel = z.infer<typeof notificationModelSchema>;
