/**
 * probes.v1: what the server and its probing child say on their private pipe. The child looks and tells what it saw; it stores nothing,
 * knows no schedule, and asks nobody's clock but the server's.
 *
 * Conversation: launch → ready → (probe → [group → registered → … → group.gone →] result)… → stop.
 */
import { z } from "zod";
import { findingSchema } from "../monitor/finding.ts";
import type { MonitorCheck } from "../monitor/probe.ts";

const id = z.number().int().positive();

export const toProbesSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("launch"),
    schema: z.literal("holdpoint.probes-launch.v1"),
    protocol: z.literal(1),
  }),
  z.strictObject({
    type: z.literal("probe"),
    id,
    /** As the server checked it. */
    check: z.custom<MonitorCheck>((value) => typeof value === "object" && value !== null),
    /** From the connection to the last byte. */
    timeoutMs: z.number().int().positive(),
    /** The server's time, for ages of files and certificates. */
    now: z.number().int(),
  }),
  /** The group of probe `id` is registered: its command may start. */
  z.strictObject({ type: z.literal("registered"), id }),
  z.strictObject({ type: z.literal("stop") }),
]);
export type ToProbes = z.infer<typeof toProbesSchema>;

export const fromProbesSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready") }),
  z.strictObject({
    type: z.literal("result"),
    id,
    ok: z.boolean(),
    finding: findingSchema,
    durationMs: z.number().nonnegative(),
  }),
  /** A command waits to be registered. */
  z.strictObject({
    type: z.literal("group"),
    id,
    pid: z.number().int().positive(),
    startIdentity: z.string().max(200),
  }),
  /** Nothing of that group is left. */
  z.strictObject({ type: z.literal("group.gone"), id, outcome: z.string().max(200) }),
]);
export type FromProbes = z.infer<typeof fromProbesSchema>;
