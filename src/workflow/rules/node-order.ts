/**
 * The order in which people read a graph: along the edges from the start, the branches of a choice in the author's order. The stored
 * snapshot is canonical JSON, whose keys are sorted, so that the order in which nodes were written is not there any more.
 */
import type { DefinitionSnapshot, EdgeSnapshot } from "../../contracts/definition.ts";

/** Ids of all nodes, each once. What no edge leads to comes last, sorted. */
export function nodesInOrder({
  edges,
  nodes,
  startAt,
}: Pick<DefinitionSnapshot, "edges" | "nodes" | "startAt">): string[] {
  const leaving = new Map<string, EdgeSnapshot[]>();
  for (const edge of edges) leaving.set(edge.from, [...(leaving.get(edge.from) ?? []), edge]);
  const next = (id: string): string[] => (leaving.get(id) ?? []).flatMap((edge) => targets(edge, nodes[id]?.choices));
  const order: string[] = [];
  const seen = new Set<string>();
  const waiting = [startAt, ...Object.keys(nodes).toSorted()].toReversed();
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    if (Object.hasOwn(nodes, id)) order.push(id);
    waiting.push(...next(id).toReversed());
  }
  return order;
}

function targets(edge: EdgeSnapshot, choices: readonly string[] = []): string[] {
  if ("to" in edge) return [edge.to];
  const { cases } = edge.switch;
  const known = choices.flatMap((choice) => (Object.hasOwn(cases, choice) ? [cases[choice] as string] : []));
  return [...known, ...Object.values(cases)];
}
