/** Headless execution of agent steps: one Pi for each step, registered before it is prompted, gone before the step ends. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { TOOL_NAME, type AgentStep } from "../../contracts/agent-step.ts";
import { HoldpointError, isHoldpointError, type ErrorKind } from "../../contracts/errors.ts";
import { shortId } from "../../contracts/ids.ts";
import { AGENT, PROCESS } from "../../contracts/limits.ts";
import { endTree } from "../../contracts/process-tree.ts";
import { processTimers, type AgentOutcome, type Validate } from "../../workflow/engine/index.ts";
import { ActiveTime } from "./active-time.ts";
import { Conversation } from "./conversation.ts";
import { PiProcess } from "./pi-process.ts";
import { openSessionFolder, SESSION_ID, type SessionFolder } from "./session-folder.ts";
import type { AgentExecutor, AgentExecutorOptions } from "./types.ts";

/** A name that Pi's option takes as just that: no pattern, list, addition or removal. */
const TOOL_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$/;

export function createAgentExecutor(options: AgentExecutorOptions): AgentExecutor {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    enforcesAllowedTools: true,
    run(step, validate, signal) {
      const work = execute(options, step, validate, AbortSignal.any([signal, closing.signal]));
      running.add(work);
      const forget = (): boolean => running.delete(work);
      work.then(forget, forget);
      return work;
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}

async function execute(
  options: AgentExecutorOptions,
  step: AgentStep,
  validate: Validate,
  signal: AbortSignal,
): Promise<AgentOutcome> {
  if (signal.aborted) return stopped(step);
  const active = new ActiveTime(step.timeoutMs, options.timers ?? processTimers);
  const { ignore, stop } = stopOf(step, signal);
  try {
    checkTools(step);
    const folder = await openSessionFolder(options.folder, step);
    const mark = `${options.runId}/${step.nodeId}/${step.visit}`;
    // Whatever an earlier attempt of this visit left behind would write into the same session and the same files.
    await endTree({ pid: null, startIdentity: null, mark }, PROCESS.killGraceMs, AGENT.goneMs);
    const pi = await PiProcess.start({
      pi: options.pi,
      cwd: step.cwd ?? options.cwd,
      args: argumentsFor(step, folder),
      bridge: {
        actions: step.contract.kind === "submit" ? ["submit", "update"] : ["update"],
        allowedTools: step.allowedTools === null ? null : [...step.allowedTools],
        mark,
      },
    });
    const requestId = shortId("q", `${mark}/${step.attempt}`);
    const conversation = new Conversation(pi, {
      step,
      requestId,
      // An earlier attempt may have been killed before Pi wrote anything down.
      reason: folder.begun || step.attempt > 1 ? "resumed" : "initial",
      active,
      validate,
      publishUpdate: options.publishUpdate?.bind(options),
    });
    const { pid } = pi;
    const identity = pi.child.startIdentity ?? "gone";
    let registered = false;
    try {
      await options.register(pid, identity);
      registered = true;
      return await Promise.race([
        stop,
        active.over.then(() => timedOut(step)),
        conversation.lead(),
        pi.ended.then((how) => died(step, pi, how)),
      ]);
    } finally {
      conversation.stop();
      await pi.end(conversation.settled);
      if (registered) await options.unregister(pid, identity);
    }
  } catch (error) {
    if (!isHoldpointError(error) || !OUTCOMES.has(error.kind)) throw error;
    return { outcome: "failed", error: error.toRecord() };
  } finally {
    active.end();
    ignore();
  }
}

/** Errors that are the step's result; others are not its doing. */
const OUTCOMES: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["agentFailed", "workflowInvalid"]);

function timedOut({ nodeId: node, timeoutMs }: AgentStep): AgentOutcome {
  const message = `The agent of node "${node}" was at work longer than its timeout of ${timeoutMs} ms.`;
  const error = new HoldpointError("nodeTimedOut", message, { details: { node, limit: timeoutMs } });
  return { outcome: "timed_out", error: error.toRecord() };
}

/** Resolves when the step is stopped. */
function stopOf(step: AgentStep, signal: AbortSignal): { stop: Promise<AgentOutcome>; ignore(): void } {
  let ignore = (): void => {};
  const stop = new Promise<AgentOutcome>((resolve) => {
    const abort = (): void => resolve(stopped(step));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    ignore = () => signal.removeEventListener("abort", abort);
  });
  return { stop, ignore };
}

function stopped({ nodeId: node }: AgentStep): AgentOutcome {
  const error = new HoldpointError("agentStopped", `The agent of node "${node}" was stopped.`, { details: { node } });
  return { outcome: "failed", error: error.toRecord() };
}

function died({ nodeId: node }: AgentStep, pi: PiProcess, how: string): AgentOutcome {
  const said = pi.diagnostic === "" ? "It said nothing." : pi.diagnostic;
  const error = new HoldpointError("agentFailed", `Pi ${how} in the middle of node "${node}". ${said}`, {
    details: { node },
  });
  return { outcome: "failed", error: error.toRecord() };
}

function checkTools({ allowedTools, nodeId }: AgentStep): void {
  if (allowedTools === null) return;
  if (allowedTools.length > AGENT.tools) {
    throw new HoldpointError(
      "workflowInvalid",
      `Node "${nodeId}" allows ${allowedTools.length} tools; the limit is ${AGENT.tools}.`,
    );
  }
  const wrong = allowedTools.find((name) => !TOOL_PATTERN.test(name));
  if (wrong !== undefined) {
    throw new HoldpointError("workflowInvalid", `Node "${nodeId}" allows "${wrong}", which is not the name of a tool.`);
  }
}

/**
 * Pi's options (its cli.md): the extensions of the user, the project and Pi itself stay out, the bridge alone comes in. An
 * extension of a user could start workflows or speak to people in the middle of one.
 */
function argumentsFor({ allowedTools }: AgentStep, folder: SessionFolder): string[] {
  const session = ["--session-dir", folder.path, "--session-id", SESSION_ID];
  const tools = allowedTools === null ? [] : ["--tools", [TOOL_NAME, ...allowedTools].join(",")];
  return ["--mode", "rpc", "--no-extensions", "--extension", bridgePath(), ...session, ...tools];
}

/** The bridge as built, or its source when we run from the sources; Pi loads both. */
function bridgePath(): string {
  const built = fileURLToPath(new URL("../../../adapters/pi/bridge/main.js", import.meta.url));
  return existsSync(built) ? built : built.replace(/\.js$/, ".ts");
}
