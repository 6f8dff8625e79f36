/**
 * Carries out a plan in a git worktree of its own: an agent works there, the given commands verify it, failures are repaired a bounded
 * number of times, and what passes is one commit on a new branch. Nothing is pushed, merged or removed, and nothing outside the
 * worktree is changed by the workflow. Exits: `completed` and `blocked`, both with the workspace, so that a person can look.
 *
 * A change of what it does is a new revision: a folder of its own beside this one.
 */
import {
  action,
  agent,
  compute,
  defineWorkflow,
  evidence,
  idempotentEffect,
  observedEffect,
  type NodeContext,
} from "holdpoint";
import {
  inputSchema,
  workSchema,
  type Committed,
  type Given,
  type Input,
  type Verification,
  type Work,
  type Workspace,
} from "./input.ts";
import { verifyWork } from "./verify.ts";
import { commitWork, findCommit, prepareWorkspace } from "./workspace.ts";

interface Outputs {
  readonly prepare: Workspace;
  readonly implement: Work;
  readonly repair: Work;
  readonly verify: Verification;
  readonly judge: { readonly route: "commit" | "repair" | "blocked"; readonly repairs: number };
  readonly commit: Committed;
}
type Context = NodeContext<Input, Outputs>;

const HOUR = 3_600_000;
const WORK = 'JSON: {"outcome": "done" | "blocked", "summary": what was done, or what is missing}';

export default defineWorkflow({
  name: "autoimplement",
  contractId: "holdpoint/autoimplement/1",
  maxSteps: 40,
  input: (given: Given): Input => inputSchema.parse(given),
  title: ({ input }) => `Implement: ${titleOf(input)}`,
  startAt: "prepare",
  nodes: {
    prepare: action({
      effect: idempotentEffect("workspace"),
      request: ({ input: { base, branch, repository } }: Context) => ({ repository, base, branch: branch ?? null }),
      run: prepareWorkspace,
    }),
    implement: agent({
      statusDetail: "Implementing",
      cwd: folderOf,
      timeoutMs: 8 * HOUR,
      prompt: (context: Context) =>
        `Carry this out in the current folder, a git worktree made for it.\n${rules(context)}\n\n${workText(context)}`,
      expectedOutput: WORK,
      validate: (value: unknown) => workSchema.parse(value),
    }),
    repair: agent({
      statusDetail: "Repairing what verification found",
      cwd: folderOf,
      timeoutMs: 2 * HOUR,
      prompt: (context: Context) =>
        `The work in the current folder, a git worktree made for it, did not pass its verification. Mend the work; never weaken a check.\n${rules(context)}\n\n${workText(context)}\n\nWhat the commands said:\n${evidence(context.outputs.verify?.checks)}`,
      expectedOutput: WORK,
      validate: (value: unknown) => workSchema.parse(value),
    }),
    classify: compute({ run: (context: Context) => ({ outcome: lastWork(context)?.outcome ?? "blocked" }) }),
    verify: action({
      effect: idempotentEffect("verification"),
      timeoutMs: 61 * 60_000,
      request: ({ input }: Context) => ({ verify: input.verify }),
      run: (context) => verifyWork(context, folderOf(context)),
    }),
    judge: compute({
      run: ({ input, outputs, state }: Context): Outputs["judge"] => {
        const repairs = state.steps.filter(({ nodeId }) => nodeId === "repair").length;
        if (outputs.verify?.passed === true) return { route: "commit", repairs };
        return { route: repairs < input.maxRepairs ? "repair" : "blocked", repairs };
      },
    }),
    commit: action({
      effect: observedEffect("commit", {
        observe: async (context) => {
          const found = await findCommit(context, workspaceOf(context));
          return found === undefined ? { applied: false } : { applied: true, output: found };
        },
      }),
      request: (context: Context) => ({ branch: workspaceOf(context).branch }),
      run: (context) => commitWork(context, workspaceOf(context), messageOf(context)),
    }),
    completed: compute({
      run: ({ outputs }: Context) => ({
        workspace: outputs.prepare as Workspace,
        ...(outputs.commit as Committed),
        summary: outputs.implement?.summary ?? "",
        repairs: outputs.judge?.repairs ?? 0,
        verification: outputs.verify as Verification,
      }),
    }),
    blocked: compute({
      run: (context: Context) => ({
        reason: reasonOf(context),
        workspace: context.outputs.prepare ?? null,
        repairs: context.outputs.judge?.repairs ?? 0,
        verification: context.outputs.verify ?? null,
      }),
    }),
  },
  edges: [
    {
      from: "prepare",
      switch: { on: "$result.outcome", cases: { ok: "implement", failed: "blocked", timed_out: "blocked" } },
    },
    {
      from: "implement",
      switch: { on: "$result.outcome", cases: { ok: "classify", failed: "blocked", timed_out: "blocked" } },
    },
    { from: "classify", switch: { on: "$.outcome", cases: { done: "verify", blocked: "blocked" } } },
    {
      from: "verify",
      switch: { on: "$result.outcome", cases: { ok: "judge", failed: "blocked", timed_out: "blocked" } },
    },
    { from: "judge", switch: { on: "$.route", cases: { commit: "commit", repair: "repair", blocked: "blocked" } } },
    {
      from: "repair",
      switch: { on: "$result.outcome", cases: { ok: "classify", failed: "blocked", timed_out: "blocked" } },
    },
    {
      from: "commit",
      switch: { on: "$result.outcome", cases: { ok: "completed", failed: "blocked", timed_out: "blocked" } },
    },
  ],
  exits: { completed: { from: "completed" }, blocked: { from: "blocked" } },
});

