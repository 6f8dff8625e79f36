/** What a monitor is given, and what one observation and one action of it must look like. */
import { progressSchema, type Progress } from "holdpoint";
import { z } from "zod";

const text = (most: number): z.ZodString => z.string().min(1).max(most);
const id = text(256);

/** Exactly these four fields; everything else about a monitor is a setting, a rule or said in the task. */
export const inputSchema = z.strictObject({
  /** What is watched, and what may be done about it. */
  task: text(8_000),
  stopWhen: text(4_000).default("Stop only when the user asks for it."),
  everyMinutes: z.int().min(1).max(1_440).default(30),
  maxChecks: z.int().min(1).max(1_000).default(1_000),
});
export type Given = z.input<typeof inputSchema>;
export type Input = z.infer<typeof inputSchema>;

/** A shared defect in code or data, which is mended by a change of plan and an implementation. */
const defectSchema = z.strictObject({
  /** The same failure has the same id whenever it is seen. */
  failureId: id,
  description: text(8_000),
  /** A folder in the repository that is changed. */
  repository: text(1_000).default("."),
  /** Shell commands that must succeed when it is mended. */
  verify: z.array(text(4_000)).min(1).max(16),
  /** Paid runners that the defect affects. */
  paidRunners: z
    .array(z.strictObject({ id, state: z.enum(["running", "stopped"]) }))
    .max(64)
    .default([]),
});

const actionSchema = z
  .strictObject({
    kind: z.enum(["advance", "recover", "repair"]),
    target: id,
    request: text(8_000),
    /** The words of the task that allow it, as they stand there. */
    authority: z.string().max(2_000).default(""),
    constraints: z.string().max(4_000).default(""),
    cost: z.enum(["none", "paid"]),
    defect: defectSchema.optional(),
  })
  .refine(({ defect, kind }) => kind !== "repair" || defect !== undefined, "a repair needs its defect");

/** One of several things that advance; the key `overall` is a stated aggregate. */
const trackSchema = z
  .strictObject({ key: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/), progress: z.unknown() })
  .transform(({ key, progress }, context): { key: string; progress: Progress } => {
    const parsed = progressSchema.safeParse({ schema: "holdpoint.progress.v1", ...(progress as object | null) });
    if (parsed.success) return { key, progress: parsed.data };
    for (const { message, path } of parsed.error.issues)
      context.addIssue({ code: "custom", path: ["progress", ...path], message });
    return z.NEVER;
  });

export const observationSchema = z
  .strictObject({
    route: z.enum(["wait", "act", "stop"]),
    goalState: z.enum(["complete", "incomplete", "blocked"]),
    workState: z.enum(["running", "waiting", "idle", "failed", "stopped", "unknown"]),
    /** The same state of the target has the same id whenever it is seen. */
    targetStateId: id,
    /** What the task allows; routine work without cost is allowed unless it says otherwise. */
    authorizedActions: z
      .array(z.enum(["advance", "recover", "repair"]))
      .max(3)
      .default(["advance", "recover"]),
    action: actionSchema.optional(),
    observation: text(8_000),
    report: text(4_000),
    reason: text(2_000),
    progress: z.array(trackSchema).max(256).default([]),
  })
  .refine(({ action, route }) => route !== "act" || action !== undefined, "the route act needs an action");
export type Observation = z.infer<typeof observationSchema>;
export type Action = z.infer<typeof actionSchema>;

export const actedSchema = z.strictObject({
  outcome: z.enum(["succeeded", "failed", "blocked"]),
  /** What was done and how that was seen. */
  evidence: text(8_000),
});
export type Acted = z.infer<typeof actedSchema>;

export const OBSERVATION_IN_WORDS = `JSON:
{"route": "wait" | "act" | "stop",
 "goalState": "complete" | "incomplete" | "blocked",
 "workState": "running" | "waiting" | "idle" | "failed" | "stopped" | "unknown",
 "targetStateId": a short id of the state you saw: the same state gets the same id every time,
 "authorizedActions": what the task allows, of "advance", "recover", "repair"; left out: advance and recover; [] when it only wants to be told,
 "action": only with the route "act": {"kind": "advance" | "recover" | "repair", "target", "request": what is to be done,
   "authority": the words of the task that allow it, quoted exactly, "constraints", "cost": "none" | "paid",
   "defect": only for "repair": {"failureId": the same failure gets the same id every time, "description", "repository", "verify": [shell commands that
     must succeed afterwards], "paidRunners": [{"id", "state": "running" | "stopped"}]}},
 "observation": what you saw, for your next check, "report": what the user is told, "reason": why this route,
 "progress": [{"key", "progress": {"label", "status": "pending" | "running" | "waiting" | "blocked" | "completed" | "failed" | "cancelled" | "unknown",
   "phase"?, "completed"?, "total"?, "unit": with counts, "sourceUpdatedAt"?, "sourceEstimatedFinishAt"?}}]; the key "overall" for a stated aggregate}`;
