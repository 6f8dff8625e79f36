/** What is kept of a Pi session while a run of it is under way: events in their order, and Pi's own entries word for word. */
import { z } from "zod";
import { jsonSchema } from "../protocol/shared.ts";

const id = z.string().min(1).max(256);

export const RECORD_KINDS = [
  "turn_started",
  "turn_finished",
  "message_started",
  "message_finished",
  "assistant_event",
  "tool_execution_started",
  "tool_execution_updated",
  "tool_execution_finished",
  "entry",
] as const;

export const sessionRecordSchema = z.strictObject({
  /** By the clock of Pi's computer, which is the server's too. */
  at: z.number().int(),
  kind: z.enum(RECORD_KINDS),
  /** Of `entry`: its own id. Of `message_finished`: the entry that has the message; it stands before this record. */
  entryId: id.nullable(),
  /** Small facts of an event; of an entry, the entry itself, or how large it was when it was too large to be kept. */
  data: jsonSchema,
});
export type SessionRecord = z.infer<typeof sessionRecordSchema>;

/** One instance of the extension that watched a run: a new one begins with each start, reload and new session. */
export const sessionCaptureSchema = z.strictObject({
  instance: z.string(),
  sessionId: z.string(),
  records: z.number().int(),
  bytes: z.number().int(),
  /** Records that are missing: too many at once, no connection, or more than is kept of one run. */
  dropped: z.number().int(),
  startedAt: z.number().int(),
  lastAt: z.number().int(),
});
export type SessionCapture = z.infer<typeof sessionCaptureSchema>;

/** A record as it is stored: `no` rises over all captures of a run, in the order of arrival. */
export const storedRecordSchema = sessionRecordSchema.extend({ no: z.number().int(), instance: z.string() });
export type StoredRecord = z.infer<typeof storedRecordSchema>;
