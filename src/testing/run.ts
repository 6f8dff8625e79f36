/** One run of a workflow in memory, from its start to its end, with everything in the test's hand. */
import type { StepReason } from "../contracts/agent-step.ts";
import { sha256Digest } from "../contracts/canonical.ts";
import { acceptedAnswer, type DecisionRequest, judgeInput, normalizeRequest } from "../contracts/decision/index.ts";
import { type ErrorRecord, HoldpointError, messageOf } from "../contracts/errors.ts";
import type { NodeOutcome, NodeResult } from "../contracts/protocol/runner.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import { type SettingsActor, settingsScopeId, type SettingsVersion } from "../contracts/settings.ts";
import { wakeTime } from "../contracts/sleep.ts";
import {
  type CheckpointAsked,
  type DecisionAsked,
  Engine,
  judgeSettings,
  type ResumeState,
  type SleepAsked,
  toJson,
  whereOf,
} from "../workflow/engine/index.ts";
import {
  type CompiledWorkflow,
  compileWorkflow,
  type WorkflowDefinition,
  type WorkflowRegistry,
} from "../workflow/index.ts";
import { changeSettings, checkDefinition } from "../workflow/rules/index.ts";
import { FakeClock } from "./clock.ts";
import { type EffectState, Ledger, type TestEffect, type TestEvent } from "./ledger.ts";
import { MemoryHost } from "./memory-host.ts";
import { type AgentScript, type AnswerScript, Each, type ShellScripts } from "./script.ts";

export interface TestOptions {
  /** As a person would give it; the workflow's parser sees it. */
  readonly input?: unknown;
  /** Node path → answer to a decision or checkpoint. */
  readonly answers?: Readonly<Record<string, AnswerScript>>;
  /** Node path → what the agent submits. */
  readonly agents?: Readonly<Record<string, AgentScript>>;
  /** One script for all commands, or node path → script. */
  readonly shell?: ShellScripts;
  /** Names of audiences that exist; left out, every name does. */
  readonly audiences?: readonly string[];
  readonly registry?: WorkflowRegistry<any>;
  readonly clock?: FakeClock;
  readonly runId?: string;
}

/** `parked`: an effect is in doubt, and a person must say what happened. */
export type TestStatus = "running" | "waiting" | "parked" | "completed" | "failed" | "timed_out" | "cancelled";

export interface TestPrompt {
  readonly nodeId: string;
  readonly visit: number;
  readonly reason: StepReason;
  readonly text: string;
}

export interface Pending {
  readonly kind: "decision" | "checkpoint" | "sleep";
  readonly nodeId: string;
  readonly visit: number;
  /** What a decision shows, normalized as the server does it. */
  readonly request?: DecisionRequest;
  readonly content?: JsonValue;
  readonly summary?: string | undefined;
  /** When a sleep is over, and what it is for. */
  readonly wakeAt?: number;
  readonly reason?: string | undefined;
}

export class TestRun {
  readonly clock: FakeClock;
  readonly runId: string;
  readonly prompts: TestPrompt[] = [];
  status: TestStatus = "running";
  output: JsonValue | undefined;
  error: ErrorRecord | undefined;
  /** What the run waits for. */
  pending: Pending | undefined;
  readonly #definition: WorkflowDefinition;
  readonly #workflow: CompiledWorkflow;
  readonly #options: TestOptions;
  readonly #input: JsonValue;
  readonly #ledger: Ledger;
  #host: MemoryHost | undefined;
  #engine: Engine | undefined;
  #crashed = false;
  #driving: Promise<void> | undefined;
  #disarm: (() => void) | undefined;

