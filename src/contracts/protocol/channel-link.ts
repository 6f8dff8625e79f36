/**
 * The part of channel.v1 for channels that are conversations: people's sessions are connected to the adapter, which passes on what they report
 * and what they are told. Frames name the place (session) and the epoch of its connection; those of an older epoch are refused.
 */
import { z } from "zod";
import { sessionViewSchema } from "../pi/session-view.ts";
import { errorRecordSchema } from "./shared.ts";
import { linkReportSchema } from "./pi-link.ts";

const at = { place: z.string(), epoch: z.number().int() } as const;

export const linkReplySchema = z.strictObject({
  type: z.literal("link.reply"),
  ...at,
  callId: z.string(),
  ok: z.boolean(),
  text: z.string(),
  code: z.string().nullable(),
  end: z.boolean(),
  error: errorRecordSchema.nullable(),
});
export type LinkReply = z.infer<typeof linkReplySchema>;

export const linkToAdapter = [
  z.strictObject({ type: z.literal("link.view"), ...at, view: sessionViewSchema }),
  linkReplySchema,
] as const;

export const linkFromAdapter = [
  /** Somebody speaks for a session from now on; an earlier connection of it is over. */
  z.strictObject({ type: z.literal("link.open"), ...at, pid: z.number().int(), cwd: z.string(), mode: z.string() }),
  /** `parted`: in good order, so that no turn of it goes on. */
  z.strictObject({ type: z.literal("link.closed"), ...at, parted: z.boolean() }),
  z.strictObject({ type: z.literal("link.report"), ...at, report: linkReportSchema }),
] as const;
