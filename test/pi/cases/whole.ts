/** Agent nodes in workflows of a whole service: a real server, a real runner, real Pi. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import type { HoldpointClient, RunView } from "../../../src/client/index.ts";
import { client, makeHome, Scope, startRun, startServer, waitForRun } from "../../harness/index.ts";
import { processesOf, type Stage } from "../stage.ts";
import { bash, list, submit, until, type Case } from "./case.ts";

const WORKFLOW = `
import { action, agent, defineWorkflow } from "holdpoint";
const TOOLS = [];
export default defineWorkflow({
  name: "plan",
  startAt: "plan",
  nodes: {
    plan: agent({
      prompt: ({ input }) => "Make a plan for " + input.what + ".",
      expectedOutput: "An object with the plan.",
      validate: (value) => {
        if (!Array.isArray(value.plan)) throw new Error("plan must be a list");
        return value;
      },
      allowedTools: TOOLS,
    }),
    count: action({ run: ({ outputs }) => outputs.plan.plan.length }),
  },
  edges: [{ from: "plan", to: "count" }],
});
`;

interface Service {
  readonly client: HoldpointClient;
  readonly start: () => Promise<string>;
  /** The processes that runs have registered. */
  readonly registered: () => unknown[];
}

/** Runs the workflow on a service of its own, which is gone afterwards. `tools` of the agent: default none. */
async function serve(
  stage: Stage,
  use: (service: Service) => Promise<void>,
  pi: { readonly command: string | string[]; readonly agentDir?: string } = {
    command: [...stage.command],
    agentDir: stage.agentDir,
  },
  tools: readonly string[] = [],
): Promise<void> {
  const scope = new Scope();
  try {
    const home = makeHome(scope, { config: { pi } });
    await startServer(scope, home);
    const from = await client(scope, home);
    const path = stage.path("plan.workflow.ts");
    writeFileSync(path, WORKFLOW.replace("TOOLS = []", `TOOLS = ${JSON.stringify(tools)}`));
    const registered = (): unknown[] => {
      const db = new Database(home.database, { readonly: true });
      try {
        return db.prepare("SELECT kind, outcome, ended_at IS NOT NULL AS ended FROM run_processes").all();
      } finally {
        db.close();
      }
    };
    const start = async (): Promise<string> => (await startRun(from, path, { what: "the garden" })).runId;
    await use({ client: from, start, registered });
  } finally {
    await scope.close();
  }
}

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
      serve(stage, async ({ client: from, registered, start }) => {
        const run = await start();
        const view = await waitForRun(from, run, ({ run: { finishedAt } }) => finishedAt !== null, "its end");
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
        const next = await waitForRun(from, again, ({ run: { finishedAt } }) => finishedAt !== null, "its end");
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
        undefined,
        ["bash"],
      ),
  },
  {
    name: "a workflow with agent nodes is refused at its start where there is no Pi, with what was found and what is needed",
    model: list(),
    run: (stage) =>
      serve(
        stage,
        async ({ client: from, start }) => {
          const run = await start();
          const view = await waitForRun(from, run, ({ run: { finishedAt } }) => finishedAt !== null, "its end");
          assert.equal(view.run.status, "failed");
          assert.equal(view.error?.kind, "piUnavailable");
          assert.match(view.error.message, /"plan".* need Pi 1\.2\.0 .*found: no program "no-such-pi"/);
          assert.equal(stage.model.requests.length, 0);
        },
        { command: "no-such-pi" },
      ),
  },
];
