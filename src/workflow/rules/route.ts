/**
 * Routing: which node follows a finished one. Called once per step by the runner and again by the server, so the edges
 * of a definition are compiled once and kept as long as the definition object lives.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import type { NodeResult } from "../../contracts/protocol/runner.ts";
import { lookUp, parseSwitchPath, type SwitchPath } from "./path.ts";

export type RouteResult =
  | { readonly kind: "next"; readonly nodeId: string }
  | { readonly kind: "end" }
  | { readonly kind: "error"; readonly error: ErrorRecord };

type CompiledEdge =
  | { readonly next: RouteResult; readonly on?: undefined }
  | {
      readonly next?: undefined;
      readonly on: string;
      readonly path: SwitchPath | undefined;
      readonly cases: ReadonlyMap<string, RouteResult>;
    };

const END: RouteResult = { kind: "end" };

const compiled = new WeakMap<DefinitionSnapshot, Map<string, CompiledEdge>>();

/**
 * Where the run goes after `nodeId` ended with `result` (CONTRACTS 1.5).
 *
 * - No edge, or a cancelled node: the end.
 * - A failed or timed-out node goes on only through a `$result.` switch; otherwise the run ends with that outcome.
 * - A switch reads one scalar (text, number, boolean) and compares it as text with its cases. A missing field, another
 *   kind of value or a missing case is an error of kind `routingFailed`: the run fails.
 *
 * The definition object must not be changed after its first use here.
 */
export function route(definition: DefinitionSnapshot, nodeId: string, result: NodeResult): RouteResult {
  const edge = edgesOf(definition).get(nodeId);
  if (edge === undefined || result.outcome === "cancelled") return END;
  if (edge.next !== undefined) return result.outcome === "ok" ? edge.next : END;
  if (result.outcome !== "ok" && edge.path?.root !== "result") return END;
  if (edge.path === undefined) return failed(nodeId, edge.on, "is no path that a switch can look at", result);

  const value = lookUp(edge.path.root === "output" ? result.output : result, edge.path.fields);
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    return failed(nodeId, edge.on, `is ${describe(value)}; a switch needs text, a number or a boolean`, result);
  }
  const next = edge.cases.get(String(value));
  if (next !== undefined) return next;
  const cases = [...edge.cases.keys()];
  return failed(
    nodeId,
    edge.on,
    `is ${JSON.stringify(value).slice(0, 200)}; the cases are ${cases.join(", ")}`,
    result,
  );
}

function edgesOf(definition: DefinitionSnapshot): Map<string, CompiledEdge> {
  const known = compiled.get(definition);
  if (known !== undefined) return known;
  const edges = new Map<string, CompiledEdge>();
  for (const edge of definition.edges) {
    if ("to" in edge) {
      edges.set(edge.from, { next: { kind: "next", nodeId: edge.to } });
      continue;
    }
    const { on, cases } = edge.switch;
    const targets = Object.entries(cases).map(([name, to]) => [name, { kind: "next", nodeId: to }] as const);
    edges.set(edge.from, { on, path: parseSwitchPath(on), cases: new Map<string, RouteResult>(targets) });
  }
  compiled.set(definition, edges);
  return edges;
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : "an object";
}

function failed(nodeId: string, on: string, seen: string, result: NodeResult): RouteResult {
  // The error of the node itself must not be hidden by the lack of a case for it.
  const own = result.error === undefined ? "" : ` The node itself ended ${result.outcome}: ${result.error.message}`;
  const error = new HoldpointError("routingFailed", `After node "${nodeId}", ${on} ${seen}.${own}`, {
    details: { node: nodeId, on, outcome: result.outcome },
  });
  return { kind: "error", error: error.toRecord() };
}
