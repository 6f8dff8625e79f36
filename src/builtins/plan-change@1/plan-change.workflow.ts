/**
 * Makes another plan because the present one does not hold, and has it approved as the policy says. Made to be included by workflows
 * that carry out plans; `autoplan` and `plan-approval` are taken by name, so that a project can put its own in their place.
 *
 * A change of what it does is a new revision: a folder of its own beside this one.
 */
import {
  compute,
  defineWorkflow,
  defineWorkflowRegistry,
  includedResult,
  includeWorkflow,
  type NodeContext,
} from "holdpoint";
import autoplan from "holdpoint/workflows/autoplan";
import planApproval from "holdpoint/workflows/plan-approval";
import { z } from "zod";
import { planDigest, planSchema, type Plan } from "../autoplan@1/plan.ts";

const inputSchema = z.strictObject({
  task: z.string().min(1).max(8_000),
  /** What happened, as far as it matters for the plan; any JSON. */
  why: z.json().optional(),
  previousPlan: planSchema.optional(),
  /** As in `plan-approval`. */
  approval: z.enum(["auto", "required", "skip"]).default("auto"),
  /** Who allowed this beforehand, in their words. */
  authority: z.string().min(1).max(2_000).optional(),
  /** How often people may want it changed before it is given up. */
  maxReplans: z.int().min(0).max(10).default(3),
});
type Given = z.input<typeof inputSchema>;
type Input = z.infer<typeof inputSchema>;

interface Approved {
  readonly approvedBy: "person" | "policy";
  readonly because: string;
  readonly revision: number;
}
interface Outputs {
  readonly start: { readonly revision: number };
  readonly design:
    | { exit: "ready"; output: { plan: Plan; planDigest: string; changed: boolean } }
    | { exit: "blocked"; output: { reason: string } };
  readonly assessPlan: { readonly route: "ask" | "blocked"; readonly revision: number; readonly digests: string[] };
  readonly approval:
    | { exit: "continued"; output: Approved }
    | { exit: "replan"; output: { changes: string; revision: number } }
    | { exit: "stopped"; output: { revision: number } };
  readonly replanGuard: { readonly route: "design" | "blocked"; readonly reason: string };
}
type Context = NodeContext<Input, Outputs>;

const registry = defineWorkflowRegistry({ autoplan, "plan-approval": planApproval });

export default defineWorkflow({
  name: "plan-change",
  contractId: "holdpoint/plan-change/1",
  maxSteps: 400,
  input: (given: Given): Input => inputSchema.parse(given),
  title: ({ input }) => `Change the plan: ${input.task.slice(0, 100)}`,
  startAt: "design",
  includes: {
    design: includeWorkflow(
      { workflow: registry.ref("autoplan"), contractId: "holdpoint/autoplan/1" },
      {
        input: ({ input, outputs }: Context) => {
          const { task, why } = input;
          const wanted = outputs.approval?.exit === "replan" ? outputs.approval.output.changes : undefined;
          const designed = outputs.design?.exit === "ready" ? outputs.design.output.plan : input.previousPlan;
          return {
            task,
            ...(why === undefined ? {} : { context: why }),
            ...(designed === undefined ? {} : { previousPlan: designed }),
            ...(wanted === undefined ? {} : { changes: wanted }),
          };
        },
      },
    ),
    approval: includeWorkflow(
      { workflow: registry.ref("plan-approval"), contractId: "holdpoint/plan-approval/2" },
      {
        input: (context: Context) => {
          const { approval: policy, authority } = context.input;
          const { plan } = includedResult(context, "design", "ready");
          const details = {
            ...(plan.verification.length === 0 ? {} : { "Verified by": plan.verification.join("; ").slice(0, 1_000) }),
            ...(plan.risks.length === 0 ? {} : { Risks: plan.risks.join("; ").slice(0, 1_000) }),
          };
          return {
            title: "Approve the changed plan",
            summary: plan.summary,
            steps: plan.steps,
            details,
            revision: context.outputs.assessPlan?.revision ?? 1,
            policy,
            // What people wanted changed is for them to see again, whatever was allowed before.
            ...(authority === undefined || context.outputs.approval !== undefined ? {} : { authority }),
          };
        },
      },
    ),
  },
  nodes: {
    assessPlan: compute({
      run: (context: Context): Outputs["assessPlan"] => {
        const { input, outputs } = context;
        const { planDigest: digest } = includedResult(context, "design", "ready");
        const before = input.previousPlan === undefined ? [] : [planDigest(input.previousPlan)];
        const digests = outputs.assessPlan?.digests ?? before;
        // A plan that was there before changes nothing.
        const route = digests.includes(digest) ? "blocked" : "ask";
        return { route, revision: (outputs.assessPlan?.revision ?? 0) + 1, digests: [...digests, digest].slice(-16) };
      },
    }),
    replanGuard: compute({
      run: ({ input, state }: Context): Outputs["replanGuard"] => {
        // Of this invocation; the present step is not among them yet.
        const replans = state.steps.filter(({ nodeId }) => nodeId === "replanGuard").length + 1;
        if (replans <= input.maxReplans) return { route: "design", reason: "" };
        return {
          route: "blocked",
          reason: `The plan was to be changed ${replans} times; the limit is ${input.maxReplans}.`,
        };
      },
    }),
    finalize: compute({
      run: (context: Context) => {
        const { plan, planDigest: digest } = includedResult(context, "design", "ready");
        const approval = includedResult(context, "approval", "continued");
        return { plan, planDigest: digest, revision: context.outputs.assessPlan?.revision ?? 1, approval };
      },
    }),
    blocked: compute({ run: (context: Context) => ({ reason: reasonOf(context) }) }),
  },
  edges: [
    { from: "design.ready", to: "assessPlan" },
    { from: "design.blocked", to: "blocked" },
    { from: "assessPlan", switch: { on: "$.route", cases: { ask: "approval", blocked: "blocked" } } },
    { from: "approval.continued", to: "finalize" },
    { from: "approval.replan", to: "replanGuard" },
    { from: "approval.stopped", to: "blocked" },
    { from: "replanGuard", switch: { on: "$.route", cases: { design: "design", blocked: "blocked" } } },
  ],
  exits: { ready: { from: "finalize" }, blocked: { from: "blocked" } },
});

function reasonOf({ outputs }: Context): string {
  if (outputs.design?.exit === "blocked") return outputs.design.output.reason;
  if (outputs.approval?.exit === "stopped") return "The plan was stopped by a person.";
  if (outputs.replanGuard?.route === "blocked") return outputs.replanGuard.reason;
  return "The plan is the same as before.";
}
