/** One node as a workflow, for the tests of node kinds. */
import { runWorkflow, type TestOptions, type TestRun } from "../../src/testing/index.ts";
import { compute, defineWorkflow, type WorkflowNode } from "../../src/workflow/index.ts";

/** One node, and where each outcome leads. */
export function single(node: WorkflowNode): ReturnType<typeof defineWorkflow> {
  const ended = compute({
    run: ({ results }) => ({ outcome: results["node"]?.outcome, error: results["node"]?.error?.kind ?? null }),
  });
  return defineWorkflow({
    name: "single",
    startAt: "node",
    nodes: { node, ended, fine: compute({ run: ({ outputs }) => outputs["node"] }) },
    edges: [
      { from: "node", switch: { on: "$result.outcome", cases: { ok: "fine", failed: "ended", timed_out: "ended" } } },
    ],
  });
}

export const run = (node: WorkflowNode, options?: TestOptions): Promise<TestRun> => runWorkflow(single(node), options);
