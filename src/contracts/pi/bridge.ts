/**
 * What is said between the runner and the bridge inside Pi: NDJSON frames over a private pair of sockets that Pi inherits
 * as a file descriptor. Nothing but Pi itself holds the other end: what Pi starts does not inherit it.
 */
import { z } from "zod";
import { jsonSchema } from "../protocol/shared.ts";

/** The variable with the bridge's launch document. The bridge takes it out of the environment. */
export const BRIDGE_VARIABLE = "HOLDPOINT_BRIDGE";

export const AGENT_ACTIONS = ["submit", "update"] as const;
export type AgentAction = (typeof AGENT_ACTIONS)[number];

/** How the runner tells the bridge what this step is. */
export const bridgeLaunchSchema = z.strictObject({
  protocol: z.literal(1),
  fd: z.int().min(3),
  actions: z.array(z.enum(AGENT_ACTIONS)).min(1),
  /** Tools besides `workflow` that may be called; null: all. */
  allowedTools: z.array(z.string()).nullable(),
  mark: z.string(),
});
export type BridgeLaunch = z.infer<typeof bridgeLaunchSchema>;

/** CONTRACTS 1.8. */
export const agentUpdateSchema = z.strictObject({
  type: z.string().regex(/^[a-z][a-z0-9.-]{0,63}$/, "must be a lower-case word such as progress"),
  key: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, "must be a name of at most 128 characters"),
  data: z.record(z.string(), jsonSchema),
});
export type AgentUpdate = z.infer<typeof agentUpdateSchema>;

const requestId = z.string().min(1).max(200);

/** One call of the tool, strict for each action: what a model sends, checked a second time after Pi's own check. */
export const toolCallSchema = z.discriminatedUnion("action", [
  z.strictObject({ action: z.literal("submit"), requestId, output: jsonSchema }),
  z.strictObject({ action: z.literal("update"), requestId, update: agentUpdateSchema }),
]);
export type ToolCall = z.infer<typeof toolCallSchema>;

const callId = z.string().min(1).max(256);

export const fromBridgeSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready"), protocol: z.literal(1), pid: z.int().positive() }),
  z.strictObject({ type: z.literal("call"), callId, call: toolCallSchema }),
]);
export type FromBridge = z.infer<typeof fromBridgeSchema>;

export const toBridgeSchema = z.discriminatedUnion("type", [
  /** `end`: the model is not asked again after this call. */
  z.strictObject({ type: z.literal("verdict"), callId, ok: z.boolean(), text: z.string(), end: z.boolean() }),
  /** The runner ends the conversation in good order: the closing of the pipe is not its death. */
  z.strictObject({ type: z.literal("bye") }),
]);
export type ToBridge = z.infer<typeof toBridgeSchema>;
