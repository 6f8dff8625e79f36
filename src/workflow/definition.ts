/** `defineWorkflow`: nodes, mounts and edges become one checked definition, and its snapshot without functions. */
import type { DefinitionSnapshot } from "../contracts/definition.ts";
import { isVisible } from "../contracts/decision/text.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { WORKFLOW } from "../contracts/limits.ts";
import { compileWorkflow, hasReferences, type CompileOptions } from "./compile.ts";
import type { TitleContext } from "./context.ts";
import type { WorkflowEdge } from "./edges.ts";
import type { IncludedWorkflow } from "./include.ts";
import type { OutputOf, WorkflowNode } from "./nodes.ts";
import type { WorkflowRegistry } from "./registry.ts";
import { checkDefinition } from "./rules/check.ts";
import type { WorkflowSettings } from "./settings.ts";

type Nodes = Readonly<Record<string, WorkflowNode>>;
type Includes = Readonly<Record<string, IncludedWorkflow>>;
type OutputsOf<N extends Nodes, I extends Includes> = { readonly [Id in keyof N]: OutputOf<N[Id]> } & {
  readonly [Mount in keyof I]: OutputOf<I[Mount]>;
};

/** An exit: how a mounted workflow is left. */
export interface ExitDefinition<From extends string = string> {
  /** A node without edges, or the exit of a mount (`<mount>.<exit>`). */
  readonly from: From;
  /**
   * Checks the value before the parent sees it. What it returns is the exit's value; nothing or true keeps the value;
   * false or a throw fails the node that leaves.
   */
  readonly validate?: (value: any) => unknown;
}
type ExitOptions = Readonly<Record<string, ExitDefinition>>;

type ExitsOfMount<M> = M extends IncludedWorkflow<infer Exits> ? Exits : never;
/** `<mount>.<exit>` for every exit of every mount. */
type ExitAddress<I extends Includes> = {
  [Mount in keyof I & string]: `${Mount}.${keyof ExitsOfMount<I[Mount]> & string}`;
}[keyof I & string];
type ExitOutput<From, N extends Nodes, I extends Includes> = From extends keyof N
  ? OutputOf<N[From]>
  : From extends `${infer Mount}.${infer Exit}`
    ? Mount extends keyof I
      ? Exit extends keyof ExitsOfMount<I[Mount]>
        ? ExitsOfMount<I[Mount]>[Exit]
        : never
      : never
    : never;
type Validated<Made, Output> = [Made] extends [boolean | void | undefined] ? Output : Made;
type ExitsOf<E extends ExitOptions, N extends Nodes, I extends Includes> = {
  [Exit in keyof E]: E[Exit] extends { readonly validate: (value: any) => infer Made }
    ? Validated<Made, ExitOutput<E[Exit]["from"], N, I>>
    : ExitOutput<E[Exit]["from"], N, I>;
};

export interface WorkflowOptions<N extends Nodes, Input, I extends Includes, E extends ExitOptions, Given> {
  readonly name: string;
  /** `import.meta.url` of the file; recorded for every mount of the workflow. */
  readonly source?: string;
  /** A name for what this workflow takes and gives, for those who mount it by reference. */
  readonly contractId?: string;
  /** Makes the input from what the person gave, or throws; then the run does not start. Runs once, at the start. */
  readonly input?: (given: Given) => Input;
  /** Shown in lists; a function may take 30 s. At most 200 characters are kept. */
  readonly title?: string | ((context: TitleContext<NoInfer<Input>>) => string | Promise<string>);
  /** A node or a mount. */
  readonly startAt: NoInfer<(keyof N & string) | (keyof I & string)>;
  readonly nodes: N & { readonly [Id in keyof N]: WorkflowNode<NoInfer<Input>, Partial<OutputsOf<N, I>>> };
  /** Mount → workflow. */
  readonly includes?: I & {
    readonly [Mount in keyof I]: IncludedWorkflow<any, NoInfer<Input>, Partial<OutputsOf<N, I>>>;
  };
  /** Exit → the end it is; for workflows that are mounted. */
  readonly exits?: E & { readonly [Exit in keyof E]: ExitDefinition<NoInfer<(keyof N & string) | ExitAddress<I>>> };
  readonly edges?: readonly WorkflowEdge<
    NoInfer<(keyof N & string) | ExitAddress<I>>,
    NoInfer<(keyof N & string) | (keyof I & string)>
  >[];
  /** How many nodes a run may execute, loops, repetitions and mounts counted; default 100. */
  readonly maxSteps?: number;
  readonly settings?: WorkflowSettings<any, NoInfer<Input>>;
  /** Where mounts that name their workflow by a text are looked up. */
  readonly registry?: WorkflowRegistry<any>;
  /** Accepted for files of the earlier system; nothing follows from it. */
  readonly presentationPrompt?: unknown;
}

