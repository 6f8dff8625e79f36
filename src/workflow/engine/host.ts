/**
 * The port of the engine: everything that is durable, slow or shared is behind it. The runner's session implements it
 * over the pipe to the server; a test kit implements it in memory.
 *
 * Any promise may stay pending for ever after the run was stopped; a rejection other than those named ends the run's
 * execution with that error.
 */
import type { EffectRecovery } from "../../contracts/definition.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { NodeResult, Position, StepEntry } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ExecutedStep } from "../context.ts";
import type { RunEnd } from "../rules/after-step.ts";

export interface EffectReservation {
  readonly effectId: string;
  readonly key: string;
  readonly attempt: number;
  /**
   * `fresh`: first attempt. `repeat`: an earlier one was interrupted, do it again with the key. `observe`: look first.
   * `applied`, `rejected`: it is known what happened. `ambiguous`: a person must say; the run is parked.
   */
  readonly state: "fresh" | "repeat" | "observe" | "applied" | "rejected" | "ambiguous";
  readonly result?: JsonValue | undefined;
  readonly error?: ErrorRecord | undefined;
}

export interface EffectRequest {
  readonly step: number;
  readonly nodeId: string;
  readonly visit: number;
  readonly effectType: string;
  readonly recovery: EffectRecovery;
  readonly request: JsonValue;
}

export interface EffectSettlement {
  readonly effectId: string;
  readonly attempt: number;
  readonly outcome: "applied" | "rejected" | "notApplied" | "ambiguous";
  readonly result?: JsonValue;
  readonly error?: ErrorRecord;
}

export interface DecisionAsked {
  readonly step: number;
  readonly nodeId: string;
  readonly visit: number;
  /** As authored: audience, choices, title, subject, presentation and the rest. */
  readonly request: JsonValue;
}

export interface EngineHost {
  /** Takes a finished step; returns a promise when too much is unacknowledged, which resolves when there is room again. */
  advance(entry: StepEntry, bytes: number): void | Promise<void>;
  /** Resolves when every step so far is durable. */
  barrier(): Promise<void>;
  /** Rejects with a HoldpointError when the effect is refused: the node fails with it. */
  reserveEffect(request: EffectRequest): Promise<EffectReservation>;
  /** After `notApplied` resolves with the number of the attempt that follows. */
  settleEffect(settlement: EffectSettlement): Promise<{ readonly attempt: number }>;
  /** `parked`: the run waits. `answered`: it was answered at once. Rejects when the request is refused: the node fails. */
  requestDecision(asked: DecisionAsked): Promise<{ kind: "parked" } | { kind: "answered"; output: JsonValue }>;
  /** The last step. `end` is what the run comes to. */
  finish(entry: StepEntry, end: RunEnd): Promise<void>;
  /** Lets timers and input of the process have their turn. */
  yield(): Promise<void>;
}

/** Where and with what the execution begins. `steps` has exactly the steps before `position.step`. */
export interface ResumeState {
  readonly position: Position;
  readonly visits: Readonly<Record<string, number>>;
  readonly results: readonly NodeResult[];
  readonly steps: readonly ExecutedStep[];
}

/** How the execution ended here; the run itself may go on elsewhere. */
export type EngineEnd =
  | { readonly kind: "finished"; readonly end: RunEnd; readonly output: JsonValue | undefined }
  | { readonly kind: "parked"; readonly reason: "decision" | "effectAmbiguous" }
  | { readonly kind: "stopped"; readonly reason: string };
