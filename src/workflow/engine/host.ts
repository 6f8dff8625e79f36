/**
 * The port of the engine: everything that is durable, slow or shared is behind it. The runner's session implements it
 * over the pipe to the server; a test kit implements it in memory.
 *
 * Any promise may stay pending for ever after the run was stopped; a rejection other than those named ends the run's
 * execution with that error.
 */
import type { Severity } from "../../contracts/alert.ts";
import type { AgentStep } from "../../contracts/agent-step.ts";
import type { CommandResult, CommandSpec, CommandStream } from "../../contracts/command.ts";
import type { EffectRecovery } from "../../contracts/definition.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { IncludeTransition, MountState } from "../../contracts/include.ts";
import type { NodeResult, Position, StepEntry } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { SettingsVersion } from "../../contracts/settings.ts";
import type { SleepWake } from "../../contracts/sleep.ts";
import type { UpdateEnvelope, UpdateReceipt } from "../../contracts/update.ts";
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

/** What is said of the effect of an action with its step, whose output or error is the effect's result or error. */
export interface SettledWithStep {
  readonly effectId: string;
  readonly attempt: number;
  readonly outcome: "applied" | "rejected";
}

export interface DecisionAsked {
  readonly step: number;
  readonly nodeId: string;
  readonly visit: number;
  /** As authored: audience, choices, title, subject, presentation and the rest. */
  readonly request: JsonValue;
}

/** A checkpoint that waits for an answer. */
export interface CheckpointAsked {
  readonly step: number;
  readonly nodeId: string;
  readonly visit: number;
  /** What the node's `run` made; null without one. */
  readonly content: JsonValue;
  /** One line for lists. */
  readonly summary: string | undefined;
}

/** A time that the run waits for. */
export interface SleepAsked {
  readonly step: number;
  readonly nodeId: string;
  readonly visit: number;
  readonly wake: SleepWake;
  /** What it waits for; one line for lists. */
  readonly reason: string | undefined;
}

/** A passive message: no model turn begins because of it. */
export interface NotificationAsked {
  readonly step: number;
  readonly nodeId: string;
  readonly visit: number;
  readonly kind: "progress" | "final";
  readonly message: string;
  /** Left out: text. */
  readonly format?: "markdown" | undefined;
  /** Whom it is sent to in chat; without it the origin session only. */
  readonly audience: string | undefined;
  readonly severity: Severity;
  /** Under the same key, messages of the run are one thing. */
  readonly groupKey: string | undefined;
  readonly silent: boolean;
  /** An audience that is not configured is none. */
  readonly ifConfigured: boolean;
}

/** Which attempt publishes an update; the host accepts only the live one. */
export interface UpdateAsked {
  readonly step: number;
  readonly nodeId: string;
  readonly visit: number;
  readonly envelope: UpdateEnvelope;
}

/** A scope of settings comes into being, or is found again after an interruption. */
export interface SettingsAsked {
  /** Full path of the mount; empty for the root. */
  readonly mount: string;
  readonly invocation: number;
  /** Value for a scope that does not exist yet. */
  readonly initial: JsonValue;
}

export interface CommandListeners {
  /** Complete lines of the streams asked for, at most 64 KiB each, without the line end. Never called after the result. */
  readonly streams: readonly CommandStream[];
  readonly onLine: (line: string, stream: CommandStream) => void;
}

/** Says whether a submitted value is the step's output, and what is wrong with it for the model to correct. */
export type Validate = (
  value: unknown,
) => Promise<{ readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly message: string }>;

/** What an agent step came to. */
export type AgentOutcome =
  /** The step is done elsewhere; the run waits, and the step is asked for again when there is something to judge. */
  | { readonly outcome: "parked" }
  | { readonly outcome: "ok"; readonly output: JsonValue }
  | { readonly outcome: "failed" | "timed_out"; readonly error: ErrorRecord };

/**
 * The methods up to `yield` are needed by every workflow. The others serve one kind of node or feature each; a host
 * without one fails the nodes that need it with `unsupportedNode`. All of them are called behind a barrier, and repeated
 * with the same step, node and visit after an interruption.
 */
