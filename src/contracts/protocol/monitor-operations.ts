/** Operations on monitors, and what they show. Times are milliseconds since the epoch. */
import { z } from "zod";
import { findingSchema, probeResultSchema } from "../monitor/finding.ts";
import { jsonSchema, operation } from "./shared.ts";

const time = z.number().int();
const count = z.number().int().nonnegative();

export const standingSchema = z.enum(["new", "up", "down", "unstable"]);
export type MonitorStanding = z.infer<typeof standingSchema>;

export const monitorSummarySchema = z.strictObject({
  name: z.string(),
  title: z.string(),
  /** What it looks at, in short. */
  target: z.string(),
  type: z.string(),
  origin: z.enum(["config", "resource"]),
  standing: standingSchema,
  /** Since when; null before the first result. */
  since: time.nullable(),
  /** An alert is open. */
  alert: z.boolean(),
  /** In a maintenance window at the moment. */
  maintenance: z.boolean(),
  lastAt: time.nullable(),
  finding: findingSchema.nullable(),
  /** Results in a row like the last one, and how many of them it takes to count. */
  row: count,
  wanted: count,
  nextAt: time,
  checks: count,
  failures: count,
  missed: count,
  /** Probes in a row that could not be made. */
  unseen: count,
  audience: z.string(),
  severity: z.string(),
});
export type MonitorSummary = z.infer<typeof monitorSummarySchema>;

export const invalidMonitorSchema = z.strictObject({ name: z.string(), problems: z.array(z.string()) });

export const monitorDetailSchema = monitorSummarySchema.extend({
  spec: jsonSchema,
  lastMs: z.number().nullable(),
  alerts: count,
  beatAt: time.nullable(),
  /** Where its job reports to, if it is a heartbeat; null when nothing comes in over HTTP. */
  heartbeatUrl: z.string().nullable(),
  repair: z
    .strictObject({
      status: z.enum(["wanted", "started", "refused"]),
      by: z.string().nullable(),
      at: time,
      runId: z.string().nullable(),
      error: z.string().nullable(),
    })
    .nullable(),
  /** Newest first. */
  events: z.array(z.strictObject({ at: time, type: z.string(), detail: jsonSchema })),
});
export type MonitorDetail = z.infer<typeof monitorDetailSchema>;

const monitor = z.string().min(1).max(800);

export const MONITOR_OPERATIONS = {
  /** A page by name; `after` is "" for the first. */
  "monitor.list": operation(
    false,
    z.strictObject({ after: z.string().max(800) }),
    z.strictObject({
      monitors: z.array(monitorSummarySchema),
      more: z.boolean(),
      invalid: z.array(invalidMonitorSchema),
    }),
  ),
  "monitor.get": operation(false, z.strictObject({ monitor }), monitorDetailSchema),
  /** Probes now; the result counts like another. Asking twice is two checks, which does no harm. */
  "monitor.check": operation(false, z.strictObject({ monitor }), probeResultSchema),
} as const;
