/** client.v1: alerts. */
import { z } from "zod";
import { alertLineSchema, alertOriginSchema, conditionSchema, severitySchema } from "../alert.ts";
import { ALERT } from "../limits.ts";
import { operation } from "./shared.ts";

const time = z.number().int();

export const alertViewSchema = z.strictObject({
  alertId: z.string(),
  shortId: z.string(),
  audience: z.string(),
  groupKey: z.string(),
  state: z.enum(["open", "flapping", "recovered"]),
  /** Whether its condition holds by the latest report. */
  holds: z.boolean(),
  severity: severitySchema,
  subject: z.string(),
  condition: conditionSchema.nullable(),
  title: z.string().nullable(),
  lines: z.array(alertLineSchema),
  origin: alertOriginSchema.nullable(),
  since: time,
  endedAt: time.nullable(),
  /** How often it was reported in this episode, and how many episodes there were. */
  seen: z.number().int(),
  episodes: z.number().int(),
  acknowledgedAt: time.nullable(),
  acknowledgedBy: z.string().nullable(),
  snoozedUntil: time.nullable(),
  repairAskedAt: time.nullable(),
  /** Which chats were told, as far as it is known. */
  told: z.array(
    z.strictObject({ destination: z.string(), status: z.enum(["sent", "waiting", "doubtful", "notSent"]) }),
  ),
});
export type AlertView = z.infer<typeof alertViewSchema>;

export const alertDoneSchema = z.strictObject({
  alertId: z.string(),
  shortId: z.string(),
  result: z.enum(["done", "before", "over"]),
  by: z.string().nullable(),
  at: time,
});
export type AlertDone = z.infer<typeof alertDoneSchema>;

/** Id, short id, prefix or grouping key. */
const alert = z.string().min(1).max(300);

export const ALERT_OPERATIONS = {
  "alert.list": operation(
    false,
    z.strictObject({ all: z.boolean() }),
    z.strictObject({ alerts: z.array(alertViewSchema) }),
  ),
  "alert.get": operation(false, z.strictObject({ alert }), alertViewSchema),
  "alert.acknowledge": operation(true, z.strictObject({ alert }), alertDoneSchema),
  "alert.snooze": operation(
    true,
    z.strictObject({ alert, forMs: z.number().int().min(1).max(ALERT.snoozeMaxMs) }),
    alertDoneSchema,
  ),
} as const;
