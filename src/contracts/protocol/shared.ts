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

export const PROTOCOL = { runner: 1, channel: 1, client: 1 } as const;