function workspaceOf({ outputs }: Pick<Context, "outputs">): Workspace {
  if (outputs.prepare === undefined) throw new Error("There is no workspace.");
  return outputs.prepare;
}

function folderOf(context: Pick<Context, "outputs">): string {
  return workspaceOf(context).folder;
}

/** What the agent that worked last said. */
function lastWork({ outputs, state }: Context): Work | undefined {
  const last = state.steps.findLast(({ nodeId }) => nodeId === "implement" || nodeId === "repair");
  return last?.nodeId === "repair" ? outputs.repair : outputs.implement;
}

function rules(context: Context): string {
  return [
    `Change files below ${folderOf(context)} only. Do not commit, push, or touch other branches: that is done for you.`,
    `When you are done these commands are run here: ${evidence(context.input.verify, { maxChars: 4_000 })}`,
    'If something is missing that only a person can give, submit "blocked" and say what.',
  ].join("\n");
}

function workText({ input: { plan, task } }: Context): string {
  return [
    ...(task === undefined ? [] : [`The task:\n${task}`]),
    ...(plan === undefined ? [] : [`The plan:\n${evidence(plan)}`]),
  ].join("\n\n");
}

function titleOf({ plan, task }: Input): string {
  return (plan?.summary ?? task ?? "").split("\n", 1)[0]?.slice(0, 100) ?? "";
}

function messageOf(context: Context): string {
  const summary = lastWork(context)?.summary ?? "";
  return `${titleOf(context.input)}\n\n${summary}`.trim();
}

function reasonOf(context: Context): string {
  const { outputs, results, state } = context;
  const at = state.steps.at(-1)?.nodeId ?? "";
  const error = results[at]?.error?.message;
  if (error !== undefined) return `${STAGES[at] ?? "A step failed"}: ${error}`;
  if (at === "classify") return `The agent is blocked: ${lastWork(context)?.summary ?? "it did not say why"}`;
  const failed = outputs.verify?.checks.filter(({ outcome }) => outcome !== "succeeded").map(({ id }) => id) ?? [];
  const repairs = outputs.judge?.repairs ?? 0;
  return `Verification fails after ${repairs} ${repairs === 1 ? "repair" : "repairs"}: ${failed.join(", ")}`;
}

const STAGES: Readonly<Record<string, string>> = {
  prepare: "The workspace could not be made",
  implement: "The agent failed",
  repair: "The agent failed while it repaired",
  verify: "Verification could not be run",
  commit: "The work could not be committed",
};
