// Files written for the earlier system load unchanged through the import alias, with every construct it had.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadModule, SourceView } from "../../src/runner/loading/index.ts";
import { each, runWorkflow, type TestOptions } from "../../src/testing/index.ts";
import * as workflowModule from "../../src/workflow/index.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "holdpoint-earlier-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** As the runner loads it: the engine under the earlier name. */
async function load(name: string, text: string): Promise<workflowModule.WorkflowDefinition> {
  const path = join(folder, `${name}.workflow.ts`);
  await writeFile(path, text);
  const { exports } = await loadModule(path, { "@osolmaz/pi-workflows": workflowModule }, null, new SourceView(null));
  return (exports as { default: workflowModule.WorkflowDefinition }).default;
}

const CHILD = `
import { checkpoint, compute, defineHumanChoices, choice, textInput, defineWorkflow, humanDecision, humanDecisionEdge } from "@osolmaz/pi-workflows";
const choices = defineHumanChoices({
  continue: choice({ label: "Continue" }),
  replan: choice({ label: "Replan", input: textInput({ name: "changes", prompt: "What?" }) }),
});
export default defineWorkflow({
  name: "plan-approval",
  source: import.meta.url,
  contractId: "plan-approval",
  input: (given: any) => ({ mode: given.mode ?? "auto", plan: given.plan }),
  startAt: "routePolicy",
  nodes: {
    routePolicy: compute({ run: ({ input }: any) => ({ route: input.mode === "skip" ? "skip" : "ask" }) }),
    approve: humanDecision({
      audience: "operator",
      choices,
      request: ({ input }: any) => ({
        title: "Approve plan",
        subject: input.plan,
        presentation: { schema: "pi-workflows.decision-presentation.v1", summary: "Plan", blocks: [{ kind: "paragraph", text: "x" }] },
      }),
      onTimeout: { afterMs: 600_000, response: { choice: "continue" } },
    }),
    continued: compute({ run: ({ input }: any) => ({ plan: input.plan }) }),
    replanned: compute({ run: ({ outputs }: any) => ({ changes: outputs.approve.input.changes }) }),
  },
  edges: [
    { from: "routePolicy", switch: { on: "$output.route", cases: { ask: "approve", skip: "continued" } } },
    humanDecisionEdge({ from: "approve", choices, cases: { continue: "continued", replan: "replanned" } }),
  ],
  exits: { continue: { from: "continued", validate: (value: any) => { if (!value.plan) throw new Error("no plan"); return value; } }, replan: { from: "replanned" } },
});
`;

