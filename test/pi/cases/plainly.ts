/** Asked in plain language, an agent starts the right workflow, from what the skill tells it: nobody types JSON or a command. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Script } from "../mock-model.ts";
import { inWorld } from "../sessions/world.ts";
import type { Case } from "./case.ts";
import { workflow } from "./sessions.ts";

const SKILLS = join(dirname(fileURLToPath(import.meta.url)), "../../../adapters/pi/skills");

/** A model that knows nothing of workflows: it looks for a skill that fits the request, reads it, and makes the call that stands there. */
function literal(): Script {
  let began = false;
  return ({ last, messages }) => {
    const system = messages.find(({ role }) => role === "system")?.text ?? "";
    if (last.startsWith("watch this PR every 30 minutes")) {
      const path = /<description>Watch something[\s\S]*?<location>([^<]+)<\/location>/.exec(system)?.[1];
      return path === undefined ? { text: "no skill" } : { calls: [{ name: "read", args: { path } }] };
    }
    const call = /```json\n(\{"action": "start".*\})\n```/.exec(last)?.[1];
    if (call === undefined || began) return { text: "It watches from now on." };
    began = true;
    return { calls: [workflow(JSON.parse(call) as object)] };
  };
}

export const plainly: readonly Case[] = [
  {
    name: "“watch this PR every 30 minutes” starts the monitor: the agent finds the skill, and the call that it teaches is right",
    model: literal(),
    run: (stage) =>
      inWorld(stage, {}, async ({ client, pi }) => {
        const session = pi({ args: ["--skill", SKILLS] });
        await session.turn("watch this PR every 30 minutes");
        const { runs } = await client.call("run.list", { limit: 8, before: null });
        assert.deepEqual(
          runs.map(({ workflow: name }) => name),
          ["monitor"],
        );
        const run = runs[0]?.runId ?? "";
        await session.until(() => session.widget.find((line) => line.includes("monitor")), "the widget of the run");
        const ends = session.records.filter(({ type }) => type === "tool_execution_end");
        assert.deepEqual(
          ends.map(({ isError, toolName }) => [toolName, isError]),
          [
            ["read", false],
            ["workflow", false],
          ],
        );
        await client.call("run.cancel", { run, reason: null });
      }),
  },
];
