// A person's command and the model's tool do the same: the same operation with the same values, and the same words about it.
import { expect, test } from "vitest";
import { Actions, type ActionsHost } from "../../../adapters/pi/extension/actions.ts";
import { workflowCommand } from "../../../adapters/pi/extension/commands/workflow.ts";
import type { CommandTools } from "../../../adapters/pi/extension/commands/request.ts";
import { Life } from "../../../adapters/pi/extension/life.ts";
import { executeTool, type ToolHost } from "../../../adapters/pi/extension/tool/execute.ts";

const ACK = { runId: "run-1", shortId: "7k3f", status: "running", changeNumber: 2, orderNumber: 1, followUpId: "f-1" };

function told(): { readonly actions: Actions; readonly calls: unknown[] } {
  const calls: unknown[] = [];
  const host = {
    service: {
      call: (operation: string, payload: unknown) => {
        calls.push([operation, payload]);
        return Promise.resolve(ACK);
      },
    },
    view: () => undefined,
    cwd: () => "/work",
    within: () => undefined,
    origin: () => Promise.resolve({ session: "s-1", turn: null, mode: "interactive" }),
  };
  return { actions: new Actions(host as unknown as ActionsHost), calls };
}

async function byCommand(line: string): Promise<unknown> {
  const { actions, calls } = told();
  const request = { line, source: "interactive", context: {} };
  const text = await workflowCommand(request as never, { actions } as unknown as CommandTools);
  return [text, calls];
}

async function byTool(call: object): Promise<unknown> {
  const { actions, calls } = told();
  const host = { actions, life: new Life(), view: () => undefined, link: { live: true } };
  const { content } = await executeTool(host as unknown as ToolHost, "call-1", call, undefined);
  return [(content[0] as { text: string }).text, calls];
}

const PATCH = [{ op: "replace", path: "/n", value: 1 }];

test.each([
  ["pause run-1", { action: "pause", runId: "run-1" }],
  ["resume run-1", { action: "resume", runId: "run-1" }],
  ["cancel run-1", { action: "cancel", runId: "run-1" }],
  ["restart run-1", { action: "restart", runId: "run-1" }],
  ["monitor watch the build", { action: "start", workflow: "monitor", input: { task: "watch the build" } }],
  ['monitor --input-json {"task":"x"}', { action: "start", workflow: "monitor", input: { task: "x" } }],
])("/workflow %s", async (line, call) => {
  const commanded = await byCommand(line);
  expect(commanded).toEqual(await byTool(call));
  expect((commanded as [string, unknown[]])[1]).toHaveLength(1);
});

test("settings and follow-ups of the session's run", async () => {
  const { actions, calls } = told();
  const tools = { actions } as unknown as CommandTools;
  const host = { actions, life: new Life(), view: () => undefined, link: { live: true } } as unknown as ToolHost;
  const command = (line: string): Promise<string> =>
    workflowCommand({ line, source: "interactive", context: {} } as never, tools);
  const tool = (call: object): Promise<unknown> => executeTool(host, "call-1", call, undefined);
  // The run that was started here is meant.
  await command("monitor watch it");
  calls.length = 0;
  await command(`change-settings ${JSON.stringify(PATCH)}`);
  await tool({ action: "change-settings", patch: PATCH });
  await command("queue-follow-up tell Ann");
  await tool({ action: "queue-follow-up", prompt: "tell Ann" });
  await command("remove-follow-up f-1");
  await tool({ action: "remove-follow-up", followUpId: "f-1" });
  for (const index of [0, 2, 4]) expect(calls[index]).toEqual(calls[index + 1]);
  expect(calls).toHaveLength(6);
});
