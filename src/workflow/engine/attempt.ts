/** One execution of one node: its context, its abort signal, and the call of its function under a time limit. */
import type { NodeResult } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ExecutedStep, NodeContext } from "../context.ts";
import { timedOut } from "./failures.ts";
import type { EngineTimers } from "./timers.ts";

/** What a call of authored code came to. */
export type Called =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timedOut"; readonly timeoutMs: number };

/** What an attempt may look at; the engine owns it and goes on changing it. */
export interface RunMemory {
  readonly input: JsonValue;
  readonly results: ReadonlyMap<string, NodeResult>;
  readonly steps: readonly ExecutedStep[];
}

export class Attempt {
  readonly nodeId: string;
  readonly context: NodeContext;
  readonly #timers: EngineTimers;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(nodeId: string, memory: RunMemory, timers: EngineTimers) {
    this.nodeId = nodeId;
    this.#timers = timers;
    this.context = contextOf(memory, () => this.#signal());
  }

  /** Aborts the signal, if anybody asked for it or will. */
  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }

  /**
   * Calls authored code. A function that returns a value at once is not asked to wait: the result is not a promise then.
   * After the limit the signal is aborted and whatever still comes from the function is ignored.
   */
  call(run: () => unknown, timeoutMs: number | null): Called | Promise<Called> {
    let value: unknown;
    try {
      value = run();
    } catch (error) {
      return { kind: "threw", error };
    }
    return isThenable(value) ? this.#settle(value, timeoutMs) : { kind: "returned", value };
  }

  async #settle(value: PromiseLike<unknown>, timeoutMs: number | null): Promise<Called> {
    let disarm: (() => void) | undefined;
    const over =
      timeoutMs === null
        ? undefined
        : new Promise<Called>((resolve) => {
            disarm = this.#timers.after(timeoutMs, () => {
              this.abort(timedOut(this.nodeId, timeoutMs));
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

  #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#aborted.reason);
    return this.#controller.signal;
  }
}

/** The views are made when they are looked at: most nodes need one or two of them. */
function contextOf(memory: RunMemory, signal: () => AbortSignal): NodeContext {
  let outputs: Record<string, unknown> | undefined;
  let results: Record<string, NodeResult> | undefined;
  let state: { readonly steps: readonly ExecutedStep[] } | undefined;
  return {
    input: memory.input,
    get outputs() {
      return (outputs ??= outputsOf(memory.results));
    },
    get results() {
      return (results ??= resultsOf(memory.results));
    },
    get state() {
      return (state ??= stateOf(memory.steps));
    },
    get signal() {
      return signal();
    },
  };
}

/** The list is copied when it is read, not when `state` is taken apart: it grows with the run. */
function stateOf(executed: readonly ExecutedStep[]): { readonly steps: readonly ExecutedStep[] } {
  let steps: readonly ExecutedStep[] | undefined;
  return Object.freeze({
    get steps() {
      return (steps ??= executed.slice());
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
