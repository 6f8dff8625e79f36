/** All kinds of nodes as one type with its snapshot, and how the two plainest are made: `compute` and `action`. */
import type { NodeSnapshot } from "../contracts/definition.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { WORKFLOW } from "../contracts/limits.ts";
import type { AgentNode } from "./agent.ts";
import type { CheckpointNode } from "./checkpoint.ts";
import type { ActionContext, NodeContext } from "./context.ts";
import { undeclaredEffect, type EffectContract } from "./effects.ts";
import type { HumanDecisionNode } from "./human.ts";
import { checkFunction, checkTimeout, type NodeTypes } from "./node-types.ts";
import type { NotifyNode } from "./notify.ts";
import type { SettingsRouteNode } from "./settings.ts";
import type { ShellNode } from "./shell.ts";
import type { SleepNode } from "./sleep.ts";

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
  | ShellNode<Input, Outputs, Output>
  | AgentNode<Input, Outputs, Output>
  | NotifyNode<Input, Outputs, Output>
  | CheckpointNode<Input, Outputs, Output>
  | SleepNode<Input, Outputs, Output>
  | HumanDecisionNode<Input, Outputs, Output>
  | SettingsRouteNode<Input, Outputs, Output>;

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
 * in doubt then: the run waits until a person settles it. An action that declares no effect counts as stopped when its time is
 * over; after a crash it is in doubt like a manual one.
 *
 * @example
 * const deploy = action({
 *   effect: idempotentEffect("deployment"),
 *   request: ({ input }) => ({ version: input.version }),
 *   run: async ({ input, effect, signal }) => release(input.version, effect.idempotencyKey, signal),
 * });
 */
export function action<Output, Input = any, Outputs extends object = Record<string, any>>(options: {
  /** Left out: after a crash a person says whether it happened. */
  readonly effect?: EffectContract<Input, Outputs>;
  /** Milliseconds; null for no limit; default 15 minutes. */
  readonly timeoutMs?: number | null;
  readonly request?: (context: NodeContext<Input, Outputs>) => unknown;
  readonly run: (context: ActionContext<Input, Outputs>) => Output;
}): ActionNode<Input, Outputs, Awaited<Output>> {
  const { effect = undeclaredEffect("action"), request, run, timeoutMs } = options;
  checkFunction(run, "action", "run");
  if (request !== undefined) checkFunction(request, "action", "request");
  return Object.freeze({ type: "action", timeoutMs: checkTimeout(timeoutMs), effect, request, run });
}

/**
 * What the definition snapshot says of a node.
 *
 * @throws HoldpointError `workflowInvalid` for something that no node function made.
 */
export function nodeSnapshot(workflow: string, id: string, node: WorkflowNode): NodeSnapshot {
  switch (node?.type) {
    case "compute":
    case "settingsRoute":
      return { type: node.type, timeoutMs: limitOf(node.timeoutMs) };
    case "action":
    case "shell": {
      const { recovery, type } = node.effect;
      return { type: node.type, timeoutMs: limitOf(node.timeoutMs), effect: { recovery, type } };
    }
    case "humanDecision":
      return { type: "humanDecision", timeoutMs: null, choices: Object.keys(node.choices) };
    case "checkpoint":
    case "sleep":
      return { type: node.type, timeoutMs: null };
    case "notify": {
      const { audience, groupKey, kind, severity, silent } = node;
      return {
        type: "notify",
        timeoutMs: WORKFLOW.nodeTimeoutMs,
        // What is not set is left out, so that definitions without it keep their digest; what a function makes, nobody knows before.
        notify: {
          kind,
          ...(typeof audience === "string" ? { audience } : {}),
          ...(severity === "info" ? {} : { severity }),
          ...(groupKey === undefined ? {} : { keyed: true as const }),
          ...(silent ? { silent: true as const } : {}),
        },
      };
    }
    case "agent": {
      const { allowedTools, choices, output, timeoutMs } = node;
      const dynamic = typeof timeoutMs === "function";
      return {
        type: "agent",
        timeoutMs: dynamic ? null : limitOf(timeoutMs),
        ...(dynamic ? { dynamicTimeout: true } : {}),
        agent: { output: output.kind, allowedTools: allowedTools === null ? null : [...allowedTools] },
        ...(choices === undefined ? {} : { choices: [...choices.names], choiceField: choices.field }),
      };
    }
    default:
      throw new HoldpointError(
        "workflowInvalid",
        `Workflow "${workflow}": node "${id}" was not made by compute, action, shell, agent, decision, notify, checkpoint, sleep, humanDecision or settingsRoute.`,
      );
  }
}

function limitOf(timeoutMs: number | null | undefined): number | null {
  return timeoutMs === undefined ? WORKFLOW.nodeTimeoutMs : timeoutMs;
}
