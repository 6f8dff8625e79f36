/** The workflow that asks one question: as a snapshot for seeded runs, and as the file with which runners go on. */
import type { DefinitionSnapshot } from "../../../src/contracts/definition.ts";

/** When a node began, in a workflow file: `monotonicMs()` of this very moment. */
const NOW = "Number(process.hrtime.bigint()) / 1e6";

export const ASK_DEFINITION: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "ask",
  startAt: "ask",
  maxSteps: 10,
  nodes: {
    ask: { type: "humanDecision", timeoutMs: null, choices: ["approve", "reject"] },
    done: { type: "compute", timeoutMs: 900_000 },
  },
  edges: [{ from: "ask", switch: { on: "$.choice", cases: { approve: "done", reject: "done" } } }],
};

/** The output of the run is when the node after the answer began. */
export const ASK_WORKFLOW = `import { choice, compute, defineHumanChoices, defineWorkflow, humanDecision, humanDecisionEdge } from "holdpoint";

const choices = defineHumanChoices({ approve: choice({ label: "Release" }), reject: choice({ label: "Do not" }) });

export default defineWorkflow({
  name: "ask",
  startAt: "ask",
  maxSteps: 10,
  nodes: {
    ask: humanDecision({
      audience: "audience0",
      choices,
      request: ({ input }) => ({ title: input.title, subject: input, presentation: { summary: "Everything is tested.", blocks: [] } }),
    }),
    done: compute({ run: () => ${NOW} }),
  },
  edges: [humanDecisionEdge({ from: "ask", choices, cases: { approve: "done", reject: "done" } })],
});
`;

/** The output of the run is when its only node began. */
export const STAMP_WORKFLOW = `import { compute, defineWorkflow } from "holdpoint";

export default defineWorkflow({ name: "stamp", startAt: "stamp", nodes: { stamp: compute({ run: () => ${NOW} }) }, edges: [] });
`;

/** Milliseconds on the clock that all processes of this machine share and nobody sets; only differences mean something. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