/** By Symbol.for, so that a workflow made with another copy of this package is recognized. */
const BRAND = Symbol.for("holdpoint.workflow.v1");

declare const types: unique symbol;

export interface WorkflowDefinition<Input = any, Exits extends object = any, Given = any> {
  readonly name: string;
  readonly source: string | undefined;
  readonly contractId: string | undefined;
  readonly input: ((given: unknown) => Input) | undefined;
  readonly title: string | ((context: TitleContext<Input>) => string | Promise<string>) | undefined;
  readonly startAt: string;
  readonly nodes: Nodes;
  readonly includes: Includes;
  readonly exits: ExitOptions;
  readonly edges: readonly WorkflowEdge[];
  readonly maxSteps: number;
  readonly settings: WorkflowSettings | undefined;
  readonly registry: WorkflowRegistry | undefined;
  /** For the type checker only. */
  readonly [types]?: { readonly exits: Exits; readonly given: Given };
}

/**
 * Defines a workflow. A file exports it as default.
 *
 * A node without an outgoing edge ends the run, and its output is the run's output. A node that failed or timed out goes
 * on only through a switch on `$result.outcome`.
 *
 * @example
 * export default defineWorkflow({
 *   name: "greet",
 *   input: (given) => z.object({ name: z.string() }).parse(given),
 *   startAt: "greet",
 *   nodes: { greet: compute({ run: ({ input }) => `Hello ${input.name}` }) },
 * });
 * @throws HoldpointError `workflowInvalid` with the first thing that is wrong with the graph. A workflow with references
 *   (`includeWorkflow({workflow: …})`) is checked when it is loaded.
 */
export function defineWorkflow<
  const N extends Nodes,
  Input = any,
  const I extends Includes = {},
  const E extends ExitOptions = {},
  Given = unknown,
>(options: WorkflowOptions<N, Input, I, E, Given>): WorkflowDefinition<Input, ExitsOf<E, N, I>, Given> {
  const { contractId, edges = [], input, maxSteps = WORKFLOW.maxSteps, name, nodes, source, startAt, title } = options;
  const { exits = {}, includes = {}, registry, settings } = options;
  if (typeof name !== "string" || name === "" || name.length > WORKFLOW.titleChars) {
    throw new HoldpointError("workflowInvalid", `A workflow needs a name of 1 to ${WORKFLOW.titleChars} characters.`);
  }
  for (const [field, text] of Object.entries({ name, title })) {
    if (typeof text === "string" && !isVisible(text))
      throw new HoldpointError(
        "workflowInvalid",
        `Workflow ${JSON.stringify(name)}: ${field} shows nothing; nobody could see it.`,
      );
  }
  if (input !== undefined && typeof input !== "function") {
    throw new HoldpointError("workflowInvalid", `Workflow "${name}": input is ${typeof input}; it is a function.`);
  }
  const definition = {
    name,
    source,
    contractId,
    input,
    title,
    startAt,
    nodes: nodes ?? {},
    includes,
    exits,
    edges,
    maxSteps,
    settings,
    registry,
  } as unknown as WorkflowDefinition<Input, ExitsOf<E, N, I>, Given>;
  Object.defineProperty(definition, BRAND, { value: true });
  Object.freeze(definition);
  if (!hasReferences(definition)) snapshotOf(definition);
  return definition;
}

/** Whether a value was made by `defineWorkflow`, of this copy of the package or another. */
export function isWorkflow(value: unknown): value is WorkflowDefinition {
  return typeof value === "object" && value !== null && BRAND in value;
}

/**
 * The whole graph without its functions, included workflows flattened into it, as it is stored and digested.
 *
 * @throws HoldpointError `workflowInvalid` if the parts have not the right shapes or the graph breaks a rule;
 *   `workflowNotFound` for a reference that leads nowhere.
 */
export function snapshotOf(definition: WorkflowDefinition, options: CompileOptions = {}): DefinitionSnapshot {
  const { snapshot } = compileWorkflow(definition, options);
  checkDefinition(snapshot);
  return snapshot;
}

/** The limit that holds for a node, in milliseconds; null for none. */
export function timeoutOf(node: { readonly timeoutMs: number | null | undefined }): number | null {
  return node.timeoutMs === undefined ? WORKFLOW.nodeTimeoutMs : node.timeoutMs;
}
