/**
 * Makes a plan for a task: candidates, a choice with its reason, and the plan in a form that other workflows take. Changes nothing. Made
 * to be included, and useful by itself: `holdpoint run autoplan --input '{"task": "…"}'`.
 *
 * A change of what it does is a new revision: a folder of its own beside this one.
 */
import { agent, compute, decision, decisionEdge, defineWorkflow, evidence, type NodeContext } from "holdpoint";
import { z } from "zod";
import { PLAN_IN_WORDS, planDigest, planSchema, type Plan } from "./plan.ts";

const inputSchema = z.strictObject({
  task: z.string().min(1).max(8_000),
  /** What is known already; any JSON. */
  context: z.json().optional(),
  /** The plan that is to be changed, and what people want changed in it. */
  previousPlan: planSchema.optional(),
  changes: z.string().min(1).max(8_000).optional(),
});
type Given = z.input<typeof inputSchema>;
type Input = z.infer<typeof inputSchema>;

const candidatesSchema = z.strictObject({
  candidates: z
    .array(z.strictObject({ name: z.string().min(1).max(200), approach: z.string().min(1).max(4_000) }))
    .min(1)
    .max(4),
});

const routes = {
  ready: "one of the candidates can be planned in detail now",
  blocked: "none can: something is missing that only a person can give",
} as const;

interface Outputs {
  readonly propose: z.infer<typeof candidatesSchema>;
  readonly choose: { readonly route: "ready" | "blocked"; readonly reason: string };
  readonly plan: Plan;
}
type Context = NodeContext<Input, Outputs>;

/** Read what is there, change nothing. */
const LOOK_ONLY = "Look at what is there as far as you need; change nothing.";

export default defineWorkflow({
  name: "autoplan",
  contractId: "holdpoint/autoplan/1",
  maxSteps: 10,
  input: (given: Given): Input => inputSchema.parse(given),
  title: ({ input }) => `Plan: ${input.task.slice(0, 100)}`,
  startAt: "propose",
  nodes: {
    propose: agent({
      statusDetail: "Looking for ways",
      prompt: (context: Context) =>
        `Find one to four ways to do this task, from the smallest change to the best one.\n${LOOK_ONLY}\n\n${taskText(context)}`,
      expectedOutput: 'JSON: {"candidates": [{"name": short, "approach": what is done and why it fits}]}',
      validate: (value: unknown) => candidatesSchema.parse(value),
      timeoutMs: 20 * 60_000,
    }),
    choose: decision({
      statusDetail: "Choosing a way",
      choices: routes,
      prompt: (context: Context) =>
        `Choose which way is planned in detail, or say that none can be.\n${LOOK_ONLY}\n\n${taskText(context)}\n\nThe ways:\n${evidence(context.outputs.propose)}`,
      expectedOutput: 'A field "reason": which one and why, or what is missing.',
      validate: ({ reason, route }) => ({ route, reason: z.string().min(1).max(4_000).parse(reason) }),
    }),
    plan: agent({
      statusDetail: "Planning",
      prompt: (context: Context) =>
        `Plan the chosen way so that somebody else can carry it out without asking.\n${LOOK_ONLY}\n\n${taskText(context)}\n\nThe ways:\n${evidence(context.outputs.propose)}\n\nChosen: ${evidence(context.outputs.choose?.reason ?? "")}`,
      expectedOutput: PLAN_IN_WORDS,
      validate: (value: unknown) => planSchema.parse(value),
      timeoutMs: 30 * 60_000,
    }),
    finalize: compute({
      run: ({ input, outputs }: Context) => {
        const plan = outputs.plan as Plan;
        const digest = planDigest(plan);
        const before = input.previousPlan === undefined ? undefined : planDigest(input.previousPlan);
        return {
          plan,
          planDigest: digest,
          changed: digest !== before,
          ...(before === undefined ? {} : { previousPlanDigest: before }),
        };
      },
    }),
    blocked: compute({ run: ({ outputs }: Context) => ({ reason: outputs.choose?.reason ?? "No plan was found." }) }),
  },
  edges: [
    { from: "propose", to: "choose" },
    decisionEdge({ from: "choose", choices: routes, cases: { ready: "plan", blocked: "blocked" } }),
    { from: "plan", to: "finalize" },
  ],
  exits: { ready: { from: "finalize" }, blocked: { from: "blocked" } },
});

function taskText({ input }: Context): string {
  const { changes, context, previousPlan, task } = input;
  return [
    `The task:\n${task}`,
    ...(context === undefined ? [] : [`What is known:\n${evidence(context, { maxChars: 24_000 })}`]),
    ...(previousPlan === undefined ? [] : [`The plan so far:\n${evidence(previousPlan, { maxChars: 16_000 })}`]),
    ...(changes === undefined ? [] : [`What is to be changed in it:\n${changes}`]),
  ].join("\n\n");
}
