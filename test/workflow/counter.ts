/** A workflow for the tests of composition. */
import { action, compute, defineWorkflow, idempotentEffect } from "../../src/workflow/index.ts";

/** Counts to its input, then leaves through `done` with how often it counted. */
export const counter = defineWorkflow({
  name: "counter",
  contractId: "counter/1",
  source: "file:///one/counter.workflow.ts",
  input: (given: { to: number }) => ({ to: given.to }),
  maxSteps: 6,
  startAt: "count",
  nodes: {
    count: action({
      effect: idempotentEffect("count"),
      run: ({ input, outputs, effect }) => {
        const n = (outputs["count"]?.n ?? 0) + 1;
        return { n, again: n < input.to, key: effect.key };
      },
    }),
    end: compute({
      run: ({ outputs, state }) => ({ n: outputs.count.n as number, seen: state.steps.map((s) => s.nodeId) }),
    }),
  },
  edges: [{ from: "count", switch: { on: "$.again", cases: { true: "count", false: "end" } } }],
  exits: { done: { from: "end" } },
});
