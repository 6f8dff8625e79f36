/**
 * channel-doctor.v1: what `holdpoint doctor` asks the doctor part of a channel, a child started by path. It changes nothing at the
 * service and confirms no update.
 */
import { z } from "zod";

export const toDoctorSchema = z.strictObject({
  type: z.literal("examine"),
  channel: z.string(),
  tokenFile: z.string(),
  settings: z.record(z.string(), z.unknown()),
  /** Places that are configured: whether messages can go there. */
  places: z.array(z.string()),
  /** False while a server polls: a second poll would disturb it. */
  mayPoll: z.boolean(),
});
export type ToDoctor = z.infer<typeof toDoctorSchema>;

export const fromDoctorSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("finding"),
    name: z.enum(["Bot", "Updates", "Clock", "Chat"]),
    /** `note`: something to know, nothing is broken. */
    state: z.enum(["ok", "note", "wrong"]),
    found: z.string().max(2_000),
    remedy: z.string().max(2_000).nullable(),
  }),
  z.strictObject({ type: z.literal("done") }),
]);
export type FromDoctor = z.infer<typeof fromDoctorSchema>;
