/**
 * Agent steps of this runner, one executor for each: its Pi is registered with the server for the step it works on, and
 * what ends the runner ends it too. The server ends what outlives the runner, since it is registered there.
 */
import type { AgentStep } from "../../contracts/agent-step.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { RunnerLaunch } from "../../contracts/protocol/runner.ts";
import { parseUpdate, type UpdateEnvelope } from "../../contracts/update.ts";
import type { AgentOutcome, Validate } from "../../workflow/engine/index.ts";
import { beforeLeaving } from "../leaving.ts";
import type { Registrar } from "../shell/index.ts";
import { createAgentExecutor } from "./executor.ts";
import { agentFolder } from "./session-folder.ts";
import type { AgentExecutor } from "./types.ts";

export type AgentLaunch = Pick<RunnerLaunch, "runId" | "pi" | "agentsDir" | "interactive">;

/** How a step reaches the server. */
export interface AgentPorts extends Registrar {
  /** Stores an update; `sourceId` makes it idempotent. Rejects with the reason for the model. */
  publish(envelope: UpdateEnvelope, sourceId: string): Promise<unknown>;
}

const working = new Set<AgentExecutor>();
/** Process groups of agents that may live. */
const groups = new Set<number>();

/**
 * Executes a step in the present working folder, as `EngineHost.runAgent`.
 *
 * @throws HoldpointError `piUnavailable` when the launch named no Pi; what the registration rejects with.
 */
export async function runAgent(
  step: AgentStep,
  { agentsDir, pi, runId }: AgentLaunch,
  ports: AgentPorts,
  validate: Validate,
  signal: AbortSignal,
): Promise<AgentOutcome> {
  if (!pi || !agentsDir) {
    throw new HoldpointError("piUnavailable", `Node "${step.nodeId}" needs an agent, and this runner was given no Pi.`);
  }
  let processId: string | undefined;
  const executor = createAgentExecutor({
    runId,
    cwd: process.cwd(),
    folder: agentFolder(agentsDir, runId),
    pi: { command: pi.command, ...(pi.agentDir === null ? {} : { agentDir: pi.agentDir }) },
    register: async (pid, startIdentity) => {
      groups.add(pid);
      processId = await ports.register(pid, startIdentity);
    },
    unregister: async (pid) => {
      groups.delete(pid);
      if (processId !== undefined) await ports.unregister(processId, "ended");
    },
    publishUpdate: ({ toolCallId, update }) => ports.publish(parseUpdate(update), toolCallId),
  });
  working.add(executor);
  try {
    return await executor.run(step, validate, signal);
  } finally {
    working.delete(executor);
  }
}

async function closeAll(): Promise<void> {
  await Promise.all([...working].map((executor) => executor.close()));
}

function signalAll(): void {
  for (const pid of groups) {
    try {
      process.kill(-pid, "SIGTERM");
    } catch {
      // Gone.
    }
  }
}

beforeLeaving({ tidy: () => (working.size === 0 ? undefined : closeAll()), atOnce: signalAll });
