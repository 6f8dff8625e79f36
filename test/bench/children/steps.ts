/** The workflows of steps: the pure ones as a snapshot and entries for the floor, and all as files for the service. Both make the same rows. */
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
const pause = (ms: number): string => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;
const GATE = `async ({ input }) => { while (!existsSync(input.gate)) ${pause(1)} }`;

/** Input `{steps}`: so many steps in all, as fast as they go. */
export const STEPS_WORKFLOW = workflowOf({});

/** The same with a pause of 5 ms in each step. */
export const PACED_WORKFLOW = workflowOf({ run: `async (context) => { ${pause(5)} return (${STEP})(context); }` });

/** Input `{steps, gate}`: the first step ends when the file `gate` is there. */
export const GATED_WORKFLOW = workflowOf({ gate: GATE });

/** The same two with an effect in every step but the gate and the last. */
export const ACTIONS_WORKFLOW = workflowOf({ effect: "step" });
export const GATED_ACTIONS_WORKFLOW = workflowOf({ effect: "step", gate: GATE });

function workflowOf({ effect, gate, run = STEP }: { run?: string; gate?: string; effect?: string }): string {
  const step =
    effect === undefined
      ? `compute({ run: ${run} })`
      : `action({ effect: idempotentEffect("${effect}"), run: ${run} })`;
  return `import { existsSync } from "node:fs";
import { action, compute, defineWorkflow, idempotentEffect } from "holdpoint";

export default defineWorkflow({
  name: "steps",
  startAt: "${gate === undefined ? "step" : "gate"}",
  maxSteps: ${MAX_STEPS},
  nodes: {
    ${gate === undefined ? "" : `gate: compute({ run: ${gate} }),`}
    step: ${step},
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
