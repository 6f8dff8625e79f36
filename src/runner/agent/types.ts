/** What the executor of agent steps needs from its surroundings; step and outcome are the engine's. */
import type { AgentStep } from "../../contracts/agent-step.ts";
import type { PiConfig } from "../../contracts/config.ts";
import type { AgentUpdate } from "../../contracts/pi/bridge.ts";
import type { AgentOutcome, EngineTimers, Validate } from "../../workflow/engine/index.ts";

/** An update of an agent, with the attempt that it belongs to and the call that makes it idempotent. */
export interface AgentStepUpdate {
  readonly nodeId: string;
  readonly visit: number;
  readonly attempt: number;
  readonly toolCallId: string;
  readonly update: AgentUpdate;
}

export interface AgentExecutorOptions {
  readonly runId: string;
  /** Where agents work. */
  readonly cwd: string;
  /** A folder for this run's sessions, as `agentFolder` names it; it is made when it is needed. */
  readonly folder: string;
  readonly pi: PiConfig;
  /**
   * Registers a child durably. Nothing is prompted before the promise resolves; when it rejects, the child is ended
   * and the step rejects with that error.
   */
  register(pid: number, startIdentity: string): Promise<void>;
  /** The child and everything that belonged to it are gone. */
  unregister(pid: number, startIdentity: string): Promise<void>;
  /** Stores an update; its message goes to the model when it rejects. Left out: updates are refused. */
  publishUpdate?(update: AgentStepUpdate): Promise<unknown>;
  /** By which time limits are measured; left out: the process's. */
  readonly timers?: EngineTimers;
}

export interface AgentExecutor {
  /** An allow-list of tools is enforced, not only asked for. */
  readonly enforcesAllowedTools: true;
  /**
   * Executes one step. Resolves only when nothing of the agent runs any more. After `signal` was aborted the outcome is
   * `failed` with `agentStopped`. Rejects only for what is not the agent's doing: the registration refused, a process
   * that cannot be killed.
   */
  run(step: AgentStep, validate: Validate, signal: AbortSignal): Promise<AgentOutcome>;
  /** Stops every step and waits for its end; later steps are refused. */
  close(): Promise<void>;
}
