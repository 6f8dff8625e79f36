/** What the process that works on a whole database is asked and what it answers: one line of JSON. */
import { z } from "zod";
import { errorRecordSchema } from "./protocol/shared.ts";

const path = z.string().startsWith("/");
/** Milliseconds since the epoch. */
const time = z.number().int().nonnegative();

export const maintenanceJobSchema = z.discriminatedUnion("kind", [
  /** `file` null: the database of the home. */
  z.strictObject({ kind: z.literal("verify"), home: path, file: path.nullable() }),
  z.strictObject({ kind: z.literal("backup"), home: path, target: path }),
  /** `backup` null: only tells what would be deleted. */
  z.strictObject({ kind: z.literal("prune"), home: path, before: time, backup: path.nullable() }),
]);
export type MaintenanceJob = z.infer<typeof maintenanceJobSchema>;

const verifyReportSchema = z.strictObject({
  path: z.string(),
  resources: z.number().int(),
  events: z.number().int(),
  blobs: z.number().int(),
  /** One sentence per finding, at most 100; empty when all is well. */
  problems: z.array(z.string()),
});
export type VerifyFileReport = z.infer<typeof verifyReportSchema>;

const pruneReportSchema = z.strictObject({
  before: time,
  applied: z.boolean(),
  /** Runs that can go or went, and runs that stay. */
  total: z.number().int(),
  kept: z.number().int(),
  /** Resources of managers that were deleted before then and can go or went. */
  resources: z.number().int(),
  /** Alerts that can go or went. */
  alerts: z.number().int(),
  /** The first of the runs, oldest first. */
  runs: z.array(
    z.strictObject({ runId: z.string(), title: z.string().nullable(), workflow: z.string(), finishedAt: time }),
  ),
  /** All that went. */
  runIds: z.array(z.string()),
});
export type PruneReport = z.infer<typeof pruneReportSchema>;

const MAINTENANCE_RESULTS = {
  verify: verifyReportSchema,
  backup: verifyReportSchema.extend({ bytes: z.number().int() }),
  prune: pruneReportSchema,
} as const;
export type MaintenanceResult<K extends MaintenanceJob["kind"]> = z.infer<(typeof MAINTENANCE_RESULTS)[K]>;

/** The answer to a job. */
export function maintenanceAnswerSchema<K extends MaintenanceJob["kind"]>(
  kind: K,
): z.ZodType<{ ok: true; result: MaintenanceResult<K> } | { ok: false; error: z.infer<typeof errorRecordSchema> }> {
  return z.discriminatedUnion("ok", [
    z.strictObject({ ok: z.literal(true), result: MAINTENANCE_RESULTS[kind] }),
    z.strictObject({ ok: z.literal(false), error: errorRecordSchema }),
  ]) as never;
}
