/**
 * Effect contracts: how an action recovers when nobody knows whether it happened. Every action has one; an action
 * that names none is manual.
 */
import { HoldpointError } from "../contracts/errors.ts";
import type { ActionContext } from "./context.ts";

/** What a look at the outside world found. `output` becomes the node's output. */
export type Observation<Output = unknown> =
  | { readonly applied: true; readonly output?: Output }
  | { readonly applied: false }
  | { readonly applied: "unknown"; readonly reason?: string };

export interface IdempotentEffect {
  readonly recovery: "idempotent";
  readonly type: string;
}
export interface ManualEffect {
  readonly recovery: "manual";
  readonly type: string;
  /** The author said nothing about the effect: when its time is over it counts as stopped. */
  readonly undeclared?: true;
}
export interface ObservedEffect<Input = any, Outputs extends object = any> {
  readonly recovery: "observed";
  readonly type: string;
  readonly observe: (context: ActionContext<Input, Outputs>) => Observation | Promise<Observation>;
}
export type EffectContract<Input = any, Outputs extends object = any> =
  | IdempotentEffect
  | ManualEffect
  | ObservedEffect<Input, Outputs>;

/**
 * The outside world recognizes a repetition by the key, so an interrupted action simply runs again.
 *
 * `type` names the effect, at most 200 characters; it is part of the key.
 *
 * @example
 * action({
 *   effect: idempotentEffect("payment"),
 *   run: ({ input, effect }) => pay(input.amount, { idempotencyKey: effect.idempotencyKey }),
 * });
 */
export function idempotentEffect(type: string): IdempotentEffect {
  return Object.freeze({ recovery: "idempotent", type: checkedType(type) });
}

/**
 * After an interruption, and after a failure, `observe` looks whether the effect is there before anything is done
 * again. It must only look. When it cannot tell, or throws, a person settles the effect.
 *
 * @example
 * action({
 *   effect: observedEffect("release", {
 *     observe: async ({ input }) => ({ applied: await releaseExists(input.version) }),
 *   }),
 *   run: ({ input }) => createRelease(input.version),
 * });
 */
export function observedEffect<Input = any, Outputs extends object = Record<string, any>>(
  type: string,
  options: {
    readonly observe: (context: ActionContext<Input, Outputs>) => Observation | Promise<Observation>;
  },
): ObservedEffect<Input, Outputs> {
  if (typeof options?.observe !== "function") {
    throw new HoldpointError("workflowInvalid", `observedEffect("${type}") needs a function observe.`);
  }
  return Object.freeze({ recovery: "observed", type: checkedType(type), observe: options.observe });
}

/**
 * Nothing can be looked up and nothing may be repeated: after an interruption the run waits until a person says whether
 * it happened (`holdpoint effect settle`).
 *
 * @example
 * action({ effect: manualEffect("letter"), run: ({ input }) => printLetter(input.text) });
 */
export function manualEffect(type: string): ManualEffect {
  return Object.freeze({ recovery: "manual", type: checkedType(type) });
}

/** The effect of an action whose author declared none. */
export function undeclaredEffect(type: string): ManualEffect {
  return Object.freeze({ recovery: "manual", type: checkedType(type), undeclared: true });
}

/** Brand of errors that leave the outcome open; by Symbol.for, so that two copies of this module agree. */
const UNKNOWN = Symbol.for("holdpoint.outcome-unknown.v1");

/**
 * An error for an action to throw when it cannot know whether its effect happened, for example after a connection broke.
 * A manual effect then waits for a person instead of counting as failed; an observed one looks, as after any error; an
 * idempotent one just fails, because repeating it does no harm.
 *
 * @example
 * try { await send(letter); } catch (error) { throw outcomeUnknown("The printer did not answer.", error); }
 */
export function outcomeUnknown(message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  Object.defineProperty(error, UNKNOWN, { value: true });
  return error;
}

/** Whether a thrown value was made by `outcomeUnknown`. */
export function isOutcomeUnknown(error: unknown): boolean {
  try {
    return error instanceof Error && UNKNOWN in error;
  } catch {
    return false;
  }
}

function checkedType(type: string): string {
  if (typeof type === "string" && type.length > 0 && type.length <= 200) return type;
  const seen = typeof type === "string" ? `${type.length} characters` : typeof type;
  throw new HoldpointError("workflowInvalid", `The type of an effect is text of 1 to 200 characters; it is ${seen}.`);
}
