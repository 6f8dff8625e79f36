/**
 * The pure engine: executes the nodes of one run in order over an EngineHost. It knows no file, no pipe and no hour, and
 * works in memory as well as in a runner.
 *
 * Pure steps go ahead of their commit as far as the host lets them; whatever has a consequence outside first waits for
 * the host's barrier. Refused steps are taken back and done again.
 */
import { HoldpointError, isHoldpointError } from "../../contracts/errors.ts";
import type { IncludeTransition } from "../../contracts/include.ts";
import { ADVANCE } from "../../contracts/limits.ts";
import type { NodeResult, Position, StepEntry } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { SettingsVersion } from "../../contracts/settings.ts";
import { type CompiledNode, type CompiledWorkflow, compileWorkflow } from "../compile.ts";
import type { WorkflowDefinition } from "../definition.ts";
import { afterStep } from "../rules/after-step.ts";
import type { PlannedTransition } from "../rules/graph.ts";
import { Attempt } from "./attempt.ts";
import { initialSettings, makeInput } from "./enter.ts";
import { checkExit } from "./exits.ts";
import type { EngineEnd, EngineHost, ResumeState } from "./host.ts";
import { RunJournal } from "./journal.ts";
import { performAction } from "./perform-action.ts";
import { performAgent } from "./perform-agent.ts";
import { performShell } from "./perform-shell.ts";
import {
  performCheckpoint,
  performCompute,
  performDecision,
  performNotify,
  performSettingsRoute,
  performSleep,
} from "./perform.ts";
import type { Performance, Performed } from "./performed.ts";
import type { RunScope } from "./scopes.ts";
import { processTimers, type EngineTimers } from "./timers.ts";
import { deepFreeze } from "./values.ts";

export interface EngineOptions {
  readonly definition: WorkflowDefinition;
  /** What it was compiled to, if the caller has it already; needed when mounts were resolved with a registry. */
  readonly workflow?: CompiledWorkflow;
  /** As the workflow's parser made it. */
  readonly input: JsonValue;
  readonly host: EngineHost;
  /** Left out: a run from its start. */
  readonly resume?: ResumeState;
  readonly timers?: EngineTimers;
  /** Waits before each node until every earlier step is durable. */
  readonly stepwise?: boolean;
}

/** What a wait is rejected with when its step was taken back or the run stopped. */
const INTERRUPTED = Symbol("interrupted");

/** The last step was made with settings that are not the present ones. */
const STALE_SETTINGS = Symbol("stale settings");

/** Other work of the process may have to wait this long. */
const TURN_MS = 8;
/** And after so many steps, which go on the wire together. */
const TURN_STEPS = ADVANCE.entriesPerFrame * ADVANCE.framesPerWrite;

/** Room for the envelope of an entry in the count of unacknowledged bytes. */
const ENTRY_BYTES = 128;

type Done = Exclude<Performed, { kind: "parked" }>;

export class Engine {
  readonly #workflow: CompiledWorkflow;
  readonly #host: EngineHost;
  readonly #timers: EngineTimers;
  readonly #journal: RunJournal;
  readonly #stepwise: boolean;
  /** Rises whenever what is being executed no longer counts. */
  #epoch = 0;
  #stopped: string | undefined;
  #attempt: Attempt | undefined;
  /** Settings have changed: the next node starts behind a barrier. */
  #settingsChanged = false;
  readonly #waiting = new Set<(reason: unknown) => void>();

  constructor(options: EngineOptions) {
    const { definition, host, input, resume, timers = processTimers, workflow = compileWorkflow(definition) } = options;
    this.#workflow = workflow;
    this.#host = host;
    this.#timers = timers;
    this.#stepwise = options.stepwise ?? false;
    this.#journal = new RunJournal(workflow, input, resume ?? fromStart(workflow.snapshot.startAt));
  }

  /** Where the execution is. */
  get position(): Position {
    return this.#journal.position;
  }

  /** Every step up to and including `through` is durable; they cannot be taken back any more. */
  acknowledge(through: number): void {
    this.#journal.acknowledge(through);
  }

