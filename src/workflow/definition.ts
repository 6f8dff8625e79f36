/** `defineWorkflow`: nodes and edges become one checked definition, and its snapshot without functions. */
import { definitionSnapshotSchema, type DefinitionSnapshot, type NodeSnapshot } from "../contracts/definition.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { WORKFLOW } from "../contracts/limits.ts";
import type { TitleContext } from "./context.ts";
import type { WorkflowEdge } from "./edges.ts";
import type { OutputOf, WorkflowNode } from "./nodes.ts";
import { checkDefinition } from "./rules/check.ts";

type Nodes = Readonly<Record<string, WorkflowNode>>;
type OutputsOf<N extends Nodes> = { readonly [Id in keyof N]: OutputOf<N[Id]> };

export interface WorkflowOptions<N extends Nodes, Input> {
  readonly name: string;
  /** `import.meta.url` of the file; needed once workflows include each other. */
  readonly source?: string;
  /** Makes the input from what the person gave, or throws; then the run does not start. Runs once, at the start. */
  readonly input?: (given: unknown) => Input;
  /** Shown in lists; a function may take 30 s. At most 200 characters are kept. */
  readonly title?: string | ((context: TitleContext<NoInfer<Input>>) => string | Promise<string>);
  readonly startAt: NoInfer<keyof N & string>;
  readonly nodes: N & { readonly [Id in keyof N]: WorkflowNode<NoInfer<Input>, Partial<OutputsOf<N>>> };
  readonly edges?: readonly WorkflowEdge<NoInfer<keyof N & string>>[];
  /** How many nodes a run may execute, loops and repetitions counted; default 100. */
  readonly maxSteps?: number;
}

/** By Symbol.for, so that a workflow made with another copy of this package is recognized. */
const BRAND = Symbol.for("holdpoint.workflow.v1");

export interface WorkflowDefinition<Input = any> {
  readonly name: string;
  readonly source: string | undefined;
  readonly input: ((given: unknown) => Input) | undefined;
  readonly title: string | ((context: TitleContext<Input>) => string | Promise<string>) | undefined;
  readonly startAt: string;
  readonly nodes: Nodes;
  readonly edges: readonly WorkflowEdge[];
  readonly maxSteps: number;
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
 * @throws HoldpointError `workflowInvalid` with the first thing that is wrong with the graph.
 */
export function defineWorkflow<const N extends Nodes, Input = any>(
  options: WorkflowOptions<N, Input>,
): WorkflowDefinition<Input> {
  const { edges = [], input, maxSteps = WORKFLOW.maxSteps, name, nodes, source, startAt, title } = options;
  if (typeof name !== "string" || name === "" || name.length > WORKFLOW.titleChars) {
    throw new HoldpointError("workflowInvalid", `A workflow needs a name of 1 to ${WORKFLOW.titleChars} characters.`);
  }
  if (input !== undefined && typeof input !== "function") {
    throw new HoldpointError("workflowInvalid", `Workflow "${name}": input is ${typeof input}; it is a function.`);
  }
  const definition = { name, source, input, title, startAt, nodes, edges, maxSteps } as WorkflowDefinition<Input>;
  Object.defineProperty(definition, BRAND, { value: true });
  checkDefinition(snapshotOf(definition));
  return Object.freeze(definition);
}

/** Whether a value was made by `defineWorkflow`, of this copy of the package or another. */
export function isWorkflow(value: unknown): value is WorkflowDefinition {
  return typeof value === "object" && value !== null && BRAND in value;
}

/**
 * The graph without its functions, as it is stored and digested.
 *
 * @throws HoldpointError `workflowInvalid` if the parts have not the right shapes.
 */
export function snapshotOf(definition: WorkflowDefinition): DefinitionSnapshot {
  const { edges, maxSteps, name, nodes, startAt } = definition;
  const parsed = definitionSnapshotSchema.safeParse({
    schema: "holdpoint.definition-snapshot.v1",
    name,
    startAt,
    maxSteps,
    nodes: Object.fromEntries(Object.entries(nodes ?? {}).map(([id, node]) => [id, nodeSnapshot(name, id, node)])),
    edges: edges.map((edge) =>
      "to" in edge ? { from: edge.from, to: edge.to } : { from: edge.from, switch: { ...edge.switch } },
    ),
  });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue?.path.map(String).join(".") ?? "";
  throw new HoldpointError(
    "workflowInvalid",
    `Workflow "${name}": ${place} is invalid: ${issue?.message ?? "unknown"}.`,
  );
}

function nodeSnapshot(name: string, id: string, node: WorkflowNode): NodeSnapshot {
  switch (node?.type) {
    case "compute":
      return { type: "compute", timeoutMs: timeoutOf(node) };
    case "action": {
      const { recovery, type } = node.effect;
      return { type: "action", timeoutMs: timeoutOf(node), effect: { recovery, type } };
    }
    case "humanDecision":
      return { type: "humanDecision", timeoutMs: null, choices: Object.keys(node.choices) };
    default:
      throw new HoldpointError(
        "workflowInvalid",
        `Workflow "${name}": node "${id}" was not made by compute, action or humanDecision.`,
      );
  }
}

/** The limit that holds for a node, in milliseconds; null for none. */
export function timeoutOf(node: { readonly timeoutMs: number | null | undefined }): number | null {
  return node.timeoutMs === undefined ? WORKFLOW.nodeTimeoutMs : node.timeoutMs;
}
