/** Routing: which node follows a finished one. Called once per step by the runner and again by the server. */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import type { NodeResult } from "../../contracts/protocol/runner.ts";
import { graphOf, type PlannedTransition, type Target } from "./graph.ts";
import { lookUp } from "./path.ts";

export type RouteResult =
  | {
      readonly kind: "next";
      readonly nodeId: string;
      /** Mounts left and entered on the way, in order; undefined for none. */
      readonly transitions?: readonly PlannedTransition[] | undefined;
    }
  | { readonly kind: "end"; readonly transitions?: readonly PlannedTransition[] | undefined }
  | { readonly kind: "error"; readonly error: ErrorRecord };

const END: RouteResult = { kind: "end" };

/** The objects of a graph's targets are made once and handed out again. */
const results = new WeakMap<Target, RouteResult>();

/**
 * Where the run goes after `nodeId` ended with `result` (CONTRACTS 1.5).
 *
 * - No edge, or a cancelled node: the end.
 * - A failed or timed-out node goes on only through a `$result.` switch; otherwise the run ends with that outcome.
 * - The edge of a node that leaves a mount belongs to the parent, and only a node that ended well leaves.
 * - A switch reads one scalar (text, number, boolean) and compares it as text with its cases. A missing field, another
 *   kind of value or a missing case is an error of kind `routingFailed`: the run fails.
 *
 * The definition object must not be changed after its first use here.
 */
export function route(definition: DefinitionSnapshot, nodeId: string, result: NodeResult): RouteResult {
  const node = graphOf(definition).get(nodeId);
  if (node === undefined || result.outcome === "cancelled") return END;
  const { edge, exits } = node;
  const ok = result.outcome === "ok";
  if (exits.length > 0 && !ok) return END;
  if (edge === undefined) return exits.length > 0 ? { kind: "end", transitions: exits } : END;
  if (edge.next !== undefined) return ok ? resultOf(edge.next) : END;
  if (!ok && edge.path?.root !== "result") return END;
  if (edge.path === undefined) return failed(nodeId, edge.on, "is no path that a switch can look at", result);

  const value = lookUp(edge.path.root === "output" ? result.output : result, edge.path.fields);
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    return failed(nodeId, edge.on, `is ${describe(value)}; a switch needs text, a number or a boolean`, result);
  }
  const next = edge.cases.get(String(value));
  if (next !== undefined) return resultOf(next);
  const cases = [...edge.cases.keys()];
  return failed(
    nodeId,
    edge.on,
    `is ${JSON.stringify(value).slice(0, 200)}; the cases are ${cases.join(", ")}`,
    result,
  );
}

function resultOf(target: Target): RouteResult {
  let result = results.get(target);
  if (result === undefined) {
    const { nodeId, transitions } = target;
    result = transitions === undefined ? { kind: "next", nodeId } : { kind: "next", nodeId, transitions };
    results.set(target, result);
  }
  return result;
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
