/** How a pass of a resource manager ended, as its runner tells it. */
import { z } from "zod";
import { RESOURCE } from "../limits.ts";
import { jsonSchema } from "../protocol/shared.ts";
import { conditionInputSchema } from "./model.ts";

/** What a pass says of the status; left out = as it was. `conditions` are all of them: one that is not named is gone. */
const statusSchema = {
  resourceManagerStatus: jsonSchema.optional(),
  conditions: z.array(conditionInputSchema).max(RESOURCE.conditions).optional(),
};

export const reconcileResultSchema = z.discriminatedUnion("outcome", [
  /** Nothing more to do until something asks again. */
  z.strictObject({ outcome: z.literal("settled"), ...statusSchema }),
  /** Another pass as soon as there is room. */
  z.strictObject({ outcome: z.literal("requeue"), ...statusSchema }),
  z.strictObject({
    outcome: z.literal("requeueAfter"),
    delayMs: z.number().int().nonnegative().max(RESOURCE.requeueMaxMs),
    ...statusSchema,
  }),
]);
export type ReconcileResult = z.infer<typeof reconcileResultSchema>;