  /** Takes back every step from `from` on, whatever is being executed included, and goes on at `position`. */
  rewind(from: number, position: Position, visits: Readonly<Record<string, number>>): void {
    this.#journal.rewind(from, position, visits);
    this.#forgetSettings();
    this.#interrupt(`Taken back to step ${from}.`);
  }

  /** The settings of a scope have another version. Attempts that begin from now on see it; the present one does not. */
  settingsChanged(version: SettingsVersion): void {
    for (let scope: RunScope | undefined = this.#journal.scope; scope !== undefined; scope = scope.parent) {
      if (scope.settings?.scopeId !== version.scopeId || scope.settings.changeNumber >= version.changeNumber) continue;
      scope.settings = { ...version, value: deepFreeze(version.value) };
      this.#settingsChanged = true;
    }
  }

  /** Aborts the node that is being executed; nothing more is reported. */
  stop(reason: string): void {
    this.#stopped ??= reason;
    this.#interrupt(reason);
  }

  /** Executes until the run ends, parks, or is stopped. Call once. Rejects with what the host rejected with. */
  async run(): Promise<EngineEnd> {
    let turnBegan = this.#timers.now();
    let turnSteps = 0;
    while (this.#stopped === undefined) {
      const epoch = this.#epoch;
      try {
        const began = this.#timers.now();
        if (turnSteps >= TURN_STEPS || began - turnBegan > TURN_MS) {
          await this.#wait(epoch, this.#host.yield());
          turnBegan = this.#timers.now();
          turnSteps = 0;
          continue;
        }
        turnSteps++;
        if (this.#stepwise) await this.#wait(epoch, this.#host.barrier());
        const node = this.#node();
        const { position, scope } = this.#journal;
        const refused = this.#prepared(node) ? undefined : await this.#prepare(epoch);
        // The version with which the attempt begins, whatever becomes of the settings meanwhile.
        const { settings } = scope;
        let performed = refused ?? this.#perform(node);
        if (performed instanceof Promise) performed = await performed;
        // A step that was taken back while its function went on to its end.
        if (epoch !== this.#epoch) continue;
        if (performed.kind === "parked") return performed;
        if (node.exitChecks !== undefined && performed.kind === "ok") {
          performed = await this.#wait(epoch, checkExit(node, performed, this.#host.valueBytes));
        }

        const { bytes, entry, result } = stepOf(position, settings, performed, this.#timers.now() - began);
        const after = afterStep(this.#workflow.snapshot, result, entry.step + 1, this.#journal.marks);
        if (after.kind === "end") {
          const output = after.status === "completed" ? result.output : undefined;
          await this.#finish(epoch, node, this.#withExits(entry, after.transitions), after);
          return { kind: "finished", end: after, output };
        }
        this.#journal.record(node.localId, result, after.nodeId);
        const transitions =
          after.transitions === undefined
            ? undefined
            : await this.#cross(epoch, after.transitions, result.output ?? null);
        const step = { ...entry, next: after.nodeId };
        const extra = transitions === undefined ? 0 : Buffer.byteLength(JSON.stringify(transitions));
        const room = this.#host.advance(
          transitions === undefined ? step : { ...step, transitions },
          bytes + extra + ENTRY_BYTES,
        );
        if (room !== undefined) await this.#wait(epoch, room);
      } catch (error) {
        if (error === STALE_SETTINGS) this.#forgetSettings();
        else if (error !== INTERRUPTED) throw error;
      }
    }
    return { kind: "stopped", reason: this.#stopped };
  }

  #node(): CompiledNode {
    const { nodeId } = this.#journal.position;
    const node = this.#workflow.nodes.get(nodeId);
    if (node !== undefined) return node;
    throw new HoldpointError("protocolRejected", `The workflow has no node "${nodeId}" to go on with.`);
  }

  #perform({ node }: CompiledNode): Performed | Promise<Performed> {
    const { position } = this.#journal;
    const epoch = this.#epoch;
    const wait = <T>(promise: Promise<T>): Promise<T> => this.#wait(epoch, promise);
    const renew = (): Attempt => (this.#attempt = new Attempt(position.nodeId, this.#journal, this.#timers));
    const performance: Performance = { attempt: renew(), position, host: this.#host, renew, wait };
    switch (node.type) {
      case "compute":
        return performCompute(node, performance);
      case "action":
        return performAction(node, performance);
      case "shell":
        return performShell(node, performance);
      case "agent":
        return performAgent(node, performance);
      case "notify":
        return performNotify(node, performance);
      case "checkpoint":
        return performCheckpoint(node, performance);
      case "sleep":
        return performSleep(node, performance);
      case "humanDecision":
        return performDecision(node, performance);
      case "settingsRoute":
        return performSettingsRoute(node, performance);
    }
  }

  /** Whether the node may start at once: nothing to enter, inputs made, settings known and unchanged. */
  #prepared({ scope: { definition } }: CompiledNode): boolean {
    if (this.#settingsChanged) return false;
    const { scope } = this.#journal;
    return scope.input?.kind === "made" && (definition.settings === undefined || scope.settings !== undefined);
  }

  /** Makes what is missing before the node can start; what cannot be made fails the node. */
  async #prepare(epoch: number): Promise<Performed | undefined> {
    const host = this.#host;
    if (this.#settingsChanged) {
      await this.#wait(epoch, host.barrier());
      this.#settingsChanged = false;
    }
    const { scope } = this.#journal;
    await this.#enterMounts(epoch);
    if (scope.input?.kind === "failed") return { kind: "failed", error: scope.input.error };
    if (scope.compiled.definition.settings === undefined || scope.settings !== undefined) return undefined;
    const initial = initialSettings(scope.compiled, scope.input?.value ?? null);
    if ("error" in initial) return { kind: "failed", error: initial.error };
    await this.#wait(epoch, host.barrier());
    const asked = { mount: scope.compiled.mount, invocation: scope.invocation, initial: initial.value };
    const version = await this.#wait(epoch, host.settings?.(asked) ?? noSettings());
    scope.settings = { ...version, value: deepFreeze(version.value) };
    return undefined;
  }

  /** Makes the inputs of mounts that were entered without a step of this engine: at the start, and after an answer. */
  async #enterMounts(epoch: number): Promise<void> {
    const chain: RunScope[] = [];
    for (let at: RunScope | undefined = this.#journal.scope; at !== undefined; at = at.parent) chain.unshift(at);
    const entered: IncludeTransition[] = [];
    for (const scope of chain) {
      if (scope.input !== undefined || scope.parent === undefined) continue;
      const memory = { scope: scope.parent, steps: this.#journal.steps };
      scope.input = await this.#wait(epoch, makeInput(scope.compiled, memory, this.#timers, this.#host.valueBytes));
      // From here on the mount has not been left yet.
      scope.parent.results.delete(scope.compiled.name);
      if (scope.input.kind === "made") entered.push(enteredBy(scope));
    }
    if (entered.length === 0 || this.#host.enter === undefined) return;
    await this.#wait(epoch, this.#host.barrier());
    await this.#wait(epoch, this.#host.enter(entered));
  }

  /** Leaves and enters mounts after the step that was just recorded. */
  async #cross(epoch: number, planned: readonly PlannedTransition[], output: JsonValue): Promise<IncludeTransition[]> {
    const crossed: IncludeTransition[] = [];
    for (const transition of planned) {
      if (transition.type === "include_exited") {
        crossed.push(exitedBy(this.#journal.leave(transition, output), transition.exit, output));
        continue;
      }
      const compiled = this.#workflow.scopes.get(transition.mount);
      if (compiled === undefined) throw new Error(`there is no mount ${transition.mount}`);
      const input = await this.#wait(epoch, makeInput(compiled, this.#journal, this.#timers, this.#host.valueBytes));
      crossed.push(enteredBy(this.#journal.enter(transition.mount, input)));
    }
    return crossed;
  }

  /** The last step with the mounts it left. */
  #withExits(entry: StepEntry, planned: readonly PlannedTransition[] | undefined): StepEntry {
    if (planned === undefined) return entry;
    const transitions: IncludeTransition[] = [];
    let scope: RunScope | undefined = this.#journal.scope;
    for (const transition of planned) {
      if (transition.type !== "include_exited" || scope === undefined) continue;
      transitions.push(exitedBy(scope, transition.exit, entry.output ?? null));
      scope = scope.parent;
    }
    return { ...entry, transitions };
  }

  async #finish(
    epoch: number,
    { node }: CompiledNode,
    entry: StepEntry,
    end: Parameters<EngineHost["finish"]>[1],
  ): Promise<void> {
    await this.#wait(epoch, this.#host.barrier());
    try {
      await this.#wait(epoch, this.#host.finish(entry, end));
    } catch (error) {
      const stale = node.type === "settingsRoute" && isHoldpointError(error) && error.kind === "settingsChanged";
      throw stale ? STALE_SETTINGS : error;
    }
  }

  #forgetSettings(): void {
    for (let scope: RunScope | undefined = this.#journal.scope; scope !== undefined; scope = scope.parent) {
      scope.settings = undefined;
    }
  }

  /** Waits, but not beyond a rewind or stop: what began in an earlier epoch gets no answer any more. */
  async #wait<T>(epoch: number, promise: Promise<T>): Promise<T> {
    let interrupt: ((reason: unknown) => void) | undefined;
    // Made anew for each wait: one long-lived promise would gather a reaction for every step of the run.
    const interrupted = new Promise<never>((_resolve, reject) => this.#waiting.add((interrupt = reject)));
    if (epoch !== this.#epoch) interrupt?.(INTERRUPTED);
    try {
      const value = await Promise.race([interrupted, promise]);
      // The answer and the interruption can come in one turn.
      if (epoch !== this.#epoch) throw INTERRUPTED;
      return value;
    } finally {
      if (interrupt !== undefined) this.#waiting.delete(interrupt);
    }
  }

  #interrupt(reason: string): void {
    this.#epoch++;
    this.#attempt?.abort(new HoldpointError("runState", reason));
    for (const reject of this.#waiting) reject(INTERRUPTED);
    this.#waiting.clear();
  }
}

function fromStart(startAt: string): ResumeState {
  const position = { nodeId: startAt, step: 0, visit: 1, interrupted: false };
  return { position, visits: {}, results: [], steps: [] };
}

function enteredBy({ compiled, input, invocation }: RunScope): IncludeTransition {
  const { definition, mount } = compiled;
  const entered = { type: "include_entered", mount, workflow: definition.name, invocation } as const;
  return input?.kind === "made" ? { ...entered, input: input.value } : entered;
}

function exitedBy({ compiled, invocation }: RunScope, exit: string, output: JsonValue): IncludeTransition {
  const { definition, mount } = compiled;
  return { type: "include_exited", mount, workflow: definition.name, invocation, exit, output };
}

function noSettings(): Promise<never> {
  return Promise.reject(
    new HoldpointError(
      "unsupportedNode",
      "The workflow has settings, which cannot be kept here: the host has no settings.",
    ),
  );
}

function stepOf(
  { nodeId, step }: Position,
  settings: SettingsVersion | undefined,
  performed: Done,
  elapsed: number,
): { result: NodeResult; entry: StepEntry; bytes: number } {
  const durationMs = Math.max(0, Math.round(elapsed * 1_000) / 1_000);
  if (performed.kind === "ok") {
    const { bytes, output } = performed;
    const result: NodeResult = Object.freeze({ nodeId, outcome: "ok", output });
    const entry: StepEntry = { step, nodeId, outcome: "ok", output, durationMs, next: null };
    return { result, entry: madeWith(entry, settings), bytes };
  }
  const { error, kind: outcome } = performed;
  const result: NodeResult = Object.freeze({
    nodeId,
    outcome,
    error: Object.freeze(error) as NodeResult["error"] & object,
  });
  const entry: StepEntry = { step, nodeId, outcome, error: result.error, durationMs, next: null };
  // Errors are bounded, but counted as if they were as large as they may be.
  return { result, entry: madeWith(entry, settings), bytes: 16_384 };
}

function madeWith(entry: StepEntry, settings: SettingsVersion | undefined): StepEntry {
  if (settings === undefined) return entry;
  const { changeNumber, scopeId } = settings;
  return { ...entry, settings: { scopeId, changeNumber } };
}
