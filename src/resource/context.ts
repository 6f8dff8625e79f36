/** What a pass gets: how it ends, what it may start and change, and when it has to stop. */
import type { ErrorRecord } from "../contracts/errors.ts";
import type { ManagedEffect } from "../contracts/resource/effect.ts";
import type { ConditionInput } from "../contracts/resource/model.ts";

/** What a pass found. Left out = as it was; `conditions` are all of them, one that is not named is gone. */
export interface Found<Status> {
  readonly resourceManagerStatus?: Status;
  readonly conditions?: readonly ConditionInput[];
}

/** How a pass ended; made by `ctx.settled`, `ctx.requeue` and `ctx.requeueAfter`. */
export type Result<Status> = Found<Status> &
  ({ readonly outcome: "settled" | "requeue" } | { readonly outcome: "requeueAfter"; readonly delayMs: number });

/** A child run as its manager sees it. */
export interface ChildRun {
  readonly requestKey: string;
  readonly runId: string;
  readonly state: "pending" | "running" | "waiting" | "succeeded" | "failed" | "interrupted";
  /** Launches so far. */
  readonly attempt: number;
  /** The run's result, once it succeeded; left out when it has more than 128 KiB. */
  readonly output?: unknown;
  readonly error?: ErrorRecord;
}

export interface EnsureRun {
  /** Names this one run among those of the resource; another input needs another key. */
  readonly requestKey: string;
  /** Name of a workflow of the project, the user or the product, or a path. */
  readonly workflow: string;
  readonly input?: unknown;
}

export interface ChangeSettings {
  readonly requestKey: string;
  /** The same change is made once. */
  readonly changeKey: string;
  /** JSON Patch (RFC 6902). */
  readonly patch: unknown;
  /** Full path of a mount; left out = the run itself. */
  readonly mount?: string;
  /** The version that the change was made for; left out = whichever is the present one. */
  readonly expectedChangeNumber?: number;
}

export interface CancelRun {
  readonly requestKey: string;
  /** Stands in the run's history. */
  readonly reason?: string;
}

export interface QueueFollowUp {
  readonly requestKey: string;
  /** The same follow-up is queued once. */
  readonly followUpKey: string;
  readonly prompt: string;
}

export interface Workflows {
  /** The run of a key, started if it is new. Its end gives the resource a pass. Rejects for a known key with another workflow or input. */
  ensure(request: EnsureRun): Promise<ChildRun>;
  /**
   * Cancels the run of a key, with its questions in chat; one that has ended stays as it is. Resolves with what it is then, when its
   * processes are gone; null when this resource asked for no such run.
   */
  cancel(request: CancelRun): Promise<ChildRun | null>;
  changeSettings(request: ChangeSettings): Promise<{ readonly changeNumber: number }>;
  /** A prompt that is sent as an ordinary turn after the run succeeded. */
  queueFollowUp(request: QueueFollowUp): Promise<{ readonly followUpId: string }>;
  /** One that this resource queued and that was not sent; removing it again changes nothing. */
  removeFollowUp(request: { readonly requestKey: string; readonly followUpId: string }): Promise<void>;
}

/** What a look at the outside found. `unknown` leaves the effect as it is and ends the pass with an error. */
export type EffectObservation =
  | { readonly applied: true; readonly externalRef?: string; readonly output?: unknown }
  | { readonly applied: false }
  | { readonly applied: "unknown"; readonly reason?: string };

export interface EnsureEffect {
  /** Names one intended effect of this resource, for ever: another request needs another key. */
  readonly key: string;
  readonly kind: string;
  /** What will be done, as JSON, at most 64 KiB. Never a secret: it is stored and shown. */
  readonly request: unknown;
  /** Whether it is there already. Called before anything is repeated; it must only look. */
  readonly observe: (signal: AbortSignal) => EffectObservation | Promise<EffectObservation>;
  /**
   * Does it. `idempotencyKey` is the same for every attempt; give it to the outside if it takes one. After a throw nobody knows whether
   * it happened, and the next pass looks; throw `effectRejected(…)` when the outside certainly refused.
   */
  readonly apply: (
    signal: AbortSignal,
    effect: { readonly idempotencyKey: string; readonly attempt: number },
  ) => EffectApplied | void | Promise<EffectApplied | void>;
}

export interface EffectApplied {
  /** What the outside calls what was made. */
  readonly externalRef?: string;
  readonly output?: unknown;
}

export interface Effects {
  /**
   * Looks for an effect that an earlier pass began and whose end nobody knows, and never does anything; null when there is no such
   * effect. For a manager that sees what it wanted before it comes to `ensure`.
   */
  confirm(effect: Omit<EnsureEffect, "apply">): Promise<ManagedEffect | null>;
  /** Resolves once the effect is there. Rejects when it was refused, or while nobody knows. */
  ensure(effect: EnsureEffect): Promise<ManagedEffect>;
}

export interface Finalizers {
  /** Adds one before what it will clean up is made: the resource stays until it is removed. Resolves when it is on disk. */
  add(name: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export interface ReconcileContext<Status> {
  /** Names this pass in logs. */
  readonly reconcileId: string;
  /** Aborted when the time of the pass is over or the server stops; pass it on to every call outside. */
  readonly signal: AbortSignal;
  /** Nothing more to do until something asks again. */
  settled(found?: Found<Status>): Result<Status>;
  /** Another pass as soon as there is room. */
  requeue(found?: Found<Status>): Result<Status>;
  /** Another pass after so many milliseconds, or when something asks before. */
  requeueAfter(delayMs: number, found?: Found<Status>): Result<Status>;
  readonly workflows: Workflows;
  readonly effects: Effects;
  readonly finalizers: Finalizers;
}
