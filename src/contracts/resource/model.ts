/**
 * A managed resource: the durable record of one requested outcome. Callers own `spec`, its resource manager owns `status`. Times in
 * it are ISO 8601 in UTC, as everything an author sees.
 */
import { z } from "zod";
import { HoldpointError } from "../errors.ts";
import { RESOURCE } from "../limits.ts";
import { jsonSchema } from "../protocol/shared.ts";

/** Name of a resource manager. */
export const MANAGER_NAME = /^[a-z][a-z0-9-]*$/;
/** A condition's type and reason, and a finalizer: one word, with a domain in front if it must be unique. */
const WORD = /^[A-Za-z][A-Za-z0-9._/-]*$/;

const word = z.string().regex(WORD).max(RESOURCE.wordChars);
export const conditionStatusSchema = z.union([z.boolean(), z.literal("unknown")]);

/** What a reconcile says of one condition type. */
export const conditionInputSchema = z.strictObject({
  type: word,
  status: conditionStatusSchema,
  reason: word,
  message: z.string().max(RESOURCE.messageChars).optional(),
});
export type ConditionInput = z.infer<typeof conditionInputSchema>;

export const conditionSchema = conditionInputSchema.extend({
  /** The generation of the spec that it was found for. */
  observedGeneration: z.number().int().nonnegative(),
  /** When `status` last changed. */
  lastTransitionTime: z.string(),
});
export type ManagedResourceCondition = z.infer<typeof conditionSchema>;

export const finalizerSchema = word;

export const childStateSchema = z.enum(["pending", "running", "waiting", "succeeded", "failed", "interrupted"]);

export const managedResourceSchema = z.strictObject({
  metadata: z.strictObject({
    /** Stable for the life of the resource, never used again. */
    uid: z.string(),
    resourceManager: z.string(),
    key: z.string(),
    /** Changes with every write. */
    resourceVersion: z.number().int().nonnegative(),
    /** Changes only with the spec. */
    generation: z.number().int().positive(),
    deletionTimestamp: z.string().optional(),
    finalizers: z.array(finalizerSchema),
  }),
  spec: jsonSchema,
  status: z.strictObject({
    /** The generation that this status was found for; 0 before the first pass. */
    observedGeneration: z.number().int().nonnegative(),
    conditions: z.array(conditionSchema),
    /** The child run that was asked for last. */
    workflowRun: z
      .strictObject({
        requestId: z.string(),
        runId: z.string().optional(),
        state: childStateSchema,
        attempt: z.number().int().nonnegative(),
      })
      .optional(),
    resourceManagerStatus: jsonSchema,
  }),
});
export type StoredResource = z.infer<typeof managedResourceSchema>;

/** The condition type that lists show. */
export const READY = "Ready";

/** Throws `resourceInvalid` for a name or key that cannot be. */
export function checkResourceName(manager: string, key: string): void {
  if (!MANAGER_NAME.test(manager) || manager.length > RESOURCE.nameChars)
    throw new HoldpointError(
      "resourceInvalid",
      `"${manager.slice(0, 80)}" is no name of a resource manager: small letters, digits and hyphens, at most ${RESOURCE.nameChars}.`,
    );
  if (key.length > RESOURCE.keyChars)
    throw new HoldpointError(
      "resourceInvalid",
      `A resource key has ${key.length} characters; the limit is ${RESOURCE.keyChars}.`,
      { details: { limit: RESOURCE.keyChars, seen: key.length } },
    );
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (key === "" || key.trim() !== key || /[\u0000-\u001f\u007f]/.test(key))
    throw new HoldpointError(
      "resourceInvalid",
      "A resource key is text without control characters and without spaces at its ends.",
    );
}
