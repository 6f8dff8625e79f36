/** What the functions of a workflow receive, and the types that carry inputs and outputs from node to node. */
import type { CommandResult, CommandSpec } from "../contracts/command.ts";
import type { NodeOutcome, NodeResult } from "../contracts/protocol/runner.ts";
import type { UpdateReceipt } from "../contracts/update.ts";

/** One executed step, oldest first; for counting loops. */
export interface ExecutedStep {
  /** As the context's workflow calls it: a node of its own, or `mount/node`. */
  readonly nodeId: string;
  readonly outcome: NodeOutcome;
}

/**
 * What every function of a node receives. Values are frozen copies: a node cannot change what another produced.
 *
 * In an included workflow everything is seen from its mount: its own input, ids without the mount's name, and only what
 * happened in this invocation.
 *
 * `Input` is what the workflow's input parser returns. `Outputs` names the outputs this node reads; `defineWorkflow`
 * checks it against what those nodes return.
 *
 * @example
 * type Ctx = NodeContext<DeployInput, { plan: Plan }>;
 * const check = compute({ run: ({ input, outputs }: Ctx) => outputs.plan?.version === input.version });
 */
export interface NodeContext<Input = any, Outputs extends object = Record<string, any>, Settings = any> {
  readonly input: Input;
  /** The latest output of each node whose latest attempt was successful; of a mount, how it was left. */
  readonly outputs: Readonly<Partial<Outputs>>;
  /** The latest result of each node that ran, whatever its outcome. */
  readonly results: Readonly<Record<string, NodeResult | undefined>>;
  readonly state: { readonly steps: readonly ExecutedStep[] };
  /** Aborted when the node's time is over or the run is stopped. */
  readonly signal: AbortSignal;
  /** The workflow's settings as they were when this attempt began; only in workflows that have some. */
  readonly settings?: Settings;
  readonly settingsScopeId?: string;
  /** Number of the settings' version; 0 is the initial one. */
  readonly settingsChangeNumber?: number;
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

/** An update as an author writes it. */
export interface Update {
  /** `[a-z][a-z0-9.-]*`, at most 64 characters; `progress` is `holdpoint.progress.v1`. */
  readonly type: string;
  /** Which of several: the newest of one type and key replaces the earlier. */
  readonly key: string;
  /** At most 64 KiB of JSON. */
  readonly data: object;
}

/** A command as an author writes it. */
export type CommandOptions = { readonly command: string; readonly args?: readonly string[] } & Partial<
  Omit<CommandSpec, "command" | "args">
>;

/** What an action receives: the context of its node, which effect it is about to perform, and what it may do meanwhile. */
export interface ActionContext<
  Input = any,
  Outputs extends object = Record<string, any>,
  Settings = any,
> extends NodeContext<Input, Outputs, Settings> {
  readonly effect: EffectIdentity;
  /**
   * Says something about the work in progress. Rejects with `updateRefused` when the form is wrong, more than 20 a second
   * come (bursts of 100 are fine), or the attempt is over; the node goes on either way.
   */
  publishUpdate(update: Update): Promise<UpdateReceipt>;
  /**
   * Runs a command in a supervised process group that ends with this node at the latest. Resolves for every exit code;
   * see `runCommandBatch` for several.
   */
  runCommand(command: CommandOptions): Promise<CommandResult>;
}

/** What a title function receives. */
export interface TitleContext<Input = any> {
  readonly input: Input;
  readonly signal: AbortSignal;
}
