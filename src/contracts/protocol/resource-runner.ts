/**
 * What a resource runner and the server say on their private pipe.
 * One pass: reconcile → value (spec), value (status) → runner.ready | runner.failed → (effect.* | workflow.* | finalizer.set → reply)… →
 * (value) → runner.finished | runner.failed, and then `released` when the process may take another pass, else it exits.
 * Or, in a process that makes no passes: resolve → value (status), resolved → released; after runner.failed it exits.
 */
import { z } from "zod";
import { sourceFileSchema } from "../definition.ts";
import { RESOURCE } from "../limits.ts";
import { finalizerSchema, managedResourceSchema } from "../resource/model.ts";
import { reconcileResultSchema } from "../resource/result.ts";
import { errorRecordSchema, jsonSchema } from "./shared.ts";

const requestKey = z.string().min(1).max(RESOURCE.keyChars);
const messageId = z.number().int().nonnegative();

/** A manager's file as it was approved. */
const approvedSchema = z.strictObject({
  projectPath: z.string(),
  path: z.string(),
  sources: z.array(sourceFileSchema),
  /** Folder in which the contents of `sources` lie under their SHA-256. */
  sourcesDir: z.string(),
  cacheDir: z.string().nullable(),
});

export const reconcileLaunchSchema = approvedSchema.extend({
  type: z.literal("reconcile"),
  schema: z.literal("holdpoint.reconcile-launch.v1"),
  protocol: z.literal(1),
  reconcileId: z.string(),
  manager: z.string(),
  /** The resource without its spec and its manager's status, each of which follows in a frame of its own. */
  resource: managedResourceSchema,
  /** Keys of effects that earlier passes began and whose end is not known. */
  openEffects: z.array(z.string()),
});
export type ReconcileLaunch = z.infer<typeof reconcileLaunchSchema>;

export const resolveSchema = z.strictObject({
  type: z.literal("resolve"),
  schema: z.literal("holdpoint.resolve.v1"),
  protocol: z.literal(1),
  projectPath: z.string(),
  manager: z.string(),
  path: z.string().nullable(),
  cacheDir: z.string().nullable(),
  spec: jsonSchema,
});
export type ResolveLaunch = z.infer<typeof resolveSchema>;

const valueSchema = z.strictObject({
  type: z.literal("value"),
  of: z.enum(["spec", "status"]),
  value: jsonSchema,
});

export const toResourceRunnerSchema = z.discriminatedUnion("type", [
  reconcileLaunchSchema,
  resolveSchema,
  valueSchema,
  /** To the request with this id; `result` by the kind of the request, or `error`. */
  z.strictObject({
    type: z.literal("reply"),
    messageId,
    result: jsonSchema.optional(),
    error: errorRecordSchema.optional(),
  }),
  /** The time of the pass is over: its signal is aborted, and its process ended soon. */
  z.strictObject({ type: z.literal("abort"), reason: z.string() }),
]);
export type ToResourceRunner = z.infer<typeof toResourceRunnerSchema>;

/** What a pass asks of the server. */
export const passRequestSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("effect.reserve"),
    messageId,
    key: z.string().min(1).max(RESOURCE.effectKeyChars),
    kind: z.string().min(1).max(200),
    request: jsonSchema,
  }),
  z.strictObject({
    type: z.literal("effect.settle"),
    messageId,
    effectId: z.string(),
    attempt: z.number().int().positive(),
    outcome: z.enum(["applied", "rejected", "notApplied", "uncertain"]),
    externalRef: z.string().max(2_000).optional(),
    output: jsonSchema.optional(),
    error: errorRecordSchema.optional(),
  }),
  z.strictObject({
    type: z.literal("workflow.ensure"),
    messageId,
    requestKey,
    workflow: z.string().min(1),
    workflowPath: z.string().min(1),
    input: jsonSchema,
  }),
  z.strictObject({
    type: z.literal("workflow.cancel"),
    messageId,
    requestKey,
    reason: z.string().max(RESOURCE.reasonChars).optional(),
  }),
  z.strictObject({
    type: z.literal("workflow.changeSettings"),
    messageId,
    requestKey,
    changeKey: requestKey,
    mount: z.string(),
    patch: jsonSchema,
    expectedChangeNumber: z.number().int().nonnegative().nullable(),
  }),
  z.strictObject({
    type: z.literal("workflow.queueFollowUp"),
    messageId,
    requestKey,
    followUpKey: requestKey,
    prompt: z.string(),
  }),
  z.strictObject({
    type: z.literal("workflow.removeFollowUp"),
    messageId,
    requestKey,
    followUpId: z.string(),
  }),
  z.strictObject({
    type: z.literal("finalizer.set"),
    messageId,
    finalizer: finalizerSchema,
    present: z.boolean(),
  }),
]);
export type PassRequest = z.infer<typeof passRequestSchema>;

export const fromResourceRunnerSchema = z.discriminatedUnion("type", [
  /** The manager is loaded, and its pass begins. */
  z.strictObject({ type: z.literal("runner.ready"), timeoutMs: z.number().int().positive() }),
  ...passRequestSchema.options,
  /** The status that the next `runner.finished` carries. */
  valueSchema,
  z.strictObject({ type: z.literal("runner.finished"), result: reconcileResultSchema }),
  z.strictObject({ type: z.literal("runner.failed"), error: errorRecordSchema }),
  z.strictObject({
    type: z.literal("resolved"),
    /** Without links. */
    path: z.string(),
    sources: z.array(sourceFileSchema),
  }),
  z.strictObject({ type: z.literal("released") }),
  z.strictObject({ type: z.literal("exiting"), reason: z.string() }),
]);
export type FromResourceRunner = z.infer<typeof fromResourceRunnerSchema>;