export interface EngineHost {
  /**
   * Takes a finished step; returns a promise when too much is unacknowledged, which resolves when there is room again. With a
   * settlement (only where `settlesWithSteps`) what it says is stored before the step, in one commit with it.
   */
  advance(entry: StepEntry, bytes: number, settlement?: SettledWithStep): void | Promise<void>;
  /**
   * Actions that follow one another need one commit each: `advance` takes the settlement of the action that the step was, and
   * `reserveEffect` needs no barrier before it, as everything before is durable when it resolves.
   */
  readonly settlesWithSteps?: boolean;
  /** Resolves when every step so far is durable. */
  barrier(): Promise<void>;
  /** Rejects with a HoldpointError when the effect is refused: the node fails with it. */
  reserveEffect(request: EffectRequest): Promise<EffectReservation>;
  /** After `notApplied` resolves with the number of the attempt that follows. */
  settleEffect(settlement: EffectSettlement): Promise<{ readonly attempt: number }>;
  /** `parked`: the run waits. `answered`: it was answered at once. Rejects when the request is refused: the node fails. */
  requestDecision(asked: DecisionAsked): Promise<{ kind: "parked" } | { kind: "answered"; output: JsonValue }>;
  /**
   * The last step. `end` is what the run comes to. Rejects with `settingsChanged` when it is a `settingsRoute` whose
   * settings are not the present ones: it is executed again.
   */
  finish(entry: StepEntry, end: RunEnd): Promise<void>;
  /** Lets timers and input of the process have their turn. */
  yield(): Promise<void>;

  /** Largest value in bytes of JSON that a step may hand over; default what fits a frame. */
  readonly valueBytes?: number;
  /**
   * Inputs of mounts that were entered without a step of this engine telling it: at the start of a run whose first node lies
   * in a mount, and after an answer that the host has recorded. May repeat; mount and invocation identify them.
   */
  enter?(transitions: readonly IncludeTransition[]): Promise<void>;
  /**
   * Runs a command in a process group of its own, which is registered durably before the command starts and is gone when
   * the promise settles. Resolves for every way in which a command can end, a start error included; after `signal` is
   * aborted it stops the group and then settles in any way. Rejects only when it cannot tell.
   */
  runShell?(
    spec: CommandSpec,
    owner: { readonly step: number; readonly nodeId: string; readonly visit: number },
    signal: AbortSignal,
    listeners?: CommandListeners,
  ): Promise<CommandResult>;
  /**
   * Executes an agent step to its end: sends `stepText`, hands what is submitted to `validate`, reminds, measures active
   * time. It enforces `allowedTools` and `timeoutMs`; nothing of the step runs any more when it settles.
   */
  runAgent?(
    step: AgentStep & { readonly step: number },
    validate: Validate,
    signal: AbortSignal,
  ): Promise<AgentOutcome>;
  /** As `requestDecision`: the answer becomes the output. */
  requestCheckpoint?(asked: CheckpointAsked): Promise<{ kind: "parked" } | { kind: "answered"; output: JsonValue }>;
  /** As `requestDecision`; the host says when it was due and when the run went on. */
  requestSleep?(asked: SleepAsked): Promise<{ kind: "parked" } | { kind: "answered"; output: JsonValue }>;
  /** Stores the message once for each node and visit, with the number it has in the run. Rejects: the node fails. */
  notify?(asked: NotificationAsked): Promise<{ readonly index: number }>;
  /** Rejects with `updateRefused` when it comes too often or the attempt is over; nothing else follows from that. */
  publishUpdate?(asked: UpdateAsked): Promise<UpdateReceipt>;
  /** The scope's present version; creates it with `initial` when it is new. */
  settings?(asked: SettingsAsked): Promise<SettingsVersion>;
}

/** A host that can execute everything an author can write. */
export type FullEngineHost = Required<Omit<EngineHost, "settlesWithSteps">>;

/** Where and with what the execution begins. `steps` has exactly the steps before `position.step`. */
export interface ResumeState {
  readonly position: Position;
  readonly visits: Readonly<Record<string, number>>;
  readonly results: readonly NodeResult[];
  readonly steps: readonly ExecutedStep[];
  /** What is stored of the mounts; only `input` is read, the rest follows from the steps. */
  readonly mounts?: readonly MountState[];
}

/** How the execution ended here; the run itself may go on elsewhere. */
export type EngineEnd =
  | { readonly kind: "finished"; readonly end: RunEnd; readonly output: JsonValue | undefined }
  | {
      readonly kind: "parked";
      readonly reason: "decision" | "checkpoint" | "interaction" | "sleep" | "effectAmbiguous";
    }
  | { readonly kind: "stopped"; readonly reason: string };