  /** Starts the run; nothing has happened yet when this returns. */
  constructor(definition: WorkflowDefinition, options: TestOptions = {}) {
    const { clock = new FakeClock(), input, registry, runId = "test-run" } = options;
    this.clock = clock;
    this.runId = runId;
    this.#definition = definition;
    this.#options = options;
    this.#workflow = compileWorkflow(definition, { registry });
    checkDefinition(this.#workflow.snapshot);
    this.#input = parsedInput(definition, input);
    this.#ledger = new Ledger(this.#workflow.snapshot, clock.now());
    this.#drive(undefined);
  }

  /** Ids of the executed nodes, in order. */
  get order(): string[] {
    return this.#ledger.steps.map(({ nodeId }) => nodeId);
  }
  get steps(): readonly { readonly nodeId: string; readonly outcome: NodeOutcome }[] {
    return this.#ledger.steps;
  }
  /** The latest result of a node, by its full path. */
  result(nodeId: string): NodeResult | undefined {
    return this.#ledger.results.get(nodeId);
  }
  get effects(): readonly TestEffect[] {
    return [...this.#ledger.effects.values()];
  }
  get notifications(): readonly {
    readonly nodeId: string;
    readonly kind: string;
    readonly message: string;
    readonly audience: string | undefined;
    readonly index: number;
  }[] {
    return this.#ledger.notifications;
  }
  get updates(): readonly {
    readonly type: string;
    readonly key: string;
    readonly data: object;
    readonly nodeId: string;
  }[] {
    return this.#ledger.updates;
  }
  get events(): readonly TestEvent[] {
    return this.#ledger.events;
  }

  /** Resolves when the run has ended or waits for somebody. Whatever waits for the clock needs `clock.advance` meanwhile. */
  async settled(): Promise<this> {
    while (this.#driving !== undefined) await this.#driving;
    return this;
  }

  /** Answers what the run waits for, and lets it go on. */
  async answer(given: unknown, nodeId?: string): Promise<this> {
    await this.settled();
    const { pending } = this;
    if (pending === undefined || (nodeId !== undefined && nodeId !== pending.nodeId)) {
      throw new HoldpointError(
        "runState",
        `The run is ${this.status}${pending ? ` at "${pending.nodeId}"` : ""}; it does not wait for ${nodeId ?? "an answer"}.`,
      );
    }
    if (pending.wakeAt !== undefined)
      throw new HoldpointError("runState", `The run sleeps at "${pending.nodeId}"; move the clock to wake it.`);
    this.#accept(this.#outputOf(given, pending));
    return this.settled();
  }

  /** The process dies: what was durable remains, what was in flight is interrupted, and the run goes on in a new one. */
  crash(): void {
    if (this.#driving === undefined) return;
    this.#crashed = true;
    this.#host?.die();
    this.#engine?.stop("crashed");
  }

  /** Says what became of an effect in doubt, as an operator does, and lets the run go on. */
  async settleEffect(
    nodeId: string,
    verdict: "applied" | "notApplied" | "retry",
    result: JsonValue = null,
  ): Promise<this> {
    await this.settled();
    const effect = this.effects.find((other) => other.nodeId === nodeId && other.state === "ambiguous");
    if (effect === undefined) throw new HoldpointError("effectState", `No effect of node "${nodeId}" is in doubt.`);
    effect.state = verdict === "applied" ? "applied" : verdict === "retry" ? "pending" : "rejected";
    effect.result = verdict === "applied" ? result : undefined;
    effect.error = undefined;
    this.status = "running";
    this.#drive(this.#ledger.resume(true));
    return this.settled();
  }

  /** Changes settings by a JSON Patch, as `actor`. Throws what the server would answer. */
  changeSettings(
    patch: readonly object[],
    options: { readonly actor?: SettingsActor; readonly mount?: string; readonly expectedChangeNumber?: number } = {},
  ): SettingsVersion {
    const { actor = "human", expectedChangeNumber, mount = "" } = options;
    const invocation = this.#ledger.marks.get(mount)?.invocation ?? 1;
    const scopeId = settingsScopeId(this.runId, mount, invocation);
    const before = this.#ledger.settings.get(scopeId);
    const { definition } = this.#workflow.scopes.get(mount) ?? {};
    const { settings } = definition ?? {};
    if (before === undefined || settings === undefined || this.#ledger.position === null) {
      throw new HoldpointError("settingsRefused", `The run has no settings to change at "${mount || "$root"}".`);
    }
    const { changeNumber, value } = before;
    const changed = changeSettings({
      settings: settings.snapshot,
      actor,
      value,
      changeNumber,
      patch,
      expectedChangeNumber,
    });
    judgeSettings(settings, { before: value, after: changed.value, actor }, whereOf(definition?.name ?? "", mount));
    const version = {
      scopeId,
      changeNumber: changed.changeNumber,
      value: changed.value,
      hash: sha256Digest(changed.value),
    };
    this.#ledger.settings.set(scopeId, version);
    this.#ledger.events.push({ type: "settings_changed", scopeId, changeNumber: version.changeNumber, actor });
    this.#engine?.settingsChanged(structuredClone(version));
    return version;
  }

  /** Throws unless the effects of the node are as expected: how many visits had one, and how the latest stands. */
  assertEffect(
    nodeId: string,
    expected: {
      readonly state?: EffectState;
      readonly attempts?: number;
      readonly visits?: number;
      readonly request?: unknown;
    },
  ): TestEffect {
    const all = this.effects.filter((effect) => effect.nodeId === nodeId);
    const latest = all.at(-1);
    const seen = { state: latest?.state, attempts: latest?.attempts, visits: all.length, request: latest?.request };
    for (const [field, value] of Object.entries(expected)) {
      const actual: unknown = seen[field as keyof typeof seen];
      if (JSON.stringify(actual) === JSON.stringify(value)) continue;
      throw new Error(
        `The effect of node "${nodeId}" has ${field} ${JSON.stringify(actual) ?? "none"}; ${JSON.stringify(value)} was expected.`,
      );
    }
    if (latest === undefined) throw new Error(`Node "${nodeId}" has no effect.`);
    return latest;
  }

  #drive(resume: ResumeState | undefined): void {
    this.pending = undefined;
    const driving = this.#execute(resume).finally(() => {
      if (this.#driving === driving) this.#driving = undefined;
    });
    this.#driving = driving;
    // Whoever waits gets the rejection; nobody has to.
    driving.catch(() => undefined);
  }

  async #execute(from: ResumeState | undefined): Promise<void> {
    let resume = from;
    // The first node runs after the constructor has returned.
    await Promise.resolve();
    for (;;) {
      const { agents = {}, shell } = this.#options;
      const host = new MemoryHost({
        runId: this.runId,
        ledger: this.#ledger,
        clock: this.clock,
        agents,
        shell,
        asked: (asked) => void (this.pending = this.#pendingOf(asked)),
        prompted: (prompt) => void this.prompts.push(prompt),
      });
      const engine = new Engine({
        definition: this.#definition,
        workflow: this.#workflow,
        input: this.#input,
        host,
        timers: this.clock,
        ...(resume === undefined ? {} : { resume }),
      });
      host.engine = engine;
      this.#host = host;
      this.#engine = engine;
      const end = await engine.run();
      if (this.#crashed) {
        this.#crashed = false;
        this.pending = undefined;
        resume = this.#ledger.resume(true);
        continue;
      }
      if (end.kind === "finished") return this.#end(end.end.status, end.output, end.end.error);
      if (end.kind === "stopped" || end.reason === "effectAmbiguous") {
        this.status = "parked";
        return;
      }
      if (!this.#sleptEnough() && !this.#answerByScript()) return this.#wait();
      if (this.#ledger.position === null) return;
      resume = this.#ledger.resume(false);
    }
  }

  #pendingOf(asked: DecisionAsked | CheckpointAsked | SleepAsked): Pending {
    const { nodeId, visit } = asked;
    if ("wake" in asked) {
      const wakeAt = wakeTime(asked.wake, this.clock.now(), `The sleep "${nodeId}"`);
      return { kind: "sleep", nodeId, visit, wakeAt, reason: asked.reason };
    }
    if ("content" in asked)
      return { kind: "checkpoint", nodeId, visit, content: asked.content, summary: asked.summary };
    const request = normalizeRequest(asked.request, {
      runId: this.runId,
      workflowName: this.#definition.name,
      nodeId,
      attemptId: `${nodeId}:${visit}`,
      createdAt: this.clock.now(),
    });
    const { audiences } = this.#options;
    if (audiences !== undefined && !audiences.includes(request.audience)) {
      throw new HoldpointError(
        "audienceUnknown",
        `There is no audience "${request.audience}"; there are ${audiences.join(", ")}.`,
      );
    }
    return { kind: "decision", nodeId, visit, request };
  }

  /** Goes on from a sleep that is over already; false for everything else. */
  #sleptEnough(): boolean {
    const { pending } = this;
    if (pending?.wakeAt === undefined || pending.wakeAt > this.clock.now()) return false;
    this.#record(this.#slept(pending.wakeAt));
    return true;
  }

  #slept(dueAt: number): JsonValue {
    return { dueAt, wokeAt: this.clock.now() };
  }

  /** Takes the scripted answer for what is pending; false if there is none. */
  #answerByScript(): boolean {
    const { pending } = this;
    const script = pending && this.#options.answers?.[pending.nodeId];
    if (pending === undefined || script === undefined) return false;
    let given: unknown = script;
    if (script instanceof Each) {
      if (pending.visit > script.scripts.length) return false;
      given = script.scripts[pending.visit - 1];
    }
    if (typeof given === "function")
      given = (given as (asked: unknown, visit: number) => unknown)(pending.request ?? pending.content, pending.visit);
    if (given === undefined) return false;
    this.#record(this.#outputOf(given, pending));
    return true;
  }

