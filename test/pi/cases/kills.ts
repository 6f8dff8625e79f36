/**
 * Server and runner are killed in the middle of an agent's step, in a whole service: one submission counts, the work goes
 * on in the same conversation, and nothing of the agent outlives them.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { startIdentity } from "../../../src/contracts/process-identity.ts";
import { serve, type Service } from "../service.ts";
import { processesOf, type Stage } from "../stage.ts";
import { bash, list, submit, until, type Case } from "./case.ts";

/** A writer that has left its group and whose shell has returned, then one that goes on in the turn. */
const WRITERS = [
  "setsid nohup sh -c 'while :; do echo x >> background.txt; sleep 0.02; done' >/dev/null 2>&1 & echo started",
  "sh -c 'while :; do echo x >> foreground.txt; sleep 0.02; done'",
];

/** Two turns that leave writers, then a submission under the killed attempt's id, then the right one. */
const interrupted = list(
  { text: "I begin.", calls: [bash(WRITERS[0] ?? "")] },
  { calls: [bash(WRITERS[1] ?? "")] },
  ({ messages }) => {
    const first = /requestId "(q-[0-9a-f]{6})"/.exec(messages.map(({ text }) => text).join("\n"))?.[1] ?? "none";
    return { calls: [submit(first, { plan: ["from the killed attempt"] })] };
  },
  ({ requestId }) => ({ calls: [submit(requestId, { plan: ["dig", "sow"] })] }),
);

function size(stage: Stage, name: string): number {
  return existsSync(stage.path(name)) ? readFileSync(stage.path(name)).length : 0;
}

const writing = (stage: Stage) => (): boolean => size(stage, "background.txt") > 2 && size(stage, "foreground.txt") > 2;

async function runnerOf({ client }: Service, run: string): Promise<number> {
  return (await client.call("run.get", { run })).processes.at(-1)?.pid ?? assert.fail("there is no runner");
}

async function restart(service: Service): Promise<void> {
  service.server = await service.server.restart({});
}

/** The run goes on to its end with the one submission that counts. */
async function assertGoesOn(stage: Stage, service: Service, run: string): Promise<void> {
  const view = await service.finished(run);
  assert.equal(view.run.status, "completed", JSON.stringify(view.error));
  assert.deepEqual(view.outputs, { plan: { plan: ["dig", "sow"] }, count: 2 });
  assert.equal(readFileSync(stage.path("counted.txt"), "utf8"), '{"plan":["dig","sow"]}\n');
  const { requests } = stage.model;
  assert.equal(requests.length, 4);
  const said = (requests[2]?.messages ?? []).map(({ text }) => text).join("\n");
  assert.match(said, /I begin\.[\s\S]*started[\s\S]*was interrupted and goes on here/);
  assert.match(requests[3]?.last ?? "", /This step has the requestId/);
  assert.deepEqual(processesOf(run), []);
}

export const kills: readonly Case[] = [
  {
    name: "when the server is killed in the middle of an agent's step, its agent is gone before the next server works, and one submission counts",
    model: interrupted,
    run: (stage) =>
      serve(
        stage,
        async (service) => {
          const run = await service.start();
          await until(writing(stage));
          await service.server.kill("SIGKILL");
          await restart(service);
          await assertGoesOn(stage, service, run);
          const [first, second] = service.registered();
          assert.deepEqual(first, { kind: "agent", outcome: "orphaned", ended: 1 });
          assert.deepEqual(second, { kind: "agent", outcome: "ended", ended: 1 });
        },
        { tools: ["bash"] },
      ),
  },
  {
    name: "when the runner is killed in the middle of an agent's step, its agent is gone before the step begins again, and one submission counts",
    model: interrupted,
    run: (stage) =>
      serve(
        stage,
        async (service) => {
          const run = await service.start();
          await until(writing(stage));
          process.kill(await runnerOf(service, run), "SIGKILL");
          await assertGoesOn(stage, service, run);
          const all = service.registered();
          const gone = { kind: "agent", outcome: "ended", ended: 1 };
          assert.deepEqual(all, [gone, gone]);
        },
        { tools: ["bash"] },
      ),
  },
  {
    name: "a submission that was accepted and not stored when the server died does not count; the next one does",
    model: list(
      ({ requestId }) => ({ calls: [submit(requestId, { plan: ["lost"] })] }),
      ({ requestId }) => ({ calls: [submit(requestId, { plan: ["kept"] })] }),
    ),
    run: (stage) =>
      serve(
        stage,
        async (service) => {
          const run = await service.start();
          assert.equal((await service.server.exited).signal, "SIGKILL");
          await restart(service);
          const view = await service.finished(run);
          assert.deepEqual(view.outputs, { plan: { plan: ["kept"] }, count: 1 });
          assert.equal(readFileSync(stage.path("counted.txt"), "utf8"), '{"plan":["kept"]}\n');
          assert.match(stage.model.requests[1]?.last ?? "", /was interrupted and goes on here/);
          assert.deepEqual(processesOf(run), []);
        },
        { server: { env: { HOLDPOINT_FAULT: "runs.advance:before" } } },
      ),
  },
  {
    name: "a submission that was stored when the server died counts, and no model is asked again",
    model: list(({ requestId }) => ({ calls: [submit(requestId, { plan: ["stored"] })] })),
    run: (stage) =>
      serve(
        stage,
        async (service) => {
          const run = await service.start();
          assert.equal((await service.server.exited).signal, "SIGKILL");
          await restart(service);
          const view = await service.finished(run);
          assert.deepEqual(view.outputs, { plan: { plan: ["stored"] }, count: 1 });
          assert.equal(stage.model.requests.length, 1);
          assert.deepEqual(processesOf(run), []);
        },
        { server: { env: { HOLDPOINT_FAULT: "runs.advance:after" } } },
      ),
  },
  {
    name: "when the server is killed while the runner cannot turn its event loop, runner and agent end although no server follows",
    model: list({ calls: [bash(WRITERS[0] ?? "")] }, ({ requestId }) => ({ calls: [submit(requestId, { spin: 1 })] })),
    run: (stage) =>
      serve(
        stage,
        async (service) => {
          const run = await service.start();
          await until(() => stage.model.requests.length === 2 && size(stage, "background.txt") > 2);
          const runner = await runnerOf(service, run);
          await until(() => spins(runner));
          await service.server.kill("SIGKILL");
          await until(() => startIdentity(runner) === null && processesOf(run).length === 0);
        },
        { tools: ["bash"] },
      ),
  },
];

/** Whether a process is computing, by its state in proc(5). */
function spins(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).startsWith("R");
}