const ROOT = `
import {
  action, agent, allowSettingsPath, assistantMessage, checkpoint, compute, controlLoop, decision, decisionEdge, defineWorkflow,
  defineWorkflowRegistry, idempotentEffect, includedResult, includeWorkflow, manualEffect, notify, runCommandBatch, settingsRoute,
  shell, workflowSettings,
} from "@osolmaz/pi-workflows";
import planApproval from "./plan-approval.workflow.ts";

const registry = defineWorkflowRegistry({ "plan-approval": planApproval });
const loop = controlLoop({
  decide: "decide",
  returnTo: "observe",
  routes: { work: { to: "work", returns: ["work"] }, stop: { to: "ask", terminal: true } },
});
const sort = ["good", "bad"] as const;

export default defineWorkflow({
  name: "everything",
  source: import.meta.url,
  presentationPrompt: "Present the result.",
  maxSteps: 60,
  title: async ({ input }: any) => "Everything for " + input.who,
  input: (given: any) => ({ who: given?.who ?? "nobody" }),
  settings: workflowSettings({
    initial: { rounds: 1 },
    parse: (value: any) => value,
    paths: [allowSettingsPath("/rounds", { read: ["session", "human"], replace: ["human"] })],
    validateChange: () => undefined,
    description: "How often it works",
  }),
  startAt: "observe",
  nodes: {
    observe: agent({
      prompt: ({ input }: any) => "Observe " + input.who,
      expectedOutput: "JSON: {state}",
      validate: (value: any) => value,
      timeoutMs: () => null,
      statusDetail: "observing",
      allowedTools: [],
    }),
    decide: decision({ choices: loop.choices, prompt: "What now?" }),
    work: shell({
      exec: () => ({ command: "true", args: [], cwd: ".", timeoutMs: 1_000, allowNonZeroExit: true, maxOutputChars: 100 }),
      parse: (result: any) => ({ code: result.exitCode }),
      updates: { parseLine: (line: string) => ({ type: "line", key: "work", data: { line } }) },
    }),
    ask: notify({ kind: "progress", message: "asking" }),
    look: checkpoint({ run: () => ({ look: true }), summary: "look" }),
    sorted: decision({ choices: sort, field: "kind", prompt: "Which?" }),
    text: agent({ prompt: "Write.", expectedOutput: assistantMessage({ maxChars: 100 }) }),
    batch: action({
      effect: manualEffect("batch"),
      run: async (ctx: any) => {
        await ctx.publishUpdate({ type: "progress", key: "overall", data: { schema: "pi-workflows.progress.v1", label: "Batch", status: "running" } });
        return runCommandBatch(ctx, { batchKind: "review", items: [{ id: "one", command: "true" }] });
      },
    }),
    route: settingsRoute({ run: ({ settings }: any) => ({ again: settings.rounds > 1 }) }),
    flaky: action({ run: ({ state }: any) => { if (state.steps.filter((s: any) => s.nodeId === "flaky").length === 0) throw new Error("first"); return { ok: true }; } }),
    end: action({ effect: idempotentEffect("end"), run: (ctx: any) => ({ result: includedResult(ctx, "approval"), named: includedResult(ctx, "byName").exit }) }),
  },
  includes: {
    approval: includeWorkflow(planApproval, { input: ({ outputs }: any) => ({ plan: outputs.observe }) }),
    byName: includeWorkflow({ workflow: registry.ref("plan-approval") }, { input: () => ({ mode: "skip", plan: { b: 1 } }) }),
  },
  edges: [
    { from: "observe", to: "decide" },
    ...loop.edges,
    { from: "ask", to: "look" },
    { from: "look", to: "sorted" },
    decisionEdge({ from: "sorted", choices: sort, field: "kind", cases: { good: "text", bad: "text" } }),
    { from: "text", to: "batch" },
    { from: "batch", to: "route" },
    { from: "route", switch: { on: "$.again", cases: { true: "observe", false: "flaky" } } },
    { from: "flaky", switch: { on: "$result.outcome", cases: { ok: "approval", failed: "flaky", timed_out: "flaky" } } },
    { from: "approval.continue", to: "byName" },
    { from: "approval.replan", to: "observe" },
    { from: "byName.continue", to: "end" },
    { from: "byName.replan", to: "end" },
  ],
});
`;

it("a file with every construct loads and runs to its end", async () => {
  await load("plan-approval", CHILD);
  const everything = await load("everything", ROOT);
  const options: TestOptions = {
    input: { who: "us" },
    agents: {
      observe: { state: 1 },
      decide: each([{ route: "work" }, { route: "stop" }, { route: "stop" }]),
      sorted: '{"kind": "good"}',
      text: "Fine.",
    },
    answers: {
      look: { seen: true },
      "approval/approve": each([{ choice: "replan", input: { changes: "more" } }, { choice: "continue" }]),
    },
    shell: () => ({ stdout: "line" }),
  };
  const run = await runWorkflow(everything, options);
  expect(run.error).toBeUndefined();
  expect(run.output).toEqual({ result: { exit: "continue", output: { plan: { state: 1 } } }, named: "continue" });
  expect(run.order.filter((nodeId) => nodeId === "approval/approve")).toHaveLength(2);
  expect(run.notifications).toHaveLength(2);
  expect(run.updates.map(({ type }) => type)).toContain("progress");
  expect(workflowModule.snapshotOf(everything).includes?.["approval"]).toMatchObject({
    workflow: "plan-approval",
    contractId: "plan-approval",
  });
});
