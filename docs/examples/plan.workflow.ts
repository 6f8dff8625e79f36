// Composition with a built-in: a plan is made, the built-in `plan-approval` asks the audience `operators` about it, and what they
// want changed makes the next revision, at most three times.
import { compute, defineWorkflow, includedResult, includeWorkflow } from "holdpoint";
import { planApproval } from "holdpoint/builtins";

interface Plan {
  readonly revision: number;
  readonly summary: string;
  readonly steps: string[];
}

export default defineWorkflow({
  name: "plan",
  source: import.meta.url,
  startAt: "plan",
  nodes: {
    plan: compute({
      run: (context): Plan => {
        const before = context.outputs["plan"] as Plan | undefined;
        if (before === undefined)
          return { revision: 1, summary: "Move the shop", steps: ["Migrate", "Switch the traffic"] };
        const { changes } = includedResult(context, "approval", "replan");
        return { ...before, revision: before.revision + 1, steps: [...before.steps, changes.replaceAll("\n", " ")] };
      },
    }),
    again: compute({ run: ({ outputs }) => ({ again: (outputs["plan"] as Plan).revision < 3 }) }),
    carryOut: compute({ run: ({ outputs }) => ({ done: (outputs["plan"] as Plan).steps }) }),
    stopped: compute({ run: () => ({ done: [] }) }),
  },
  includes: { approval: includeWorkflow(planApproval, { input: ({ outputs }) => outputs["plan"] as Plan }) },
  edges: [
    { from: "plan", to: "approval" },
    { from: "approval.continued", to: "carryOut" },
    { from: "approval.replan", to: "again" },
    { from: "approval.stopped", to: "stopped" },
    { from: "again", switch: { on: "$.again", cases: { true: "plan", false: "stopped" } } },
  ],
});
