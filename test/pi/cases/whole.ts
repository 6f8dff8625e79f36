/** Agent nodes in workflows of a whole service: a real server, a real runner, real Pi. */
import assert from "node:assert/strict";
import type { RunView } from "../../../src/client/index.ts";
import { waitForRun } from "../../harness/index.ts";
import { serve } from "../service.ts";
import { processesOf } from "../stage.ts";
import { bash, list, submit, until, type Case } from "./case.ts";

const runners = ({ processes }: RunView): number[] => processes.map(({ pid }) => pid);
const progress = { schema: "holdpoint.progress.v1", label: "Planning", status: "running" };

export const whole: readonly Case[] = [
  {
    name: "a workflow with an agent node runs through the server: update, refusal, result as JSON among words, and Pi is registered and gone",
    model: list(
      ({ requestId }) => ({
        calls: [
          {
            name: "workflow",
            args: { action: "update", requestId, update: { type: "progress", key: "plan", data: progress } },
          },
        ],
      }),
      ({ requestId }) => ({ calls: [submit(requestId, { plan: 7 })] }),
      ({ requestId }) => ({
        calls: [submit(requestId, 'The result:\n```json\n{"plan": ["dig", "sow"]}\n```\nDone.')],
      }),
      ({ requestId }) => ({ calls: [submit(requestId, { plan: ["rest"] })] }),
    ),
    run: (stage) =>
      serve(stage, async ({ finished, registered, start }) => {
        const run = await start();
        const view = await finished(run);
        assert.equal(view.run.status, "completed", JSON.stringify(view.error));
        assert.deepEqual(view.outputs, { plan: { plan: ["dig", "sow"] }, count: 2 });
        assert.equal(view.updates.published, 1);
        const { requests } = stage.model;
        assert.match(requests[0]?.last ?? "", /Make a plan for the garden\./);
        assert.deepEqual(requests[0]?.tools, ["workflow"]);
        assert.match(requests[2]?.last ?? "", /plan must be a list/);
        assert.deepEqual(registered(), [{ kind: "agent", outcome: "ended", ended: 1 }]);
        assert.deepEqual(processesOf(run), []);
        // Nothing of the agent is left in the runner either: it serves the next run.
        const again = await start();
        const next = await finished(again);
        assert.equal(next.run.status, "completed", JSON.stringify(next.error));
        assert.equal(runners(view).length, 1);
        assert.deepEqual(runners(next), runners(view));
      }),
  },
  {
    name: "a run that is cancelled while its agent works leaves nothing of the agent behind",
    model: list({ calls: [bash("sleep 300 & sleep 300")] }),
    run: (stage) =>
      serve(
        stage,
        async ({ client: from, registered, start }) => {
          const run = await start();
          await until(() => processesOf(run).length >= 3);
          assert.deepEqual(registered(), [{ kind: "agent", outcome: null, ended: 0 }]);
          await from.call("run.cancel", { run, reason: null });
          const view = await waitForRun(
            from,
            run,
            ({ processes, run: { finishedAt } }) =>
              finishedAt !== null && processes.every(({ endedAt }) => endedAt !== null),
            "the end of its processes",
          );
          assert.equal(view.run.status, "cancelled");
          assert.deepEqual(processesOf(run), []);
        },
        { tools: ["bash"] },
      ),
  },
];
