/**
 * An engine host in memory: plays the server's part over a ledger, and the outside world's part by a script. One host is
 * one launch; after a crash nothing that still comes from it has any effect.
 */
import { type AgentStep, afterUnproductiveTurn, type StepReason, stepText } from "../contracts/agent-step.ts";
import { sha256Digest } from "../contracts/canonical.ts";
import type { CommandResult, CommandSpec } from "../contracts/command.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { sha256Hex } from "../contracts/ids.ts";
import { VALUE } from "../contracts/limits.ts";
import type { StepEntry } from "../contracts/protocol/runner.ts";
import { settingsScopeId, type SettingsVersion } from "../contracts/settings.ts";
import { updateSlot, type UpdateReceipt } from "../contracts/update.ts";
import type {
  AgentOutcome,
  CheckpointAsked,
  CommandListeners,
  DecisionAsked,
  EffectRequest,
  EffectReservation,
  EffectSettlement,
  Engine,
  FullEngineHost,
  NotificationAsked,
  SettingsAsked,
  SleepAsked,
  UpdateAsked,
  Validate,
} from "../workflow/engine/index.ts";
import { failureOf } from "../workflow/engine/index.ts";
import { admitUpdate, type RunEnd } from "../workflow/rules/index.ts";
import type { FakeClock } from "./clock.ts";
import type { Ledger, TestEffect } from "./ledger.ts";
import { NO_SUBMISSION, scriptFor, type ShellScript, type ShellScripts, Turns } from "./script.ts";

export interface HostOptions {
  readonly runId: string;
  readonly ledger: Ledger;
  readonly clock: FakeClock;
  readonly agents: Readonly<Record<string, unknown>>;
  readonly shell: ShellScripts | undefined;
  readonly asked: (asked: DecisionAsked | CheckpointAsked | SleepAsked) => void;
  readonly prompted: (prompt: { nodeId: string; visit: number; reason: StepReason; text: string }) => void;
}

export class MemoryHost implements FullEngineHost {
  readonly valueBytes = VALUE.outputBytes;
  engine: Engine | undefined;
  end: RunEnd | undefined;
  readonly #options: HostOptions;
  #live = true;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** The process is gone: whatever still comes from it is heard by nobody. */
  die(): void {
    this.#live = false;
  }

