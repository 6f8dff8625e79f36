/**
 * The definition snapshot: a workflow's graph without its functions, as it is stored, digested and routed by.
 */
import { z } from "zod";
import { ID_PATTERN } from "./ids.ts";

const nodeId = z.string().regex(ID_PATTERN.node).max(200);

/** How an external effect recovers when its outcome is unknown (ARCHITECTURE: effects). */
export const effectRecoverySchema = z.enum(["idempotent", "observed", "manual"]);
export type EffectRecovery = z.infer<typeof effectRecoverySchema>;

export const nodeSnapshotSchema = z.strictObject({
  type: z.enum(["compute", "action", "humanDecision"]),
  /** Milliseconds; null = no limit. */
  timeoutMs: z.number().int().positive().nullable(),
  /** Actions only. */
  effect: z.strictObject({ recovery: effectRecoverySchema, type: z.string().min(1).max(200) }).optional(),
  /** Human decisions only: choice ids in order. */
  choices: z.array(z.string()).optional(),
});
export type NodeSnapshot = z.infer<typeof nodeSnapshotSchema>;

export const edgeSnapshotSchema = z.union([
  z.strictObject({ from: nodeId, to: nodeId }),
  z.strictObject({
    from: nodeId,
    switch: z.strictObject({ on: z.string().min(1).max(200), cases: z.record(z.string(), nodeId) }),
  }),
]);
export type EdgeSnapshot = z.infer<typeof edgeSnapshotSchema>;

export const definitionSnapshotSchema = z.strictObject({
  schema: z.literal("holdpoint.definition-snapshot.v1"),
  name: z.string().min(1).max(200),
  startAt: nodeId,
  maxSteps: z.number().int().positive(),
  nodes: z.record(nodeId, nodeSnapshotSchema),
  edges: z.array(edgeSnapshotSchema),
});
export type DefinitionSnapshot = z.infer<typeof definitionSnapshotSchema>;

/** A source file of a workflow: absolute real path and the SHA-256 (hex) of its bytes. */
export const sourceFileSchema = z.strictObject({ path: z.string().min(1), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
export type SourceFile = z.infer<typeof sourceFileSchema>;
