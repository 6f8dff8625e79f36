/**
 * A definition compiled for routing, once per definition object: where each node leads, in which mounts it lies, and
 * which mounts it leaves.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { parseSwitchPath, type SwitchPath } from "./path.ts";

/** A mount that is left or entered on the way from one node to the next. */
export type PlannedTransition =
  | { readonly type: "include_exited"; readonly mount: string; readonly exit: string }
  | { readonly type: "include_entered"; readonly mount: string };

export interface Target {
  readonly nodeId: string;
  /** In order; undefined for none, as on most edges. */
  readonly transitions: readonly PlannedTransition[] | undefined;
}

export type CompiledEdge =
  | { readonly next: Target; readonly on?: undefined }
  | {
      readonly next?: undefined;
      readonly on: string;
      readonly path: SwitchPath | undefined;
      readonly cases: ReadonlyMap<string, Target>;
    };

export interface CompiledNode {
  edge: CompiledEdge | undefined;
  /** Full paths of the mounts it lies in, outermost first. */
  readonly mounts: readonly string[];
  /** The mounts it leaves when it ends well, innermost first. */
  readonly exits: readonly Extract<PlannedTransition, { type: "include_exited" }>[];
}

export type Graph = ReadonlyMap<string, CompiledNode>;

const compiled = new WeakMap<DefinitionSnapshot, Graph>();

/** The compiled graph. The definition object must not be changed after its first use here. */
export function graphOf(definition: DefinitionSnapshot): Graph {
  const known = compiled.get(definition);
  if (known !== undefined) return known;
  const graph = compile(definition);
  compiled.set(definition, graph);
  return graph;
}

/** The mounts in which a path lies, outermost first: `a/b/c` lies in `a` and `a/b`. */
export function mountsOfPath(path: string): string[] {
  const mounts: string[] = [];
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) mounts.push(path.slice(0, at));
  return mounts;
}

/** What is entered before the first node. */
export function startTransitions(definition: DefinitionSnapshot): readonly PlannedTransition[] {
  return mountsOfPath(definition.startAt).map((mount) => ({ type: "include_entered", mount }));
}

/** What is left and entered between a node that ended well, or was routed by its result, and the next one. */
export function transitionsBetween(graph: Graph, from: string, to: string): readonly PlannedTransition[] | undefined {
  const node = graph.get(from);
  const exits = node?.exits ?? [];
  const stays = (node?.mounts.length ?? 0) - exits.length;
  const entered = mountsOfPath(to).slice(stays);
  if (exits.length === 0 && entered.length === 0) return undefined;
  return [...exits, ...entered.map((mount) => ({ type: "include_entered", mount }) as const)];
}

function compile(definition: DefinitionSnapshot): Graph {
  const leaves = new Map<string, CompiledNode["exits"][number][]>();
  const mounts = Object.entries(definition.includes ?? {});
  // Innermost first: a longer path lies deeper.
  mounts.sort(([a], [b]) => b.length - a.length);
  for (const [mount, { exits }] of mounts) {
    for (const [exit, node] of Object.entries(exits)) {
      leaves.set(node, [...(leaves.get(node) ?? []), { type: "include_exited", mount, exit }]);
    }
  }
  const graph = new Map<string, CompiledNode>();
  for (const id of Object.keys(definition.nodes)) {
    graph.set(id, { edge: undefined, mounts: mountsOfPath(id), exits: leaves.get(id) ?? [] });
  }
  for (const edge of definition.edges) {
    const node = graph.get(edge.from);
    if (node === undefined) continue;
    const target = (nodeId: string): Target => ({ nodeId, transitions: transitionsBetween(graph, edge.from, nodeId) });
    if ("to" in edge) {
      node.edge = { next: target(edge.to) };
      continue;
    }
    const { cases, on } = edge.switch;
    const targets = Object.entries(cases).map(([name, to]) => [name, target(to)] as const);
    node.edge = { on, path: parseSwitchPath(on), cases: new Map(targets) };
  }
  return graph;
}
