/** Sleep nodes: the run waits for a time, on the server, while no process does. */
import { HoldpointError } from "../contracts/errors.ts";
import type { NodeContext } from "./context.ts";
import { checkFunction, type NodeTypes } from "./node-types.ts";

type Part<T> = T | ((context: NodeContext<any, any>) => T | Promise<T>);

export interface SleepNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "sleep";
  /** Milliseconds from when the server stores it (`for`), or a time in milliseconds since the epoch (`until`). */
  readonly wake: { readonly kind: "for" | "until"; readonly value: Part<number> };
  readonly reason: Part<string> | undefined;
}

/** The output of a sleep. Times of the server, in milliseconds since the epoch. */
export interface Slept {
  /** When the run was to go on. */
  readonly dueAt: number;
  /** When it did: later when the server or the machine was away at that time. */
  readonly wokeAt: number;
}

/**
 * The run waits until a time has come. The deadline is kept by the server, so that no process runs meanwhile, and neither a
 * restart nor a machine that slept loses or repeats it; a time that passed meanwhile wakes the run at once. Pausing does not stop the
 * clock: a run that is due while it is paused goes on when it is resumed. At most 366 days; a time in the past does not wait.
 *
 * Give `ms` (from the moment at which the sleep is stored) or `until` (milliseconds since the epoch), as a number or made from the
 * context. Where it matters when "now" is, count from a time that the server told, such as the `at` of an update's receipt.
 *
 * @example
 * const pause = sleep({ ms: ({ input }) => input.everyMinutes * 60_000, reason: "The next check" });
 */
export function sleep<Input = any, Outputs extends object = Record<string, any>>(
  options: (
    | { readonly ms: number | ((context: NodeContext<Input, Outputs>) => number | Promise<number>) }
    | { readonly until: number | ((context: NodeContext<Input, Outputs>) => number | Promise<number>) }
  ) & {
    /** What it waits for, one line for lists. */
    readonly reason?: string | ((context: NodeContext<Input, Outputs>) => string | Promise<string>);
  },
): SleepNode<Input, Outputs, Slept> {
  const { reason } = options;
  if (reason !== undefined && typeof reason !== "string") checkFunction(reason, "sleep", "reason");
  const given: { ms?: unknown; until?: unknown } = options;
  if ((given.ms === undefined) === (given.until === undefined))
    throw new HoldpointError("workflowInvalid", "A node of type sleep needs either ms or until.");
  const [kind, value] = given.ms === undefined ? (["until", given.until] as const) : (["for", given.ms] as const);
  if (typeof value !== "number") checkFunction(value, "sleep", kind === "for" ? "ms" : "until");
  return Object.freeze({ type: "sleep", wake: Object.freeze({ kind, value: value as Part<number> }), reason });
}
