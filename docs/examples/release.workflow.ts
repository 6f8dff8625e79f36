// Composition: the approval is mounted twice, once imported and once by reference, and each exit has its way on.
import {
  action,
  compute,
  defineWorkflow,
  defineWorkflowRegistry,
  idempotentEffect,
  includedResult,
  includeWorkflow,
} from "holdpoint";
import approval from "./approval.workflow.ts";

const registry = defineWorkflowRegistry({ approval });

export default defineWorkflow({
  name: "release",
  source: import.meta.url,
  registry,
  startAt: "plan",
  nodes: {
    plan: compute({ run: () => ({ steps: ["Migrate the database", "Switch the traffic"] }) }),
    deploy: action({
      effect: idempotentEffect("deploy"),
      run: (context) => ({ deployed: includedResult(context, "planApproval", "approved").steps }),
    }),
    released: compute({ run: ({ outputs }) => ({ released: true, ...outputs["deploy"] }) }),
    stopped: compute({ run: ({ outputs }) => ({ released: false, after: Object.keys(outputs) }) }),
  },
  includes: {
    planApproval: includeWorkflow(approval, {
      input: ({ outputs }) => ({ title: "Approve the plan", steps: outputs["plan"].steps }),
    }),
    announcement: includeWorkflow(
      { workflow: registry.ref("approval"), contractId: "approval/1" },
      { input: () => ({ title: "Announce the release", steps: ["Send the newsletter"] }) },
    ),
  },
  edges: [
    { from: "plan", to: "planApproval" },
    { from: "planApproval.approved", to: "deploy" },
    { from: "planApproval.stopped", to: "stopped" },
    { from: "deploy", to: "announcement" },
    { from: "announcement.approved", to: "released" },
    { from: "announcement.stopped", to: "stopped" },
  ],
});
