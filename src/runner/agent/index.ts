/**
 * Agent steps without a session of a person: a supervised Pi in RPC mode for each, with the bridge as its only extension.
 *
 * This folder owns the life of that Pi, the conversation with it and the checks of what it submits. It must not store or
 * decide anything about the run: registration, updates and validation are ports.
 */
export { createAgentExecutor } from "./executor.ts";
export { runAgent, type AgentLaunch } from "./headless.ts";
export type { AgentExecutor, AgentExecutorOptions, AgentStepUpdate } from "./types.ts";
