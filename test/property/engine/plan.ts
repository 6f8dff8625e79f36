/**
 * What a random workflow is, as plain data: the graph, and what each node does at each of its visits. The workflow that the
 * engine runs (build.ts) and the reference interpreter (reference.ts) are both made from this, independently.
 */

export type Kind = "compute" | "idempotent" | "observed" | "manual" | "checkpoint" | "decision" | "sleep" | "notify";

/**
 * What one execution comes to.
 * - `x` `y` `z`: an output (or answer) with this as its route.
 * - `fail`: throws before anything happened. `hang`: runs out of time before anything happened.
 * - `bad`: acts, then returns what JSON cannot carry.
 * - `lost`: acts, then throws (observed actions look, and find it).
 * - `unknown`: a manual action's first attempt throws outcomeUnknown without having acted; its operator finds out.
 */
export type Deed = "x" | "y" | "z" | "fail" | "hang" | "bad" | "lost" | "unknown";

export type Way =
  | { readonly to: string }
  /** `route`: `$.r`; `outcome`: `$result.outcome`; `choice`: `$.choice`; `inherited`: a path that only leads anywhere through a prototype. */
  | { readonly on: "route" | "outcome" | "choice" | "inherited"; readonly cases: Readonly<Record<string, string>> };

export interface PlanNode {
  readonly kind: Kind;
  /** By visit within the invocation (answers: within the run), repeated from the start. */
  readonly deeds: readonly Deed[];
}

export interface PlanMount {
  readonly flow: Plan;
  readonly input: "made" | "throws";
}

export interface PlanExit {
  /** A node, or `<mount>.<exit>`; without an edge. */
  readonly from: string;
  readonly validate: "none" | "keeps" | "changes" | "refuses";
}

export interface Plan {
  readonly start: string;
  readonly maxSteps: number;
  readonly nodes: Readonly<Record<string, PlanNode>>;
  readonly mounts: Readonly<Record<string, PlanMount>>;
  readonly exits: Readonly<Record<string, PlanExit>>;
  /** From a node, or `<mount>.<exit>`. */
  readonly edges: Readonly<Record<string, Way>>;
}

/**
 * What goes wrong from outside, at the n-th frame that a runner sends in the whole run.
 * - `killBefore` / `killAfter`: the runner dies, and the server has not / has heard the frame.
 * - `server`: the server dies with it; its file is opened anew by another one.
 * - `refused`: steps arrive with a wrong next node, so that the server takes the runner back.
 */
export interface Fault {
  readonly frame: number;
  readonly kind: "killBefore" | "killAfter" | "server" | "refused";
}

/** What an engine, real or imagined, makes of a plan. */
export interface Story {
  readonly status: string;
  readonly error: string | null;
  /** `path outcome`, in order. */
  readonly steps: readonly string[];
  /** The latest output of each node that has one. */
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly finalOutput: unknown;
  /** `path#visit status` of every action that was begun. */
  readonly effects: readonly string[];
}

export const deedOf = ({ deeds }: PlanNode, visit: number): Deed => deeds[(visit - 1) % deeds.length] as Deed;

/** What the node's output says of the way to go. */
export const routeOf = (deed: Deed): string => (deed === "y" || deed === "z" ? deed : "x");

/** A plan as a reader wants to see it. */
export function shown(plan: Plan, indent = ""): string {
  const way = (from: string): string => {
    const edge = Object.hasOwn(plan.edges, from) ? plan.edges[from] : undefined;
    const exit = Object.entries(plan.exits).find(([, { from: at }]) => at === from);
    if (exit !== undefined)
      return ` => exit ${exit[0]}${exit[1].validate === "none" ? "" : ` (validate ${exit[1].validate})`}`;
    if (edge === undefined) return " (end)";
    if ("to" in edge) return ` -> ${edge.to}`;
    const cases = Object.entries(edge.cases).map(([name, to]) => `${name}: ${to}`);
    return ` -> by ${edge.on} {${cases.join(", ")}}`;
  };
  const lines = [`${indent}start ${plan.start}, maxSteps ${plan.maxSteps}`];
  for (const [id, { deeds, kind }] of Object.entries(plan.nodes))
    lines.push(`${indent}${id}: ${kind} ${deeds.join(",")}${way(id)}`);
  for (const [name, { flow, input }] of Object.entries(plan.mounts)) {
    lines.push(`${indent}${name}: mount, input ${input}`);
    for (const exit of Object.keys(flow.exits)) lines.push(`${indent}${name}.${exit}${way(`${name}.${exit}`)}`);
    lines.push(shown(flow, `${indent}    `));
  }
  return lines.join("\n");
}
