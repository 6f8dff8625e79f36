/**
 * client.v1: what clients (CLI, viewer, Pi extension) and the server say on server.sock. NDJSON, one object per line.
 * A client sends `hello`, gets `hello`, then sends requests; requests that change something carry an idempotency key
 * and leave a receipt that is committed before success is answered.
 */
import { z } from "zod";
import { WIRE } from "../limits.ts";
import { errorRecordSchema, jsonSchema } from "./shared.ts";

const id = z.string().min(1).max(WIRE.idBytes);

export const helloSchema = z.strictObject({
  type: z.literal("hello"),
  protocol: z.number().int(),
  product: z.string(),
  installPath: z.string(),
  /** From the client: its own id (idempotency scope). From the server: the connection's id. */
  connectionId: id,
});
export type Hello = z.infer<typeof helloSchema>;

/** The envelope; payloads are validated per operation (see operations.ts). */
export const requestSchema = z.strictObject({
  type: z.literal("request"),
  requestId: id,
  operation: z.string().min(1).max(64),
  idempotencyKey: id.optional(),
  expectedRevision: z.number().int().nonnegative().optional(),
  payload: jsonSchema,
});
export type ClientRequest = z.infer<typeof requestSchema>;

export const outcomeSchema = z.enum([
  "accepted",
  "adopted",
  "rejected",
  "conflict",
  "notFound",
  "claimLost",
  "unavailable",
]);

export const responseSchema = z.strictObject({
  type: z.literal("response"),
  requestId: id,
  outcome: outcomeSchema,
  result: jsonSchema.optional(),
  error: errorRecordSchema.optional(),
});
export type ClientResponse = z.infer<typeof responseSchema>;

export const eventSchema = z.strictObject({
  type: z.literal("event"),
  subscriptionId: id,
  event: z.enum(["run", "unavailable"]),
  payload: jsonSchema,
});
export type ClientEvent = z.infer<typeof eventSchema>;

export const toServerSchema = z.discriminatedUnion("type", [helloSchema, requestSchema]);
export type ToServer = z.infer<typeof toServerSchema>;
export const toClientSchema = z.discriminatedUnion("type", [helloSchema, responseSchema, eventSchema]);
export type ToClient = z.infer<typeof toClientSchema>;
