/** Pieces that several protocols use. */
import { z } from "zod";

/** Any JSON value; depth and size are bounded by the frame. */
export const jsonSchema: z.ZodType<JsonValue> = z.custom<JsonValue>((value) => value !== undefined);
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

export const errorRecordSchema = z.strictObject({
  code: z.string(),
  kind: z.string(),
  message: z.string(),
  remedy: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** A value that is too large for its frame: SHA-256 (hex) and length of its canonical JSON, which travels in parts. */
export const contentRefSchema = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().nonnegative(),
});
export type ContentRef = z.infer<typeof contentRefSchema>;

export const PROTOCOL = { runner: 1, channel: 1, client: 1 } as const;

/** An operation of client.v1: whether it changes something, what it takes and what it gives. */
// oxlint-disable-next-line explicit-function-return-type -- the schemas are the type
export const operation = <P, R>(change: boolean, payload: z.ZodType<P>, result: z.ZodType<R>) => ({
  change,
  payload,
  result,
});