  #accept(output: JsonValue): void {
    this.#disarm?.();
    this.status = "running";
    this.#record(output);
    if (this.#ledger.position !== null) this.#drive(this.#ledger.resume(false));
  }

  /** The accepted answer as the node's output. Throws when it would be refused. */
  #outputOf(given: unknown, { kind, nodeId, request }: Pending): JsonValue {
    if (kind === "checkpoint" || request === undefined) return toJson(given, `The answer to "${nodeId}"`).value;
    const answer = given as { readonly choice?: unknown; readonly input?: unknown } | null;
    const choice = request.choices.find(({ id }) => id === answer?.choice);
    const refuse = (why: string): never => {
      throw new HoldpointError("answerRefused", `The answer to "${nodeId}" ${why}.`);
    };
    if (choice === undefined)
      return refuse(
        `chooses ${JSON.stringify(answer?.choice)}; the choices are ${request.choices.map(({ id }) => id).join(", ")}`,
      );
    const name = choice.input?.name;
    const input: unknown =
      typeof answer?.input === "object" && answer.input !== null && name !== undefined
        ? (answer.input as Record<string, unknown>)[name]
        : answer?.input;
    const verdict = judgeInput(choice, input as string | undefined);
    if (verdict.kind !== "ok") return refuse(`is refused: ${verdict.kind}`);
    return acceptedAnswer(request.choices, choice.id, verdict.input);
  }

  #record(output: JsonValue): void {
    const end = this.#ledger.answer(output);
    this.pending = undefined;
    if (end !== undefined) this.#end(end.status, end.status === "completed" ? output : undefined, end.error);
  }

  #wait(): void {
    this.status = "waiting";
    const { pending } = this;
    const { defaultResponse, expiresAt } = pending?.request ?? {};
    const at = pending?.wakeAt ?? expiresAt;
    if (pending === undefined || at === undefined) return;
    this.#disarm = this.clock.after(at - this.clock.now(), () => {
      if (this.pending !== pending) return;
      if (pending.wakeAt !== undefined) return this.#accept(this.#slept(pending.wakeAt));
      if (defaultResponse !== undefined) return this.#accept(this.#outputOf(defaultResponse, pending));
      this.pending = undefined;
      const error = new HoldpointError("decisionExpired", `Nobody answered "${pending.nodeId}" in time.`);
      this.#end("failed", undefined, error.toRecord());
    });
  }

  #end(status: TestStatus, output: JsonValue | undefined, error: ErrorRecord | undefined): void {
    this.status = status;
    this.output = output;
    this.error = error;
  }
}

function parsedInput(definition: WorkflowDefinition, given: unknown): JsonValue {
  const plain = toJson(given, "The given input").value;
  if (definition.input === undefined) return plain;
  try {
    return toJson(definition.input(plain), `The input of workflow "${definition.name}"`).value;
  } catch (error) {
    throw new HoldpointError("inputInvalid", `Workflow "${definition.name}" refused its input: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
