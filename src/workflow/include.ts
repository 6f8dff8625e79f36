/**
 * Composition: a workflow mounted in another one. Its nodes run in the same run, under the mount's name; the parent makes
 * its input, and goes on from the exit through which it leaves.
 */
import { HoldpointError } from "../contracts/errors.ts";
import type { NodeContext } from "./context.ts";
import type { WorkflowDefinition } from "./definition.ts";
import { checkFunction, type NodeTypes } from "./node-types.ts";
import type { WorkflowRegistry } from "./registry.ts";

/** A workflow that is found when it is needed: by name in a registry. */
export interface WorkflowRef<Definition = any> {
  readonly workflow: string | ResolvedRef<Definition>;
  /** Refuse a workflow of this name with another contract. */
  readonly contractId?: string;
}
/** What `registry.ref(name)` gives. */
export interface ResolvedRef<Definition = any> {
  readonly name: string;
  readonly registry: WorkflowRegistry<any>;
  /** For the type checker only. */
  readonly definition?: Definition;
}

/** A mount: what is included, and how its input is made. */
export interface IncludedWorkflow<
  Exits extends object = any,
  Input = any,
  Outputs extends object = any,
> extends NodeTypes<Input, Outputs, IncludedResult<Exits>> {
  readonly type: "include";
  readonly workflow: WorkflowDefinition | WorkflowRef;
  readonly input: ((context: NodeContext<any, any>) => unknown) | undefined;
}

/** How an included workflow was left: one member per exit, so that `switch (result.exit)` narrows. */
export type IncludedResult<Exits extends object> = {
  readonly [Exit in keyof Exits & string]: { readonly exit: Exit; readonly output: Exits[Exit] };
}[keyof Exits & string];

/** What an include's `input` must give: what the child's parser takes, or if that is unknown, what it makes. */
export type GivenOf<Given, Input> = unknown extends Given ? Input : Given;

type ExitsOf<Definition> = Definition extends WorkflowDefinition<any, infer Exits> ? Exits : any;
type InputOf<Definition> =
  Definition extends WorkflowDefinition<infer Input, any, infer Given> ? GivenOf<Given, Input> : any;

/**
 * Mounts a workflow. The mount's name is a target like a node; its exits are addressed as `<mount>.<exit>`.
 *
 * `input` makes the child's input from the parent's context, once per invocation; the child's own parser sees it. Entering
 * the mount again is a new invocation: the child begins with no outputs and its own settings. The child counts its own
 * `maxSteps` for each invocation, and its nodes count for the parent's limit too.
 *
 * @example
 * includes: { approval: includeWorkflow(approval, { input: ({ outputs }) => ({ plan: outputs.plan }) }) },
 * edges: [
 *   { from: "plan", to: "approval" },
 *   { from: "approval.approved", to: "deploy" },
 * ],
 */
export function includeWorkflow<
  Input,
  Exits extends object,
  Given,
  ParentInput = any,
  ParentOutputs extends object = Record<string, any>,
>(
  workflow: WorkflowDefinition<Input, Exits, Given>,
  options?: {
    readonly input?: (context: NodeContext<ParentInput, ParentOutputs>) => NoInfer<GivenOf<Given, Input>>;
  },
): IncludedWorkflow<Exits, ParentInput, ParentOutputs>;
export function includeWorkflow<Definition, ParentInput = any, ParentOutputs extends object = Record<string, any>>(
  workflow: WorkflowRef<Definition>,
  options?: { readonly input?: (context: NodeContext<ParentInput, ParentOutputs>) => NoInfer<InputOf<Definition>> },
): IncludedWorkflow<ExitsOf<Definition> & object, ParentInput, ParentOutputs>;
export function includeWorkflow(
  workflow: WorkflowDefinition | WorkflowRef,
  options: { readonly input?: (context: NodeContext) => unknown } = {},
): IncludedWorkflow {
  const { input } = options;
  if (typeof workflow !== "object" || workflow === null) {
    throw new HoldpointError(
      "workflowInvalid",
      "includeWorkflow needs a workflow, or {workflow: ref}; an import cycle gives undefined here.",
    );
  }
  if (input !== undefined) checkFunction(input, "include", "input");
  return Object.freeze({ type: "include", workflow, input });
}

/**
 * How the mount was left in its latest invocation: `{exit, output}`. With `exit`, the output of that exit.
 *
 * @example
 * const { exit, output } = includedResult(context, "approval");
 * const approved = includedResult(context, "approval", "approved");
 * @throws HoldpointError `nodeFailed` when the mount was not left yet, or not through that exit.
 */
export function includedResult<Outputs extends object, Mount extends keyof Outputs & string>(
  context: { readonly outputs: Outputs },
  mount: Mount,
): NonNullable<Outputs[Mount]>;
export function includedResult<
  Outputs extends object,
  Mount extends keyof Outputs & string,
  Exit extends ExitName<NonNullable<Outputs[Mount]>>,
>(context: { readonly outputs: Outputs }, mount: Mount, exit: Exit): OutputOfExit<NonNullable<Outputs[Mount]>, Exit>;
export function includedResult(context: { readonly outputs: object }, mount: string, exit?: string): unknown {
  const outputs = context.outputs as Record<string, { exit: string; output: unknown } | undefined>;
  const result = Object.hasOwn(outputs, mount) ? outputs[mount] : undefined;
  if (result === undefined) {
    throw new HoldpointError("nodeFailed", `Mount "${mount}" has not been left yet; there is no result of it.`);
  }
  if (exit === undefined) return result;
  if (result.exit === exit) return result.output;
  throw new HoldpointError("nodeFailed", `Mount "${mount}" was left through "${result.exit}", not through "${exit}".`);
}

type ExitName<Result> = Result extends { readonly exit: infer Exit extends string } ? Exit : string;
type OutputOfExit<Result, Exit> = 0 extends 1 & Result
  ? any
  : Result extends { readonly exit: Exit; readonly output: infer Output }
    ? Output
    : never;
