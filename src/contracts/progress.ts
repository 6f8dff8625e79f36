/** Progress, the update type that the product itself understands: `holdpoint.progress.v1`. */
import { z } from "zod";
import { PROGRESS } from "./limits.ts";

/** Type of the update that carries progress. */
export const PROGRESS_TYPE = "progress";

const SCHEMAS = ["holdpoint.progress.v1", "pi-workflows.progress.v1"] as const;

/** Milliseconds since the epoch; ISO 8601 with a zone is accepted and made that. */
const time = z.union([
  z.number().int().nonnegative(),
  z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
]);

export const progressStatusSchema = z.enum([
  "pending",
  "running",
  "waiting",
  "blocked",
  "completed",
  "failed",
  "cancelled",
  "unknown",
]);
export type ProgressStatus = z.infer<typeof progressStatusSchema>;

/** Nothing more is to come. */
export function isTerminal(status: ProgressStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

export const progressSchema = z
  .strictObject({
    schema: z.enum(SCHEMAS).transform(() => SCHEMAS[0]),
    label: z.string().min(1).max(PROGRESS.labelChars),
    status: progressStatusSchema,
    phase: z.string().min(1).max(PROGRESS.phaseChars).optional(),
    completed: z.number().nonnegative().optional(),
    total: z.number().positive().optional(),
    unit: z.string().min(1).max(PROGRESS.unitChars).optional(),
    /** When the source of these numbers measured them. */
    sourceUpdatedAt: time.optional(),
    /** When the source itself expects to be done. */
    sourceEstimatedFinishAt: time.optional(),
  })
  .superRefine(({ completed, total, unit }, context) => {
    const issue = (path: string, message: string): void => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    if (completed !== undefined && total !== undefined && completed > total)
      issue("completed", `is ${completed}, more than the total of ${total}`);
    if (unit === undefined && (completed !== undefined || total !== undefined)) issue("unit", "is needed with counts");
  });
export type Progress = z.infer<typeof progressSchema>;
