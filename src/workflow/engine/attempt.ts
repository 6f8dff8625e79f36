/** One execution of one node: its context, its abort signal, and the call of its function under a time limit. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { NodeResult } from "../../contracts/protocol/runner.ts";
import type { ExecutedStep, NodeContext } from "../context.ts";
import { timedOut } from "./failures.ts";
import type { RunScope } from "./scopes.ts";
import type { EngineTimers } from "./timers.ts";

/** What a call of authored code came to. */
export type Called =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timedOut"; readonly timeoutMs: number };

/** What an attempt may look at; the engine owns it and goes on changing it. */
export interface RunMemory {
  readonly scope: RunScope;
  readonly steps: readonly ExecutedStep[];
}

export class Attempt {
  readonly nodeId: string;
  readonly context: NodeContext;
  readonly #timers: EngineTimers;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  /** What was started outside and must be gone before the next node begins. */
  #running: Set<Promise<unknown>> | undefined;
  #over = false;

  constructor(nodeId: string, memory: RunMemory, timers: EngineTimers) {
    this.nodeId = nodeId;
    this.#timers = timers;
    this.context = contextOf(memory, () => this.signal);
  }

  /** Nothing that still comes from the node's function counts any more. */
  get over(): boolean {
    return this.#over || this.#aborted !== undefined;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#aborted.reason);
    return this.#controller.signal;
  }

  /** Registers work outside that belongs to this attempt. */
  keep<T>(work: Promise<T>): Promise<T> {
    const running = (this.#running ??= new Set());
    running.add(work);
    const forget = async (): Promise<void> => {
      await Promise.allSettled([work]);
      running.delete(work);
    };
    void forget();
    return work;
  }

  /** Ends the attempt: what it left running is stopped, and waited for. Not a promise when there is nothing. */
  close(): Promise<void> | undefined {
    this.#over = true;
    if (this.#running === undefined || this.#running.size === 0) return undefined;
    this.abort(new HoldpointError("nodeFailed", `Node "${this.nodeId}" has ended.`));
    return Promise.allSettled(this.#running).then(() => undefined);
  }

  /** Aborts the signal, if anybody asked for it or will. */
  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }

  /**
   * Calls authored code. A function that returns a value at once is not asked to wait: the result is not a promise then.
   * After the limit the signal is aborted (unless `aborts` is false) and whatever still comes from the function is ignored.
   */
  call(run: () => unknown, timeoutMs: number | null, aborts = true): Called | Promise<Called> {
    try {
      const value = run();
      // Asking a value whether it is a promise can run code of its own, and throw.
      return isThenable(value) ? this.#settle(value, timeoutMs, aborts) : { kind: "returned", value };
    } catch (error) {
      return { kind: "threw", error };
    }
  }

  async #settle(value: PromiseLike<unknown>, timeoutMs: number | null, aborts: boolean): Promise<Called> {
    let disarm: (() => void) | undefined;
    const over =
      timeoutMs === null
        ? undefined
        : new Promise<Called>((resolve) => {
            disarm = this.#timers.after(timeoutMs, () => {
              if (aborts) this.abort(timedOut(this.nodeId, timeoutMs));
              resolve({ kind: "timedOut", timeoutMs });
            });
          });
    const returned = awaited(value);
    try {
      return await (over === undefined ? returned : Promise.race([returned, over]));
    } finally {
      disarm?.();
    }
  }
}

/** The views are made when they are looked at: most nodes need one or two of them. */
function contextOf({ scope, steps }: RunMemory, signal: () => AbortSignal): NodeContext {
  let outputs: Record<string, unknown> | undefined;
  let results: Record<string, NodeResult> | undefined;
  let state: { readonly steps: readonly ExecutedStep[] } | undefined;
  const context: NodeContext = {
    input: scope.input?.kind === "made" ? scope.input.value : undefined,
    get outputs() {
      return (outputs ??= outputsOf(scope.results));
    },
    get results() {
      return (results ??= resultsOf(scope.results));
    },
    get state() {
      return (state ??= stateOf(scope, steps));
    },
    get signal() {
      return signal();
    },
  };
  if (scope.settings === undefined) return context;
  const { changeNumber, scopeId, value } = scope.settings;
  const settings = { settings: value, settingsScopeId: scopeId, settingsChangeNumber: changeNumber };
  return Object.defineProperties(context, Object.getOwnPropertyDescriptors(settings));
}

/** The list is copied when it is read, not when `state` is taken apart: it grows with the run. */
function stateOf({ compiled, firstStep }: RunScope, executed: readonly ExecutedStep[]): NodeContext["state"] {
  let steps: readonly ExecutedStep[] | undefined;
  const list = (): readonly ExecutedStep[] => {
    if (compiled.mount === "") return executed.slice();
    const from = compiled.mount.length + 1;
    return executed
      .slice(firstStep)
      .map(({ nodeId, outcome }) => Object.freeze({ nodeId: nodeId.slice(from), outcome }));
  };
  return Object.freeze({
    get steps() {
      return (steps ??= list());
    },
  });
}

// Maps without a prototype, so that `outputs.constructor` is a node's output or nothing.

function outputsOf(results: ReadonlyMap<string, NodeResult>): Record<string, unknown> {
  const outputs = Object.create(null) as Record<string, unknown>;
  for (const [nodeId, result] of results) if (result.outcome === "ok") outputs[nodeId] = result.output ?? null;
  return Object.freeze(outputs);
}

function resultsOf(results: ReadonlyMap<string, NodeResult>): Record<string, NodeResult> {
  const copy = Object.create(null) as Record<string, NodeResult>;
  for (const [nodeId, result] of results) copy[nodeId] = result;
  return Object.freeze(copy);
}

async function awaited(value: PromiseLike<unknown>): Promise<Called> {
  try {
    return { kind: "returned", value: await value };
  } catch (error) {
    return { kind: "threw", error };
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