  advance(entry: StepEntry): void | Promise<void> {
    if (!this.#live) return never();
    const { ledger } = this.#options;
    if (this.#stale(entry)) {
      const { position } = ledger;
      if (position === null) throw new Error("the run has ended");
      ledger.events.push({ type: "settings_route_retried", nodeId: entry.nodeId, step: entry.step });
      this.engine?.rewind(entry.step, position, ledger.visits);
      return;
    }
    ledger.record(entry);
    this.engine?.acknowledge(entry.step);
  }

  barrier(): Promise<void> {
    return this.#live ? Promise.resolve() : never();
  }

  yield(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  async reserveEffect(request: EffectRequest): Promise<EffectReservation> {
    if (!this.#live) return never();
    const { ledger, runId } = this.#options;
    const { effectType, nodeId, recovery, visit } = request;
    const key = `${runId}/${effectType}/${nodeId}/${visit}`;
    let effect = ledger.effects.get(key);
    if (effect === undefined) {
      effect = { ...request, effectId: `e-${sha256Hex(key).slice(0, 16)}`, key, state: "applying", attempts: 1 };
      ledger.effects.set(key, effect);
      return reservation(effect, "fresh");
    }
    if (sha256Digest(effect.request) !== sha256Digest(request.request)) {
      throw new HoldpointError("effectConflict", `Effect ${key} was reserved for another request.`);
    }
    switch (effect.state) {
      case "applied":
      case "rejected":
      case "ambiguous":
        return reservation(effect, effect.state);
      case "pending":
        effect.state = "applying";
        effect.attempts++;
        return reservation(effect, "fresh");
      case "applying":
        if (recovery === "manual") {
          effect.state = "ambiguous";
          return reservation(effect, "ambiguous");
        }
        if (recovery === "idempotent") effect.attempts++;
        return reservation(effect, recovery === "idempotent" ? "repeat" : "observe");
    }
  }

  async settleEffect({ effectId, error, outcome, result }: EffectSettlement): Promise<{ attempt: number }> {
    if (!this.#live) return never();
    const effect = [...this.#options.ledger.effects.values()].find((other) => other.effectId === effectId);
    if (effect === undefined) throw new HoldpointError("effectNotFound", `There is no effect ${effectId}.`);
    if (outcome === "notApplied") effect.attempts++;
    else effect.state = outcome;
    effect.result = result;
    effect.error = error;
    return { attempt: effect.attempts };
  }

  async requestDecision(asked: DecisionAsked): Promise<{ kind: "parked" }> {
    if (!this.#live) return never();
    this.#options.asked(asked);
    return { kind: "parked" };
  }

  async requestCheckpoint(asked: CheckpointAsked): Promise<{ kind: "parked" }> {
    if (!this.#live) return never();
    this.#options.asked(asked);
    return { kind: "parked" };
  }

  async requestSleep(asked: SleepAsked): Promise<{ kind: "parked" }> {
    if (!this.#live) return never();
    this.#options.asked(asked);
    return { kind: "parked" };
  }

  async finish(entry: StepEntry, end: RunEnd): Promise<void> {
    if (!this.#live) return never();
    if (this.#stale(entry)) {
      this.#options.ledger.events.push({ type: "settings_route_retried", nodeId: entry.nodeId, step: entry.step });
      throw new HoldpointError("settingsChanged", "The settings have changed since the route was made.");
    }
    this.#options.ledger.record(entry);
    this.end = end;
  }

  async enter(transitions: Parameters<FullEngineHost["enter"]>[0]): Promise<void> {
    if (!this.#live) return never();
    for (const transition of transitions) this.#options.ledger.entered(transition);
  }

  async notify(asked: NotificationAsked): Promise<{ index: number }> {
    if (!this.#live) return never();
    const { notifications } = this.#options.ledger;
    const before = notifications.find(({ nodeId, visit }) => nodeId === asked.nodeId && visit === asked.visit);
    if (before !== undefined) return { index: before.index };
    const index = notifications.length;
    notifications.push({ ...asked, index });
    return { index };
  }

  async publishUpdate({ envelope, nodeId, step }: UpdateAsked): Promise<UpdateReceipt> {
    if (!this.#live) return never();
    const { clock, ledger } = this.#options;
    if (ledger.position?.step !== step) {
      throw new HoldpointError("updateRefused", `Step ${step} is over; nothing can be said about it any more.`);
    }
    const slot = updateSlot(envelope);
    const state = { items: ledger.current.size, isCurrent: ledger.current.has(slot) };
    ledger.bucket = admitUpdate(ledger.bucket, clock.now(), state);
    const { key, type } = envelope;
    const seq = ledger.updates.length;
    const receipt = { updateId: `u-${seq}`, seq, at: clock.now(), type, key };
    ledger.updates.push({ ...receipt, ...envelope, nodeId });
    ledger.current.set(slot, envelope);
    return receipt;
  }

  async settings({ initial, invocation, mount }: SettingsAsked): Promise<SettingsVersion> {
    if (!this.#live) return never();
    const { ledger, runId } = this.#options;
    const scopeId = settingsScopeId(runId, mount, invocation);
    const known = ledger.settings.get(scopeId);
    if (known !== undefined) return structuredClone(known);
    const version = { scopeId, changeNumber: 0, value: structuredClone(initial), hash: sha256Digest(initial) };
    ledger.settings.set(scopeId, version);
    return structuredClone(version);
  }

  async runShell(
    spec: CommandSpec,
    { nodeId, visit }: { readonly nodeId: string; readonly visit: number },
    signal: AbortSignal,
    listeners?: CommandListeners,
  ): Promise<CommandResult> {
    const { clock, shell } = this.#options;
    const given: unknown = typeof shell === "function" ? shell : scriptFor(shell?.[nodeId], visit);
    if (given === undefined) {
      throw new HoldpointError(
        "unsupportedNode",
        `The test has no script for the command ${spec.command} of node "${nodeId}".`,
        {
          remedy: `Add it: shell: { ${JSON.stringify(nodeId)}: { stdout: "…" } }.`,
        },
      );
    }
    const began = clock.now();
    const line = (text: string, stream: "stdout" | "stderr" = "stdout"): void => {
      if (listeners?.streams.includes(stream) === true) listeners.onLine(text, stream);
    };
    const limit = spec.timeoutMs;
    let late = false;
    const controller = new AbortController();
    const stop =
      limit === null ? undefined : clock.after(limit, () => ((late = true), controller.abort(new Error("timed out"))));
    const stopped = AbortSignal.any([signal, controller.signal]);
    try {
      const script = given as ShellScript;
      const run = Promise.resolve(
        typeof script === "function" ? script(spec, { clock, signal: stopped, nodeId, line }) : script,
      );
      const ended = await Promise.race([run, abortOf(stopped)]);
      if (typeof script !== "function")
        for (const text of (ended.stdout ?? "").split("\n")) if (text !== "") line(text);
      return { ...EMPTY, ...ended, durationMs: clock.now() - began };
    } catch (error) {
      if (!stopped.aborted) throw error;
      return { ...EMPTY, exitCode: null, signal: "SIGTERM", timedOut: late, durationMs: clock.now() - began };
    } finally {
      stop?.();
    }
  }

  async runAgent(step: AgentStep, validate: Validate, signal: AbortSignal): Promise<AgentOutcome> {
    const { agents, clock } = this.#options;
    const { nodeId, timeoutMs, visit } = step;
    const script = scriptFor(agents[nodeId], visit);
    if (script === undefined) {
      throw new HoldpointError("unsupportedNode", `The test has no script for the agent step "${nodeId}".`, {
        remedy: `Add it: agents: { ${JSON.stringify(nodeId)}: … }.`,
      });
    }
    const controller = new AbortController();
    const stop =
      timeoutMs === null ? undefined : clock.after(timeoutMs, () => controller.abort(new Error("timed out")));
    const stopped = AbortSignal.any([signal, controller.signal]);
    try {
      return await Promise.race([this.#converse(step, script, validate, stopped), abortOf(stopped)]);
    } catch (error) {
      if (controller.signal.aborted) {
        const late = new HoldpointError(
          "nodeTimedOut",
          `Node "${nodeId}" ran longer than its timeout of ${timeoutMs} ms.`,
        );
        return { outcome: "timed_out", error: late.toRecord() };
      }
      return { outcome: "failed", error: failureOf(error, nodeId) };
    } finally {
      stop?.();
    }
  }

  async #converse(step: AgentStep, script: unknown, validate: Validate, signal: AbortSignal): Promise<AgentOutcome> {
    const { clock, prompted } = this.#options;
    const { nodeId, visit } = step;
    const tell = (reason: StepReason, reminder = 0): false | void =>
      this.#live &&
      prompted({
        nodeId,
        visit,
        reason,
        text: stepText(step, reason, { requestId: `${nodeId}:${visit}:${step.attempt}`, reminder }),
      });
    tell(step.attempt > 1 ? "resumed" : "initial");
    const given: unknown =
      typeof script === "function"
        ? await (script as (...args: unknown[]) => unknown)(step, { clock, signal })
        : script;
    const submissions = given instanceof Turns ? given.submissions : [given];
    let refusal = "";
    let unproductive = 0;
    for (let turn = 0; ; turn++) {
      const submitted = turn < submissions.length ? submissions[turn] : NO_SUBMISSION;
      if (submitted !== NO_SUBMISSION) {
        const judged = await validate(submitted);
        if (judged.ok) return { outcome: "ok", output: judged.value };
        refusal = ` The last one was refused: ${judged.message}`;
        continue;
      }
      if (afterUnproductiveTurn(++unproductive) === "missingSubmission") {
        const error = new HoldpointError(
          "missingSubmission",
          `The agent of node "${nodeId}" submitted nothing.${refusal}`,
        );
        return { outcome: "failed", error: error.toRecord() };
      }
      tell("reminder", unproductive);
    }
  }

  #stale({ nodeId, settings }: StepEntry): boolean {
    const { ledger } = this.#options;
    if (settings === undefined || ledger.definition.nodes[nodeId]?.type !== "settingsRoute") return false;
    return ledger.settings.get(settings.scopeId)?.changeNumber !== settings.changeNumber;
  }
}

const EMPTY: CommandResult = {
  exitCode: 0,
  signal: null,
  stdout: "",
  stderr: "",
  truncated: [],
  timedOut: false,
  durationMs: 0,
};

function reservation(effect: TestEffect, state: EffectReservation["state"]): EffectReservation {
  const { attempts, effectId, error, key, result } = effect;
  return { effectId, key, attempt: attempts, state, result: structuredClone(result), error };
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail);
  });
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
