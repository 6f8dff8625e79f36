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
  const names = ["@osolmaz/pi-workflows", "@osolmaz/pi-workflows/job-progress"];
  const modules = Object.fromEntries(names.map((alias) => [alias, workflowModule]));
  const { exports } = await loadModule(path, modules, {}, null, new SourceView(null));
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

it("every name that files of the earlier system import is there", () => {
  const names = [
    "action",
    "agent",
    "allowSettingsPath",
    "assistantMessage",
    "checkpoint",
    "choice",
    "compute",
    "controlLoop",
    "createJobProgressReporter",
    "decision",
    "decisionEdge",
    "defineHumanChoices",
    "defineWorkflow",
    "defineWorkflowRegistry",
    "humanDecision",
    "humanDecisionEdge",
    "idempotentEffect",
    "includedResult",
    "includeWorkflow",
    "manualEffect",
    "notify",
    "runCommandBatch",
    "settingsRoute",
    "shell",
    "textInput",
    "workflowSettings",
  ];
  const exported: Record<string, unknown> = { ...workflowModule };
  expect(names.filter((name) => typeof exported[name] !== "function")).toEqual([]);
});

/** One small file for each construct, as people write them; `run` is what it comes to with what the test answers. */
const STYLES: Readonly<Record<string, readonly [file: string, options: TestOptions, output: unknown]>> = {
  "a plain graph without types": [
    `import { defineWorkflow, compute } from "@osolmaz/pi-workflows";
     export default defineWorkflow({ name: "plain", startAt: "a", nodes: { a: compute({ run: () => 1 }), b: compute({ run: (ctx: any) => ctx.outputs.a + 1 }) }, edges: [{ from: "a", to: "b" }] });`,
    {},
    2,
  ],
  "a switch on a number and a boolean, with both spellings of the path": [
    `import { defineWorkflow, compute } from "@osolmaz/pi-workflows";
     export default defineWorkflow({ name: "paths", startAt: "a", nodes: { a: compute({ run: () => ({ n: 2, yes: true }) }), b: compute({ run: () => ({ ok: true }) }), c: compute({ run: () => "c" }) },
       edges: [{ from: "a", switch: { on: "$.n", cases: { "2": "b" } } }, { from: "b", switch: { on: "$output.ok", cases: { true: "c" } } }] });`,
    {},
    "c",
  ],
  "a loop that counts its own steps": [
    `import { defineWorkflow, compute } from "@osolmaz/pi-workflows";
     export default defineWorkflow({ name: "loop", startAt: "a", maxSteps: 20, nodes: { a: compute({ run: ({ state }: any) => ({ more: state.steps.length < 3 ? "yes" : "no" }) }), b: compute({ run: ({ state }: any) => state.steps.length }) },
       edges: [{ from: "a", switch: { on: "$.more", cases: { yes: "a", no: "b" } } }] });`,
    {},
    4,
  ],
  "a failure that goes on by its outcome": [
    `import { defineWorkflow, compute, action } from "@osolmaz/pi-workflows";
     export default defineWorkflow({ name: "failing", startAt: "a", nodes: { a: action({ run: async () => { throw new Error("broken"); } }), b: compute({ run: ({ results }: any) => results.a.outcome }) },
       edges: [{ from: "a", switch: { on: "$result.outcome", cases: { ok: "b", failed: "b", timed_out: "b" } } }] });`,
    {},
    "failed",
  ],
  "an agent whose answer stands in prose": [
    `import { defineWorkflow, agent } from "@osolmaz/pi-workflows";
     export default defineWorkflow({ name: "prose", startAt: "a", nodes: { a: agent({ prompt: "Look", expectedOutput: '{"found": boolean}', validate: (value: any) => { if (typeof value.found !== "boolean") throw new Error("found?"); return value; } }) } });`,
    { agents: { a: 'Here it is: {"found": true}' } },
    { found: true },
  ],
  "a checkpoint with content": [
    `import { defineWorkflow, checkpoint, compute } from "@osolmaz/pi-workflows";
     export default defineWorkflow({ name: "pause", startAt: "a", nodes: { a: checkpoint({ summary: "Look", run: ({ input }: any) => ({ look: input }) }), b: compute({ run: ({ outputs }: any) => outputs.a }) }, edges: [{ from: "a", to: "b" }] });`,
    { input: 3, answers: { a: { fine: true } } },
    { fine: true },
  ],
  "a command with its parser": [
    `import { defineWorkflow, shell } from "@osolmaz/pi-workflows";
     export default defineWorkflow({ name: "command", startAt: "a", nodes: { a: shell({ exec: ({ input }: any) => ({ command: "echo", args: [input] }), parse: ({ stdout }: any) => ({ said: stdout.trim() }) }) } });`,
    { input: "hi", shell: () => ({ stdout: "hi\n" }) },
    { said: "hi" },
  ],
  "a reporter imported from its own path": [
    `import { createJobProgressReporter } from "@osolmaz/pi-workflows/job-progress";
     import { defineWorkflow, compute } from "@osolmaz/pi-workflows";
     export default defineWorkflow({ name: "reporter", startAt: "a", nodes: { a: compute({ run: () => createJobProgressReporter({ job: "j", bucket: "b", prefix: "p", write: () => undefined }).objectName }) } });`,
    {},
    "p/j/progress.json",
  ],
};

it.each(Object.entries(STYLES))("%s loads unchanged and comes to its end", async (name, [text, options, output]) => {
  const run = await runWorkflow(await load(name.replaceAll(" ", "-"), text), options);
  expect(run.error).toBeUndefined();
  expect(run.output).toEqual(output);
});
