/** What executing a node came to, and how the return of its function becomes that. */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { Position } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { Attempt, Called } from "./attempt.ts";
import { failureOf, timedOut } from "./failures.ts";
import type { EngineHost } from "./host.ts";
import { toJson } from "./values.ts";

/** What executing a node came to. */
export type Performed =
  | { readonly kind: "ok"; readonly output: JsonValue; readonly bytes: number }
  | { readonly kind: "failed" | "timed_out"; readonly error: ErrorRecord }
  | { readonly kind: "parked"; readonly reason: "decision" | "checkpoint" | "effectAmbiguous" };

/** What the performers need of the engine. `wait` rejects with a sentinel when the step was taken back meanwhile. */
export interface Performance {
  readonly attempt: Attempt;
  readonly position: Position;
  readonly host: EngineHost;
  /** Another attempt at the same step, with a fresh signal. */
  renew(): Attempt;
  wait<T>(promise: Promise<T>): Promise<T>;
}

/** A returned value as checked output; a throw or the end of time as a failure. */
export function outputOf(called: Called, nodeId: string): Performed {
  switch (called.kind) {
    case "returned":
      try {
        const { bytes, value } = toJson(called.value, `The output of node "${nodeId}"`);
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
