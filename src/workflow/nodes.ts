/** The kinds of nodes and how they are made: `compute` and `action`. (`humanDecision` is in human.ts.) */
import { HoldpointError } from "../contracts/errors.ts";
import type { ActionContext, NodeContext } from "./context.ts";
import { manualEffect, type EffectContract } from "./effects.ts";
import type { HumanDecisionNode } from "./human.ts";
import { checkFunction, type NodeTypes } from "./node-types.ts";

export interface ComputeNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "compute";
  /** Milliseconds; null: no limit; undefined: the default of 15 minutes. */
  readonly timeoutMs: number | null | undefined;
  readonly run: (context: NodeContext<any, any>) => unknown;
}

export interface ActionNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "action";
  readonly timeoutMs: number | null | undefined;
  readonly effect: EffectContract;
  readonly request: ((context: NodeContext<any, any>) => unknown) | undefined;
  readonly run: (context: ActionContext<any, any>) => unknown;
}

export type WorkflowNode<Input = any, Outputs extends object = any, Output = any> =
  | ComputeNode<Input, Outputs, Output>
  | ActionNode<Input, Outputs, Output>
  | HumanDecisionNode<Input, Outputs, Output>;

/** What a node produces. */
export type OutputOf<Node> = Node extends NodeTypes<any, any, infer Output> ? Output : never;

/**
 * A pure step: it reads and returns JSON, and may run again after a crash. It must not change anything outside.
 *
 * Returning nothing counts as null; fields that are undefined are left out. Anything else that JSON cannot carry, and
 * more than 900,000 bytes, fails the node.
 *
 * @example
 * const plan = compute({
 *   timeoutMs: 10_000,
 *   run: ({ input }: NodeContext<{ version: string }>) => ({ steps: ["migrate", `release ${input.version}`] }),
 * });
 */
export function compute<Output, Input = any, Outputs extends object = Record<string, any>>(options: {
  /** Milliseconds; null for no limit; default 15 minutes. */
  readonly timeoutMs?: number | null;
  readonly run: (context: NodeContext<Input, Outputs>) => Output;
}): ComputeNode<Input, Outputs, Awaited<Output>> {
  const { run, timeoutMs } = options;
  checkFunction(run, "compute", "run");
  return Object.freeze({ type: "compute", timeoutMs: checkTimeout(timeoutMs), run });
}

/**
 * A step with an external effect. It is recorded before it begins, and recovers as its effect contract says.
 *
 * `request` describes what will be done, as JSON: operators see it, and the same effect with another request is refused
 * as a conflict. It must give the same value when the step is repeated. Left out, it is `{ node: <the node's path> }`.
 *
 * When `run` throws, the node fails and its effect counts as not done; an observed effect looks first. Throw
 * `outcomeUnknown()` when you cannot know. When the time is over, the node has timed out, except that a manual effect is
 * in doubt then: the run waits until a person settles it.
 *
 * @example
 * const deploy = action({
 *   effect: idempotentEffect("deployment"),
 *   request: ({ input }) => ({ version: input.version }),
 *   run: async ({ input, effect, signal }) => release(input.version, effect.idempotencyKey, signal),
 * });
 */
export function action<Output, Input = any, Outputs extends object = Record<string, any>>(options: {
  /** Default: manual. */
  readonly effect?: EffectContract<Input, Outputs>;
  /** Milliseconds; null for no limit; default 15 minutes. */
  readonly timeoutMs?: number | null;
  readonly request?: (context: NodeContext<Input, Outputs>) => unknown;
  readonly run: (context: ActionContext<Input, Outputs>) => Output;
}): ActionNode<Input, Outputs, Awaited<Output>> {
  const { effect = manualEffect("action"), request, run, timeoutMs } = options;
  checkFunction(run, "action", "run");
  if (request !== undefined) checkFunction(request, "action", "request");
  return Object.freeze({ type: "action", timeoutMs: checkTimeout(timeoutMs), effect, request, run });
}

function checkTimeout(timeoutMs: number | null | undefined): number | null | undefined {
  if (timeoutMs === undefined || timeoutMs === null) return timeoutMs;
  if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0) return timeoutMs;
  throw new HoldpointError(
    "workflowInvalid",
    `timeoutMs is ${timeoutMs}; it is a whole number of milliseconds above 0, or null.`,
  );
}
