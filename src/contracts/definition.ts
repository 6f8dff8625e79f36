/**
 * The definition snapshot: a workflow's graph without its functions, as it is stored, digested and routed by. Included
 * workflows are flattened into it: ids of their nodes are paths, `mount/node`.
 */
import { z } from "zod";
import { severitySchema } from "./alert.ts";
import { INCLUDE } from "./limits.ts";
import { settingsSnapshotSchema } from "./settings.ts";

/** Node ids joined with slashes; the last one is the node, those before it are mounts. */
const PATH = /^[A-Za-z_][A-Za-z0-9_-]*(?:\/[A-Za-z_][A-Za-z0-9_-]*)*$/;
const nodePath = z.string().regex(PATH).max(INCLUDE.pathChars);

/** How an external effect recovers when its outcome is unknown (ARCHITECTURE: effects). */
export const effectRecoverySchema = z.enum(["idempotent", "observed", "manual"]);
export type EffectRecovery = z.infer<typeof effectRecoverySchema>;

export const nodeTypeSchema = z.enum([
  "compute",
  "action",
  "shell",
  "agent",
  "notify",
  "checkpoint",
  "sleep",
  "humanDecision",
  "settingsRoute",
]);
export type NodeType = z.infer<typeof nodeTypeSchema>;

export const nodeSnapshotSchema = z.strictObject({
  type: nodeTypeSchema,
  /** Milliseconds; null = no limit, or one that is computed when the node starts (`dynamicTimeout`). */
  timeoutMs: z.number().int().positive().nullable(),
  dynamicTimeout: z.literal(true).optional(),
  /** Actions and shell nodes only. */
  effect: z.strictObject({ recovery: effectRecoverySchema, type: z.string().min(1).max(200) }).optional(),
  /** Human decisions, and agents that choose a route: choice ids in order. */
  choices: z.array(z.string()).optional(),
  /** Agents that choose: the field of the output that holds the choice; `choice` for human decisions. */
  choiceField: z.string().optional(),
  /** Agents only: what the output is, and which tools are allowed (null: the executor's usual set). */
  agent: z
    .strictObject({
      output: z.enum(["submit", "assistantMessage"]),
      allowedTools: z.array(z.string()).nullable(),
    })
    .optional(),
  /** Notifications only. */
  notify: z
    .strictObject({
      kind: z.enum(["progress", "final"]),
      audience: z.string().optional(),
      severity: severitySchema.optional(),
      keyed: z.literal(true).optional(),
      silent: z.literal(true).optional(),
    })
    .optional(),
});
export type NodeSnapshot = z.infer<typeof nodeSnapshotSchema>;

export const edgeSnapshotSchema = z.union([
  z.strictObject({ from: nodePath, to: nodePath }),
  z.strictObject({
    from: nodePath,
    switch: z.strictObject({ on: z.string().min(1).max(200), cases: z.record(z.string(), nodePath) }),
  }),
]);
export type EdgeSnapshot = z.infer<typeof edgeSnapshotSchema>;

/** One mount: which workflow is there, and what the graph alone does not say about it. */
export const includeSnapshotSchema = z.strictObject({
  workflow: z.string().min(1).max(200),
  contractId: z.string().min(1).max(200).optional(),
  /** `import.meta.url` of its file. Not part of the digest: the same workflow elsewhere is the same graph. */
  source: z.string().optional(),
  /** How many nodes one invocation may execute, those of mounts inside it counted. */
  maxSteps: z.number().int().positive(),
  /** Exit → full path of the node that leaves through it. */
  exits: z.record(z.string(), nodePath),
  settings: settingsSnapshotSchema.optional(),
});
export type IncludeSnapshot = z.infer<typeof includeSnapshotSchema>;

export const definitionSnapshotSchema = z.strictObject({
  schema: z.literal("holdpoint.definition-snapshot.v1"),
  name: z.string().min(1).max(200),
  contractId: z.string().min(1).max(200).optional(),
  startAt: nodePath,
  maxSteps: z.number().int().positive(),
  nodes: z.record(nodePath, nodeSnapshotSchema),
  edges: z.array(edgeSnapshotSchema),
  /** Full mount path → what is mounted there. */
  includes: z.record(nodePath, includeSnapshotSchema).optional(),
  /** Exit → full path of its node, for whoever mounts this workflow. */
  exits: z.record(z.string(), nodePath).optional(),
  settings: settingsSnapshotSchema.optional(),
});
export type DefinitionSnapshot = z.infer<typeof definitionSnapshotSchema>;

/** A source file of a workflow: absolute real path and the SHA-256 (hex) of its bytes. */
export const sourceFileSchema = z.strictObject({ path: z.string().min(1), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
export type SourceFile = z.infer<typeof sourceFileSchema>;
