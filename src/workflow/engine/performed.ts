/** What executing a node came to, and how the return of its function becomes that. */
import { HoldpointError, isA, isHoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import { VALUE } from "../../contracts/limits.ts";
import type { Position } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { Attempt, Called } from "./attempt.ts";
import { failureOf, timedOut } from "./failures.ts";
import type { EngineHost, SettledWithStep } from "./host.ts";
import { toJson } from "./values.ts";

/** What executing a node came to. */
export type Performed =
  | { readonly kind: "ok"; readonly output: JsonValue; readonly bytes: number; readonly settlement?: SettledWithStep }
  | { readonly kind: "failed" | "timed_out"; readonly error: ErrorRecord; readonly settlement?: SettledWithStep }
  | {
      readonly kind: "parked";
      readonly reason: "decision" | "checkpoint" | "interaction" | "sleep" | "effectAmbiguous";
    };

/** What the performers need of the engine. `wait` rejects with a sentinel when the step was taken back meanwhile. */
export interface Performance {
  readonly attempt: Attempt;
  readonly position: Position;
  readonly host: EngineHost;
  /** Whether what is said of the effect may go with the step: nothing but the reservation of another action comes after it. */
  maySettleWithStep(done: Performed): boolean;
  /** Another attempt at the same step, with a fresh signal. */
  renew(): Attempt;
  wait<T>(promise: Promise<T>): Promise<T>;
}

/** A returned value as checked output; a throw or the end of time as a failure. */
export function outputOf(called: Called, nodeId: string, maxBytes: number = VALUE.outputBytes): Performed {
  switch (called.kind) {
    case "returned":
      try {
        const { bytes, value } = toJson(called.value, `The output of node "${nodeId}"`, maxBytes);
        return { kind: "ok", output: value, bytes };
      } catch (error) {
        return { kind: "failed", error: failureOf(error, nodeId) };
      }
    case "threw":
      return { kind: "failed", error: failureOf(called.error, nodeId) };
    case "timedOut":
      return { kind: "timed_out", error: timedOut(nodeId, called.timeoutMs).toRecord() };
  }
}

/** Thrown by `describe` when a function that describes the node failed: the node has come to this. */
export class NotDescribed {
  readonly performed: Performed;
  constructor(performed: Performed) {
    this.performed = performed;
  }
}

/**
 * Reads what authored code returned. A getter of it that throws fails the node, as if the code itself had thrown.
 *
 * @throws NotDescribed then; errors of ours pass.
 */
export function reading<T>(nodeId: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    throw new NotDescribed({ kind: "failed", error: failureOf(error, nodeId) });
  }
}

/**
 * What a part of a node is: a plain value, or what its function makes of the context.
 *
 * @throws NotDescribed when the function throws or takes longer than `limitMs`.
 */
export async function describe<T>(
  { attempt, position, wait }: Performance,
  part: T | ((context: never) => T | Promise<T>),
  limitMs: number,
): Promise<T> {
  if (typeof part !== "function") return part;
  const run = part as (context: unknown) => T | Promise<T>;
  const called = await wait(Promise.resolve(attempt.call(() => run(attempt.context), limitMs)));
  if (called.kind === "returned") {
    const value = called.value as T & { readonly then?: unknown };
    // Handing it on asks it whether it is a promise.
    reading(position.nodeId, () => value?.then);
    return value;
  }
  throw new NotDescribed(outputOf(called, position.nodeId));
}

/** Runs a performer in which `describe` and refusals of the host fail the node; other errors are nobody's doing here. */
export async function failing(nodeId: string, perform: () => Promise<Performed>): Promise<Performed> {
  try {
    return await perform();
  } catch (error) {
    if (isA(error, NotDescribed)) return error.performed;
    if (!isHoldpointError(error)) throw error;
    return { kind: "failed", error: failureOf(error, nodeId) };
  }
}

/** A method of the host that it may lack. */
export function needed<M extends keyof EngineHost>(
  host: EngineHost,
  method: M,
  what: string,
): NonNullable<EngineHost[M]> {
  const found = host[method];
  if (found !== undefined) return found;
  throw new HoldpointError("unsupportedNode", `${what} cannot be executed here: the host has no ${method}.`);
}
