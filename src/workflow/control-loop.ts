/** Control loops: one node decides, others do what was decided and return to be decided about again. */
import { HoldpointError } from "../contracts/errors.ts";
import type { PlainEdge, SwitchEdge } from "./edges.ts";

/** One way out of the deciding node. */
export type LoopRoute<Id extends string = string> =
  /** Goes to `to`; the nodes in `returns`, where that work ends, lead back. */
  | { readonly to: Id; readonly returns: readonly Id[]; readonly terminal?: undefined }
  /** Goes to `to` and does not come back. */
  | { readonly to: Id; readonly terminal: true; readonly returns?: undefined };

export interface ControlLoop<Name extends string = string, Id extends string = string> {
  /** For `decision({choices})`. */
  readonly choices: readonly Name[];
  /** For `defineWorkflow({edges})`. */
  readonly edges: readonly (PlainEdge<Id> | SwitchEdge<Id>)[];
}

/**
 * The choices and edges of a loop.
 *
 * @example
 * const loop = controlLoop({
 *   decide: "decide",
 *   returnTo: "observe",
 *   routes: { act: { to: "act", returns: ["act"] }, stop: { to: "report", terminal: true } },
 * });
 * // decision({ choices: loop.choices, … }), edges: [{ from: "observe", to: "decide" }, ...loop.edges]
 * @throws HoldpointError `workflowInvalid` for an empty name, no routes, a route that neither returns nor is terminal or is
 *   both, a node that returns twice, the deciding node as a return, and a route named `cancelled`.
 */
export function controlLoop<const Name extends string, const Id extends string>(options: {
  /** The node that chooses. */
  readonly decide: Id;
  /** Where the work comes back to; often the node before `decide`. */
  readonly returnTo: Id;
  readonly routes: { readonly [N in Name]: LoopRoute<Id> };
  /** Field of the output that holds the choice; default `route`. */
  readonly field?: string;
}): ControlLoop<Name, Id> {
  const { decide, field = "route", returnTo, routes } = options;
  const fail = (text: string): never => {
    throw new HoldpointError("workflowInvalid", `controlLoop around "${decide}" ${text}.`);
  };
  const entries = Object.entries<LoopRoute<Id>>(routes ?? {});
  if (blank(decide) || blank(returnTo)) fail("needs the names of decide and returnTo");
  if (entries.length === 0) fail("has no routes");
  const cases: Record<string, Id> = {};
  const returning = new Set<Id>();
  for (const [name, { returns = [], terminal, to }] of entries) {
    if (blank(name) || blank(to)) fail("has a route without a name or target");
    if (name === "cancelled") fail('has a route "cancelled"; a cancelled node is never routed');
    if (terminal === true && returns.length > 0) fail(`has the terminal route "${name}", which returns`);
    if (terminal !== true && returns.length === 0) fail(`has route "${name}", which neither returns nor is terminal`);
    for (const node of returns) {
      if (blank(node)) fail(`has route "${name}" with a return without a name`);
      if (node === decide) fail(`has route "${name}" returning from the deciding node itself`);
      if (returning.has(node)) fail(`lets node "${node}" return twice`);
      returning.add(node);
    }
    cases[name] = to;
  }
  const edges: (PlainEdge<Id> | SwitchEdge<Id>)[] = [{ from: decide, switch: { on: `$.${field}`, cases } }];
  for (const from of returning) edges.push({ from, to: returnTo });
  return Object.freeze({ choices: Object.freeze(entries.map(([name]) => name as Name)), edges: Object.freeze(edges) });
}

function blank(name: unknown): boolean {
  return typeof name !== "string" || name.trim() === "";
}
