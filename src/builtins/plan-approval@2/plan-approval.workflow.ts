/**
 * Asks for approval of a plan: go on, change it, or stop; or goes on without asking, where the input says so. Made to be
 * included by workflows that plan, and useful by itself: `holdpoint run plan-approval --input '{"summary": "…"}'`.
 *
 * Revision 2: the policies are `auto`, `required` and `skip`, and what was allowed or approved before can be named.
 *
 * A change of what it does is a new revision: a folder of its own beside this one.
 */
import {
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  textInput,
  type HumanAnswer,
  type NodeContext,
} from "holdpoint";
import { z } from "zod";

const inputSchema = z.strictObject({
  /** First line of the card. */
  title: z.string().min(1).max(200).default("Approve the plan"),
  /** The plan in one line. */
  summary: z.string().min(1).max(1_000),
  steps: z.array(z.string().min(1).max(1_000)).max(64).default([]),
  /** Label → value, shown below the steps. */
  details: z.record(z.string().min(1).max(64), z.string().min(1).max(1_000)).default({}),
  /** Number of the version that is asked about. */
  revision: z.int().min(1).default(1),
  /** `required` always asks, `skip` never; `auto` asks unless `authority` is given or the plan is the one that was approved. */
  policy: z.enum(["auto", "required", "skip"]).default("required"),
  /** Who allowed this beforehand, in their words. */
  authority: z.string().min(1).max(2_000).optional(),
  /** Digest of this plan, and of the one that was approved before. */
  planDigest: z.string().max(100).optional(),
  approvedDigest: z.string().max(100).optional(),
});
type Given = z.input<typeof inputSchema>;
type Input = z.infer<typeof inputSchema>;

const choices = defineHumanChoices({
  continue: choice({ label: "Continue", style: "success" }),
  replan: choice({ label: "Replan", input: textInput({ name: "changes", prompt: "What should change?" }) }),
  stop: choice({ label: "Stop", style: "danger" }),
});

/** Why nobody was asked, or that somebody was. */
type Because = "answer" | "skip" | "authority" | "unchanged";

interface Outputs {
  readonly routePolicy: { readonly route: "ask" | "skip"; readonly because: Because };
  readonly approve: HumanAnswer<typeof choices>;
}
type Context = NodeContext<Input, Outputs>;

/**
 * The workflow for an audience of the configuration. Exits: `continued {approvedBy: "person" | "policy", because, revision}`,
 * `replan {changes, revision}`, `stopped {revision}`.
 *
 * @example
 * includes: { approval: includeWorkflow(planApprovalFor("reviewers"), { input: ({ outputs }) => outputs.plan }) },
 */
export function planApprovalFor(audience: string) {
  return defineWorkflow({
    name: "plan-approval",
    contractId: "holdpoint/plan-approval/2",
    maxSteps: 5,
    input: (given: Given): Input => inputSchema.parse(given),
    title: ({ input }) => input.title,
    startAt: "routePolicy",
    nodes: {
      routePolicy: compute({ run: ({ input }: Context) => routeOf(input) }),
      approve: humanDecision({ audience, choices, request: requestOf }),
      continued: compute({
        run: ({ input, outputs }: Context) => ({
          approvedBy: outputs.approve === undefined ? ("policy" as const) : ("person" as const),
          because: outputs.routePolicy?.because ?? "answer",
          revision: input.revision,
        }),
      }),
      replan: compute({
        run: ({ input, outputs }: Context) => {
          if (outputs.approve?.choice !== "replan") throw new Error("Nobody asked for another plan.");
          return { changes: outputs.approve.input.changes, revision: input.revision };
        },
      }),
      stopped: compute({ run: ({ input }: Context) => ({ revision: input.revision }) }),
    },
    edges: [
      { from: "routePolicy", switch: { on: "$.route", cases: { ask: "approve", skip: "continued" } } },
      humanDecisionEdge({
        from: "approve",
        choices,
        cases: { continue: "continued", replan: "replan", stop: "stopped" },
      }),
    ],
    exits: { continued: { from: "continued" }, replan: { from: "replan" }, stopped: { from: "stopped" } },
  });
}

function routeOf({ approvedDigest, authority, planDigest, policy }: Input): Outputs["routePolicy"] {
  if (policy === "skip") return { route: "skip", because: "skip" };
  if (policy === "auto" && authority !== undefined) return { route: "skip", because: "authority" };
  if (policy === "auto" && planDigest !== undefined && planDigest === approvedDigest)
    return { route: "skip", because: "unchanged" };
  return { route: "ask", because: "answer" };
}

function requestOf({ input }: Context) {
  const { details, revision, steps, summary, title } = input;
  const fields = Object.entries(details).map(([label, value]) => ({ label, value }));
  return {
    title,
    revision,
    subject: { summary, steps, details },
    presentation: {
      summary,
      blocks: [
        ...(steps.length === 0 ? [] : [{ kind: "bullets" as const, items: steps }]),
        ...(fields.length === 0 ? [] : [{ kind: "fields" as const, items: fields }]),
      ],
    },
  };
}

export default planApprovalFor("operators");
