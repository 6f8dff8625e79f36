/** Part of a run's nodes for a small screen: in the order of the graph, around the one that is executed. */
import { nodesInOrder } from "../../workflow/rules/index.ts";
import { lastAttempt, definitionOf, runByNo, type Definitions } from "./rows.ts";

export interface NodeWindow {
  readonly nodes: {
    readonly nodeId: string;
    readonly type: string;
    readonly status: "waiting" | "running" | "done" | "failed" | "pending";
    readonly visits: number;
  }[];
  /** Index of the first in the order of the graph. */
  readonly first: number;
  readonly total: number;
}

/** Nodes before the current one that are shown. */
const LEAD = 4;

const EMPTY: NodeWindow = { nodes: [], first: 0, total: 0 };

export function nodeWindow(db: Definitions, runNo: number, size: number): NodeWindow {
  const run = runByNo(db, runNo);
  if (run.definitionDigest === null) return EMPTY;
  const definition = definitionOf(db, run);
  const { nodes } = definition;
  const ids = nodesInOrder(definition);
  const last = lastAttempt(db, run);
  const at = Math.max(0, ids.indexOf(last?.nodeId ?? ""));
  const first = Math.max(0, Math.min(at - LEAD, ids.length - size));
  const shown = ids.slice(first, first + size);
  const visited = new Map(
    db
      .all<{ nodeId: string; visits: number; outcome: string | null }>(
        "SELECT node_id AS nodeId, visits, outcome FROM run_nodes WHERE run_no = ?",
        runNo,
      )
      .map((row) => [row.nodeId, row]),
  );
  return {
    nodes: shown.map((nodeId) => {
      const seen = visited.get(nodeId);
      const open = last?.nodeId === nodeId && (last.status === "running" || last.status === "waiting");
      const done = seen?.outcome === "ok" ? "done" : seen?.outcome == null ? "pending" : "failed";
      return {
        nodeId,
        type: nodes[nodeId]?.type ?? "compute",
        status: open ? last.status : done,
        visits: seen?.visits ?? 0,
      };
    }),
    first,
    total: ids.length,
  };
}
