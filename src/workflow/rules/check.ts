/**
 * Static validation of a graph, before anything of it runs: every name leads somewhere, every node has one way out and
 * can be reached, every choice of a person has a case.
 */
import type { DefinitionSnapshot, EdgeSnapshot } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { ID_PATTERN } from "../../contracts/ids.ts";
import { INCLUDE, WORKFLOW } from "../../contracts/limits.ts";
import { mountsOfPath } from "./graph.ts";
import { parseSwitchPath } from "./path.ts";

export interface DefinitionProblem {
  /** The node or edge: `node "plan"`, `edge from "plan"`, `startAt`. */
  readonly where: string;
  /** Goes on after the place. */
  readonly text: string;
}

/** Throws `workflowInvalid` with the first problem in the message and all of them in `details.problems`. */
export function checkDefinition(definition: DefinitionSnapshot): void {
  const problems = definitionProblems(definition);
  const first = problems[0];
  if (first === undefined) return;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw new HoldpointError("workflowInvalid", `Workflow "${definition.name}": ${first.where} ${first.text}${more}.`, {
    details: { problems: problems.slice(0, 20).map(({ where, text }) => `${where} ${text}`) },
  });
}

/** Everything that is wrong with the graph, in the order of nodes, start, edges, reachability. Empty if it may run. */
export function definitionProblems(definition: DefinitionSnapshot): DefinitionProblem[] {
  const problems: DefinitionProblem[] = [];
  const add = (where: string, text: string): void => void problems.push({ where, text });
  const nodes = Object.keys(definition.nodes);
  const has = (id: string): boolean => Object.hasOwn(definition.nodes, id);

  if (nodes.length === 0) add("nodes", "is empty; a workflow needs at least one node");
  if (nodes.length > WORKFLOW.nodes) add("nodes", `has ${nodes.length} nodes; the limit is ${WORKFLOW.nodes}`);
  for (const id of nodes) {
    const local = id.slice(id.lastIndexOf("/") + 1);
    // A node named like the prototype would be lost by some writers of maps.
    if (!ID_PATTERN.node.test(local) || local === "__proto__" || local.length > 200) {
      add(`node ${JSON.stringify(id.slice(0, 200))}`, `has an id that is not ${ID_PATTERN.node.source}`);
    }
    if (id.length > INCLUDE.pathChars) {
      add(
        `node ${JSON.stringify(id.slice(0, 200))}`,
        `has a path of ${id.length} characters; the limit is ${INCLUDE.pathChars}`,
      );
    }
    for (const mount of mountsOfPath(id)) {
      if (!Object.hasOwn(definition.includes ?? {}, mount))
        add(`node "${id}"`, `lies in mount "${mount}", which is none`);
    }
  }
  for (const [mount, { exits }] of Object.entries(definition.includes ?? {})) {
    for (const [exit, id] of Object.entries(exits)) {
      if (!has(id) || !id.startsWith(`${mount}/`))
        add(`exit "${mount}.${exit}"`, `is left from "${id}", which is no node of that mount`);
    }
  }
  if (!has(definition.startAt)) add("startAt", `is "${definition.startAt}", which is no node; ${known(nodes)}`);

  const ways = new Map<string, string[]>();
  for (const edge of definition.edges) {
    const where = `edge from "${edge.from}"`;
    if (!has(edge.from)) add(where, `leaves from an unknown node; ${known(nodes)}`);
    if (ways.has(edge.from)) add(where, "is a second edge of that node; use one switch instead");
    const targets = "to" in edge ? [edge.to] : Object.values(edge.switch.cases);
    for (const to of targets) if (!has(to)) add(where, `leads to "${to}", which is no node; ${known(nodes)}`);
    if ("switch" in edge) checkSwitch(definition, edge, (text) => add(where, text));
    ways.set(edge.from, [...(ways.get(edge.from) ?? []), ...targets]);
  }

  if (has(definition.startAt)) {
    const reached = new Set([definition.startAt]);
    for (const id of reached) for (const to of ways.get(id) ?? []) reached.add(to);
    for (const id of nodes) if (!reached.has(id)) add(`node "${id}"`, `cannot be reached from "${definition.startAt}"`);
  }
  return problems;
}

function checkSwitch(
  definition: DefinitionSnapshot,
  edge: Extract<EdgeSnapshot, { switch: unknown }>,
  add: (text: string) => void,
): void {
  const { on, cases } = edge.switch;
  const names = Object.keys(cases);
  const path = parseSwitchPath(on);
  if (path === undefined) add(`switches on "${on}"; a path is $.field, $output.field or $result.field`);
  if (names.length === 0) add("has a switch without cases");
  const node = Object.hasOwn(definition.nodes, edge.from) ? definition.nodes[edge.from] : undefined;
  if (node?.choices === undefined || path?.root !== "output") return;
  const { choiceField = "choice", choices } = node;
  if (path.fields.join(".") !== choiceField) {
    // What else an agent says beside its choice may be looked at; an answer has nothing else.
    if (node.type === "humanDecision") add(`switches on "${on}", but what a person answers is in $.choice`);
    return;
  }
  const missing = choices.filter((choice) => !Object.hasOwn(cases, choice));
  const extra = names.filter((name) => !choices.includes(name));
  if (missing.length > 0) add(`has no case for ${missing.join(", ")}`);
  if (extra.length > 0) add(`has a case for ${extra.join(", ")}, which nobody can choose`);
}

function known(nodes: readonly string[]): string {
  const list = nodes.slice(0, 10).join(", ");
  return `the nodes are ${list}${nodes.length > 10 ? ", …" : ""}`;
}
