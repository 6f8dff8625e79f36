/** What the functions of a workflow receive, and the types that carry inputs and outputs from node to node. */
import type { NodeOutcome, NodeResult } from "../contracts/protocol/runner.ts";

/** One executed step, oldest first; for counting loops. */
export interface ExecutedStep {
  readonly nodeId: string;
  readonly outcome: NodeOutcome;
}

/**
 * What every function of a node receives. Values are frozen copies: a node cannot change what another produced.
 *
 * `Input` is what the workflow's input parser returns. `Outputs` names the outputs this node reads; `defineWorkflow`
 * checks it against what those nodes return.
 *
 * @example
 * type Ctx = NodeContext<DeployInput, { plan: Plan }>;
 * const check = compute({ run: ({ input, outputs }: Ctx) => outputs.plan?.version === input.version });
 */
export interface NodeContext<Input = any, Outputs extends object = Record<string, any>> {
  readonly input: Input;
  /** The latest output of each node whose latest attempt was successful. */
  readonly outputs: Readonly<Partial<Outputs>>;
  /** The latest result of each node that ran, whatever its outcome. */
  readonly results: Readonly<Record<string, NodeResult | undefined>>;
  readonly state: { readonly steps: readonly ExecutedStep[] };
  /** Aborted when the node's time is over or the run is stopped. */
  readonly signal: AbortSignal;
}

/** The identity of an external effect. */
export interface EffectIdentity {
  /** Run, effect type, full node path and visit: the same for every attempt of this effect, and for no other. */
  readonly key: string;
  /** From 1; above 1 when an earlier attempt was interrupted. */
  readonly attempt: number;
  /** The key in a short form without special characters, to hand to services that take an idempotency key. */
  readonly idempotencyKey: string;
}

/** What an action receives: the context of its node, and which effect it is about to perform. */
export interface ActionContext<Input = any, Outputs extends object = Record<string, any>> extends NodeContext<
  Input,
  Outputs
> {
  readonly effect: EffectIdentity;
}

/** What a title function receives. */
export interface TitleContext<Input = any> {
  readonly input: Input;
  readonly signal: AbortSignal;
}
