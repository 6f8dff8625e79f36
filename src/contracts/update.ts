/**
 * Updates: what a running node says about itself. They inform; they never route, become an output or start a turn.
 * Here are their form and the current projection; admission is in workflow/rules.
 */
import { z } from "zod";
import { canonicalJson } from "./canonical.ts";
import { HoldpointError } from "./errors.ts";
import { UPDATE } from "./limits.ts";
import { PROGRESS_TYPE, progressSchema } from "./progress.ts";
import { jsonSchema } from "./protocol/shared.ts";

export const updateEnvelopeSchema = z.strictObject({
  type: z.string().regex(/^[a-z][a-z0-9.-]{0,63}$/),
  key: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/),
  data: z.record(z.string(), jsonSchema),
});
export type UpdateEnvelope = z.infer<typeof updateEnvelopeSchema>;

export const updateReceiptSchema = z.strictObject({
  updateId: z.string(),
  /** Number of the update in its run, without gaps. */
  seq: z.number().int().nonnegative(),
  /** Milliseconds since the epoch, by the server's clock. */
  at: z.number(),
  type: z.string(),
  key: z.string(),
});
export type UpdateReceipt = z.infer<typeof updateReceiptSchema>;

/**
 * A checked envelope (CONTRACTS 1.8). Data of the type `progress` must be `holdpoint.progress.v1`.
 *
 * @throws HoldpointError `updateRefused` that names the field, and the limit with the value seen.
 */
export function parseUpdate(given: unknown): UpdateEnvelope {
  const parsed = updateEnvelopeSchema.safeParse(given);
  if (!parsed.success) throw refused(parsed.error);
  const envelope = parsed.data;
  const bytes = Buffer.byteLength(canonicalJson(envelope.data));
  if (bytes > UPDATE.dataBytes) {
    throw new HoldpointError(
      "updateRefused",
      `The data of an update has ${bytes} bytes; the limit is ${UPDATE.dataBytes}.`,
      {
        details: { limit: UPDATE.dataBytes, seen: bytes },
      },
    );
  }
  if (envelope.type !== PROGRESS_TYPE) return envelope;
  const progress = progressSchema.safeParse(envelope.data);
  if (!progress.success) throw refused(progress.error, "data.");
  return { ...envelope, data: progress.data };
}

/** What the current projection is keyed by. */
export function updateSlot({ type, key }: { readonly type: string; readonly key: string }): string {
  return `${type}\0${key}`;
}

function refused(error: z.ZodError, prefix = ""): HoldpointError {
  const issue = error.issues[0];
  const path = `${prefix}${issue?.path.map(String).join(".") ?? ""}`;
  return new HoldpointError(
    "updateRefused",
    `The update is not valid at ${path || "its root"}: ${issue?.message ?? "unknown"}.`,
    {
      details: { path },
    },
  );
}
