/**
 * Alerts as they are stored and as a chat shows them. What comes from a monitor or a workflow is text from outside, to be shown inert; the words around it
 * are in renderers/text.
 */
import { z } from "zod";
import { findingSchema } from "./monitor/finding.ts";

export const severitySchema = z.enum(["info", "warning", "critical"]);
export type Severity = z.infer<typeof severitySchema>;

/** What is wrong with the subject, where a word of ours says it. */
export const conditionSchema = z.enum(["down", "degraded", "failing", "late", "unknown", "unstable"]);
export type Condition = z.infer<typeof conditionSchema>;

export const alertOriginSchema = z.strictObject({
  kind: z.enum(["monitor", "workflow"]),
  name: z.string(),
  /** Short id of the run that said it. */
  run: z.string().optional(),
});
export type AlertOrigin = z.infer<typeof alertOriginSchema>;

const at = z.number().int();
const count = z.number().int().nonnegative();

/** What an alert is called: its own sentence, or its subject with a condition. */
const name = {
  severity: severitySchema,
  subject: z.string(),
  condition: conditionSchema.nullable(),
  title: z.string().nullable(),
} as const;
const nameSchema = z.strictObject(name);
export type AlertName = z.infer<typeof nameSchema>;

/** One of several in a list: what it is called, and how it stands. */
export const alertMemberSchema = z.strictObject({
  ...name,
  state: z.enum(["open", "flapping", "recovered"]),
  acknowledged: z.boolean(),
  snoozed: z.boolean().optional(),
});
export type AlertMember = z.infer<typeof alertMemberSchema>;

/** A line of evidence: the author's words, or what a monitor found. */
export const alertLineSchema = z.union([
  z.string(),
  /** `checks`: how many in a row, or since it began, found something of the kind. */
  z.strictObject({ finding: findingSchema, checks: z.number().int().positive().optional() }),
  /** Results that changed, and in which time. */
  z.strictObject({ changes: z.number().int().positive(), spanMs: z.number().int().nonnegative() }),
  z.strictObject({ runbook: z.string() }),
  z.strictObject({
    repair: z.enum(["wanted", "started", "refused"]),
    run: z.string().optional(),
    by: z.string().optional(),
    error: z.string().optional(),
  }),
]);
export type AlertLine = z.infer<typeof alertLineSchema>;

/** Who did something with its buttons, as the chat called them then. */
const doneBy = { by: z.string().optional() } as const;

/** `at`: from when a message sees what it tells. */
export const alertModelSchema = z.discriminatedUnion("kind", [
  /** The message that stands for an alert: edited as long as it lasts, and once more when it is over. */
  z.strictObject({
    kind: z.literal("card"),
    ...name,
    lines: z.array(alertLineSchema),
    origin: alertOriginSchema.optional(),
    since: at,
    at,
    /** How often it was reported. */
    seen: count,
    state: z.enum(["open", "flapping", "recovered"]),
    /** While it flaps: whether the condition holds at this moment, and the changes so far. */
    holds: z.boolean(),
    changes: count,
    until: at.optional(),
    acknowledged: z.strictObject({ ...doneBy, at }).optional(),
    snoozed: z.strictObject({ ...doneBy, until: at }).optional(),
    repair: z.strictObject({ asked: z.strictObject({ ...doneBy, at }).optional() }).optional(),
    possibleRepeatOf: at.optional(),
  }),
  /** It is over. */
  z.strictObject({
    kind: z.literal("closing"),
    ...name,
    origin: alertOriginSchema.optional(),
    /** The author's sentence for the end. */
    over: z.string().nullable(),
    lines: z.array(alertLineSchema),
    since: at,
    until: at,
    at,
    /** False when the alert itself was never sent here. */
    delivered: z.boolean(),
    changes: count,
    possibleRepeatOf: at.optional(),
  }),
  /** It lasts, and nobody has acknowledged it. */
  z.strictObject({
    kind: z.literal("reminder"),
    ...name,
    since: at,
    at,
    number: count,
    last: z.boolean(),
    /** A snooze ran out; else the schedule of the alert. */
    snoozeOver: z.boolean(),
    possibleRepeatOf: at.optional(),
  }),
  /** Many alerts in one chat at once. */
  z.strictObject({
    kind: z.literal("digest"),
    members: z.array(alertMemberSchema),
    from: at,
    until: at.optional(),
    at,
    possibleRepeatOf: at.optional(),
  }),
  z.strictObject({
    kind: z.literal("digestClosing"),
    total: count,
    from: at,
    until: at,
    at,
    delivered: z.boolean(),
    possibleRepeatOf: at.optional(),
  }),
  z.strictObject({
    kind: z.literal("digestReminder"),
    open: count,
    total: count,
    from: at,
    at,
    possibleRepeatOf: at.optional(),
  }),
]);
export type AlertModel = z.infer<typeof alertModelSchema>;

export const alertActionSchema = z.enum(["acknowledge", "snooze", "repair"]);
export type AlertAction = z.infer<typeof alertActionSchema>;

/** The buttons under such a message, in order. */
export function alertButtons(alert: AlertModel): readonly AlertAction[] {
  if (alert.kind === "digest") {
    const open = alert.members.filter(({ acknowledged, state }) => state !== "recovered" && !acknowledged);
    if (open.length === 0) return [];
    return open.some(({ snoozed }) => snoozed !== true) ? ["acknowledge", "snooze"] : ["acknowledge"];
  }
  if (alert.kind !== "card" || alert.state === "recovered") return [];
  const quiet: AlertAction[] =
    alert.severity === "info" || alert.acknowledged !== undefined
      ? []
      : alert.snoozed === undefined
        ? ["acknowledge", "snooze"]
        : ["acknowledge"];
  return alert.repair === undefined || alert.repair.asked !== undefined ? quiet : [...quiet, "repair"];
}
