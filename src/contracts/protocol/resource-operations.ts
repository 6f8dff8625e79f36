/** The operations of client.v1 on managed resources. Spread into the table of all operations. */
import { z } from "zod";
import { PAGE, RESOURCE } from "../limits.ts";
import { managedEffectSchema } from "../resource/effect.ts";
import { childStateSchema, managedResourceSchema } from "../resource/model.ts";
import { errorRecordSchema, jsonSchema, operation } from "./shared.ts";

const time = z.number().int();
const outcomeSchema = z.enum(["settled", "requeue", "requeueAfter", "failed"]);

/** What a list shows of a resource. Times are milliseconds since the epoch. */
export const resourceSummarySchema = z.strictObject({
  uid: z.string(),
  manager: z.string(),
  key: z.string(),
  generation: z.number().int(),
  observedGeneration: z.number().int(),
  /** Of the condition `Ready`, if its manager has one; `unknown` while the present spec was not looked at yet. */
  ready: z.enum(["true", "false", "unknown"]).nullable(),
  readyReason: z.string().nullable(),
  /** How its last pass ended. */
  outcome: outcomeSchema.nullable(),
  reconciledAt: time.nullable(),
  createdAt: time,
  updatedAt: time,
  /** Its deletion was requested. */
  deletionAt: time.nullable(),
  /** When its next pass is due; null = when something asks for it. */
  nextAt: time.nullable(),
  /** Consecutive passes that failed. */
  failures: z.number().int(),
  reconciling: z.boolean(),
});
export type ResourceSummary = z.infer<typeof resourceSummarySchema>;

export const resourceDetailSchema = z.strictObject({
  resource: managedResourceSchema,
  projectPath: z.string(),
  /** The manager's file, or `builtin:<name>@<revision>`. */
  source: z.string(),
  sourcesDigest: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  queue: z
    .strictObject({ availableAt: time, reason: z.string(), failures: z.number().int(), reconciling: z.boolean() })
    .nullable(),
  lastPass: z
    .strictObject({
      at: time,
      outcome: outcomeSchema,
      durationMs: z.number().int(),
      error: errorRecordSchema.nullable(),
    })
    .nullable(),
  /** The newest, newest first. */
  effects: z.array(managedEffectSchema),
  /** Oldest first. */
  children: z.array(
    z.strictObject({
      requestKey: z.string(),
      workflow: z.string(),
      runId: z.string(),
      state: childStateSchema,
      attempts: z.number().int(),
      error: errorRecordSchema.nullable(),
      completedAt: time.nullable(),
    }),
  ),
  /** The newest, newest first. */
  events: z.array(
    z.strictObject({
      index: z.number().int(),
      type: z.string(),
      actorType: z.string(),
      at: time,
      payload: jsonSchema,
    }),
  ),
});
export type ResourceDetail = z.infer<typeof resourceDetailSchema>;

const manager = z.string().min(1).max(RESOURCE.nameChars);
const key = z.string().min(1).max(RESOURCE.keyChars);
const projectPath = z.string().min(1).max(4_096);
const ref = z.strictObject({ projectPath, manager, key });

export const RESOURCE_OPERATIONS = {
  /** The resources of one project, in order of manager and key. */
  "resourceManager.list": operation(
    false,
    z.strictObject({
      projectPath,
      manager: manager.nullable(),
      after: z.strictObject({ manager, key }).nullable(),
      limit: z.number().int().min(1).max(PAGE.rows),
    }),
    z.strictObject({ resources: z.array(resourceSummarySchema), more: z.boolean() }),
  ),
  "resourceManager.get": operation(false, ref, resourceDetailSchema),
  /** The manager's code is looked up, loaded and asked for the initial status in a process of its own before anything is stored. */
  "resourceManager.apply": operation(
    true,
    ref.extend({
      spec: jsonSchema,
      /** The manager's file, when it is not found by its name. */
      path: z.string().min(1).max(4_096).nullable(),
      /** The version that the caller had read; 0 = the resource must be new; null = whatever it is. */
      expectedVersion: z.number().int().nonnegative().nullable(),
    }),
    z.strictObject({
      uid: z.string(),
      resourceVersion: z.number().int(),
      generation: z.number().int(),
      outcome: z.enum(["created", "changed", "unchanged"]),
    }),
  ),
  /** Asks for a pass at once. */
  "resourceManager.reconcile": operation(true, ref, z.strictObject({ availableAt: time })),
  /** Makes the queue again from the resources of all projects: each that does not wait for a pass gets one. */
  "resourceManager.rebuildQueue": operation(true, z.strictObject({}), z.strictObject({ queued: z.number().int() })),
  "resourceManager.delete": operation(
    true,
    ref,
    z.strictObject({ uid: z.string(), deleted: z.boolean(), finalizers: z.array(z.string()) }),
  ),
} as const;
