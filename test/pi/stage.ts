/** What a case gets: folders of its own, a scripted model, an executor as the runner would make it, and what it did. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentStep } from "../../src/contracts/agent-step.ts";
import type * as Agent from "../../src/runner/agent/index.ts";
import type { AgentOutcome, Validate } from "../../src/workflow/engine/index.ts";
import { membersOf, runMark } from "../../src/contracts/process-tree.ts";
import type { JsonValue } from "../../src/contracts/protocol/shared.ts";
import type { MockModel, MockServer, Script } from "./mock-model.ts";

export { checkPi } from "../../src/contracts/pi/check.ts";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../../dist");
// What was built is what runs.
const agent = (await import(join(dist, "src/runner/agent/index.js"))) as typeof Agent;

/** The live processes of a run's agents. */
export function processesOf(runId: string): number[] {
  return membersOf({ pid: null, startIdentity: null, mark: runMark(runId) });
}

export class Stage {
  readonly runId: string;
  readonly folder: string;
  readonly cwd: string;
  readonly agentDir: string;
  readonly model: MockModel;
  readonly command: readonly string[];
  /** What happened, in order: `registered`, `unregistered`, and what cases add. */
  readonly log: string[] = [];
  readonly updates: Agent.AgentStepUpdate[] = [];
  readonly stop = new AbortController();
  publishUpdate: (update: Agent.AgentStepUpdate) => Promise<unknown> = (update) => {
    this.updates.push(update);
    return Promise.resolve();
  };
  registered: number | undefined;
  refuseRegistration: Error | undefined;

  constructor(name: string, command: readonly string[], server: MockServer, script: Script) {
    this.command = command;
    this.runId = `run-${name}-${process.pid}`;
    this.folder = mkdtempSync(join(tmpdir(), "holdpoint-pi-"));
    this.cwd = join(this.folder, "project");
    this.agentDir = join(this.folder, "pi");
    mkdirSync(this.cwd);
    mkdirSync(this.agentDir);
    this.model = server.model(name, (request) => {
      this.log.push(`request ${request.number}`);
      return script(request);
    });
    this.writeModels();
  }

  executor(): Agent.AgentExecutor {
    return agent.createAgentExecutor({
      runId: this.runId,
      cwd: this.cwd,
      folder: join(this.folder, "agents", this.runId),
      pi: { command: [...this.command], agentDir: this.agentDir },
      register: (pid) => {
        this.registered = pid;
        this.log.push("registered");
        return this.refuseRegistration === undefined ? Promise.resolve() : Promise.reject(this.refuseRegistration);
      },
      unregister: (pid) => {
        this.log.push(pid === this.registered && this.alive().length === 0 ? "unregistered" : "unregistered too early");
        return Promise.resolve();
      },
      publishUpdate: (update) => this.publishUpdate(update),
    });
  }

  /** Runs one step to its outcome. */
  run(
    step: Partial<AgentStep> = {},
    validate: Validate = accept,
    executor: Agent.AgentExecutor = this.executor(),
  ): Promise<AgentOutcome> {
    return executor.run({ ...STEP, ...step }, validate, this.stop.signal);
  }

  /** The live processes of this run's agents. */
  alive(): number[] {
    return processesOf(this.runId);
  }

  path(name: string): string {
    return join(this.cwd, name);
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** The folder of Pi's with the scripted model as the only one (custom models: docs/models.md of Pi). */
  private writeModels(): void {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const size = { contextWindow: 128_000, maxTokens: 4_096 };
    const model = { id: "mock-1", name: "Mock 1", reasoning: false, input: ["text"], ...size, cost };
    const mock = { baseUrl: this.model.baseUrl, api: "openai-completions", apiKey: "none", models: [model] };
    writeFileSync(join(this.agentDir, "models.json"), JSON.stringify({ providers: { mock } }));
    const settings = {
      defaultProvider: "mock",
      defaultModel: "mock-1",
      defaultThinkingLevel: "off",
      quietStartup: true,
      enableInstallTelemetry: false,
      // Only when a test asks for it, and then as much as there is.
      compaction: { enabled: false, keepRecentTokens: 1 },
      retry: { enabled: false },
    };
    writeFileSync(join(this.agentDir, "settings.json"), JSON.stringify(settings));
  }
}

const accept: Validate = (value) => Promise.resolve({ ok: true, value: value as JsonValue });

const STEP: AgentStep = {
  nodeId: "plan",
  visit: 1,
  attempt: 1,
  prompt: "Make a plan.",
  contract: { kind: "submit", expectedOutput: "An object with the plan." },
  allowedTools: null,
  timeoutMs: 60_000,
  statusDetail: undefined,
};
