/** How long the service is away: after the death of the server or of a runner, and at its start. */
import { join } from "node:path";
import { type Bench, type Part } from "../bench.ts";
import { PACED_WORKFLOW } from "../children/steps.ts";
import { Ledger, makeBareHome, makeWorkflow, openClient, Server } from "../service.ts";

export const recovery: Part = {
  name: "recovery",
  keys: ["recover_ms", "runner_recover_ms"],
  async run(bench: Bench) {
    const home = join(bench.folder, "recovery");
    makeBareHome(home);
    const workflow = makeWorkflow(join(bench.folder, "project"), "paced", PACED_WORKFLOW);
    let server = await Server.start(home, bench);
    let client = await openClient(home);
    const ledger = new Ledger(home);
    // A step every few milliseconds, for much longer than this takes.
    const { runId } = await client.call("run.start", { ...workflow, input: { steps: 90_000 } });
    const stepOf = (other: string, after: number): Promise<{ at: number; actorId: string; index: number }> =>
      ledger.event(runId, after, ({ type, actorId }) => type === "node.finished" && actorId !== other);
    let runner = (await stepOf("", -1)).actorId;
    const whole: number[] = [];
    const one: number[] = [];
    for (let round = -1; round < bench.rounds; round += 1) {
      const { runners } = await client.call("server.status", {});
      const pid = runners.find((entry) => entry.runId === runId)?.pid;
      if (pid === undefined || pid === null) throw new Error(`no runner of ${runId} is known`);
      let last = ledger.lastIndex(runId);
      let died = Date.now();
      process.kill(pid, "SIGKILL");
      // What the dead runner had sent before is stored too; the first step of another one counts.
      let step = await stepOf(runner, last);
      if (round >= 0) one.push(step.at - died);
      runner = step.actorId;

      client.close();
      last = ledger.lastIndex(runId);
      died = Date.now();
      await server.kill();
      server = await Server.start(home, bench);
      step = await stepOf(runner, last);
      if (round >= 0) whole.push(step.at - died);
      runner = step.actorId;
      client = await openClient(home);
    }
    bench.report("runner_recover_ms", one);
    bench.report("recover_ms", whole);
    await client.call("run.cancel", { run: runId, reason: null });
    client.close();
    ledger.close();
    await server.stop();
  },
};

export const readiness: Part = {
  name: "ready",
  keys: ["ready_ms"],
  async run(bench: Bench) {
    const home = join(bench.folder, "ready");
    makeBareHome(home);
    const times: number[] = [];
    for (let round = -1; round < bench.rounds; round += 1) {
      const server = await Server.start(home, bench);
      // The first one also makes the database.
      if (round >= 0) times.push(server.readyMs);
      await server.stop();
    }
    bench.report("ready_ms", times);
  },
};
