/** One intended change of the outside world, as a resource manager asked for it. */
import { z } from "zod";
import { jsonSchema } from "../protocol/shared.ts";

export const managedEffectSchema = z.strictObject({
  /** Chosen by the manager; names this effect among those of its resource. */
  key: z.string(),
  kind: z.string(),
  /** Ours; also the idempotency key for the outside. */
  effectId: z.string(),
  resourceUid: z.string(),
  generation: z.number().int(),
  requestFingerprint: z.string(),
  /** `indeterminate`: nobody knows whether it happened; the next pass looks. */
  state: z.enum(["pending", "applied", "rejected", "indeterminate"]),
  /** What the outside calls what was made. */
  externalRef: z.string().optional(),
  output: jsonSchema.optional(),
  error: z.string().optional(),
  startedAt: z.string(),
  completedAt: z.string().optional(),
});
export type ManagedEffect = z.infer<typeof managedEffectSchema>;
