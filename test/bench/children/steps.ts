/** The workflow of pure steps: as a snapshot and entries for the floor, and as a file for the service. Both make the same rows. */
import type { DefinitionSnapshot } from "../../../src/contracts/definition.ts";
import type { StepEntry } from "../../../src/contracts/protocol/runner.ts";

export const MAX_STEPS = 100_000;

export const STEPS_DEFINITION: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "steps",
  startAt: "step",
  maxSteps: MAX_STEPS,
  nodes: { step: { type: "compute", timeoutMs: 900_000 }, last: { type: "compute", timeoutMs: 900_000 } },
  edges: [{ from: "step", switch: { on: "$.more", cases: { true: "step", false: "last" } } }],
};

const STEP = `({ input, outputs }) => {
  const n = (outputs.step?.n ?? 0) + 1;
  return { n, more: n < input.steps - 1 };
}`;
const PAUSE = `await new Promise((resolve) => setTimeout(resolve, 5));`;

/** Input `{steps}`: so many steps in all, as fast as they go. */
export const STEPS_WORKFLOW = workflowOf(STEP);

/** The same with a pause of 5 ms in each step. */
export const PACED_WORKFLOW = workflowOf(`async (context) => { ${PAUSE} return (${STEP})(context); }`);

/** Input `{steps, gate}`: the first step ends when the file `gate` is there. */
export const GATED_WORKFLOW = workflowOf(STEP, `async ({ input }) => { while (!existsSync(input.gate)) ${PAUSE} }`);

function workflowOf(step: string, gate?: string): string {
  return `import { existsSync } from "node:fs";
import { compute, defineWorkflow } from "holdpoint";

export default defineWorkflow({
  name: "steps",
  startAt: "${gate === undefined ? "step" : "gate"}",
  maxSteps: ${MAX_STEPS},
  nodes: {
    ${gate === undefined ? "" : `gate: compute({ run: ${gate} }),`}
    step: compute({ run: ${step} }),
    last: compute({ run: ({ outputs }) => outputs.step.n }),
  },
  edges: [
    ${gate === undefined ? "" : '{ from: "gate", to: "step" },'}
    { from: "step", switch: { on: "$.more", cases: { true: "step", false: "last" } } },
  ],
});
`;
}

/** The steps of a run but the last, as a runner reports them. */
export function stepEntries(steps: number): StepEntry[] {
  return Array.from({ length: steps - 1 }, (_, step) => {
    const more = step + 1 < steps - 1;
    // A measured duration has many digits.
    return {
      step,
      nodeId: "step",
      outcome: "ok",
      output: { n: step + 1, more },
      durationMs: 0.012_345 + step / 1e6,
      next: more ? "step" : "last",
    };
  });
}

export function lastEntry(steps: number): StepEntry {
  return { step: steps - 1, nodeId: "last", outcome: "ok", output: steps - 1, durationMs: 0.012_345, next: null };
}
