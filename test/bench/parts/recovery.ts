/** How long the service is away: after an answer with a cold runner, after the death of the server or of a runner, and at its start. */
import { join } from "node:path";
import { AdapterControl } from "../adapter-control.ts";
import { type Bench, type Part } from "../bench.ts";
import { PACED_WORKFLOW } from "../children/steps.ts";
import { Ledger, makeBareHome, makeHome, makeWorkflow, openClient, Server, until } from "../service.ts";

/** Answers in one round, one after another; the median of each round counts. */
const ASKED = 3;

const ASK_WORKFLOW = `import { choice, compute, defineHumanChoices, defineWorkflow, humanDecision, humanDecisionEdge } from "holdpoint";

const choices = defineHumanChoices({ approve: choice({ label: "Release" }), reject: choice({ label: "Do not" }) });

export default defineWorkflow({
  name: "ask",
  startAt: "ask",
  nodes: {
    ask: humanDecision({
      audience: "audience0",
      choices,
      request: ({ input }) => ({ title: input.title, subject: input, presentation: { summary: "Everything is tested.", blocks: [] } }),
    }),
    done: compute({ run: () => "done" }),
  },
  edges: [humanDecisionEdge({ from: "ask", choices, cases: { approve: "done", reject: "done" } })],
});
`;

export const continued: Part = {
  name: "continued",
  keys: ["answer_to_continued_ms_p50_cold"],
  async run(bench: Bench) {
    const home = join(bench.folder, "continued");
    makeHome(home);
    const workflow = makeWorkflow(join(bench.folder, "project"), "ask", ASK_WORKFLOW);
    const control = await AdapterControl.listen(bench.folder);
    const server = await Server.start(home, { ...bench, ...control.options(bench) });
    await control.hear("ready");
    const client = await openClient(home);
    const ledger = new Ledger(home);
    const medians: number[] = [];
    for (let round = -1; round < bench.rounds; round += 1) {
      const times: number[] = [];
      for (let i = 0; i < ASKED; i += 1) {
        const { runId } = await client.call("run.start", { ...workflow, input: { title: `Question ${round} ${i}` } });
        await ledger.event(runId, -1, ({ type }) => type === "decision.requested");
        const { type: _type, title: _title, ...card } = await control.hear("card");
        // Its runner has left by itself; the next one starts from nothing.
        await until("the end of the runner", () =>
          ledger.number("SELECT count(*) FROM child_processes WHERE kind = 'runner' AND ended_at IS NULL") === 0
            ? true
            : undefined,
        );
        control.tell({ type: "tap", cards: [card], window: 1 });
        const { startedAt } = await control.hear("tapped");
        const step = await ledger.event(
          runId,
          -1,
          ({ type, actorId, at }) => type === "node.finished" && actorId.startsWith("r-") && at >= startedAt,
        );
        times.push(step.at - startedAt);
      }
      times.sort((a, b) => a - b);
      if (round >= 0) medians.push(times[(ASKED - 1) / 2] as number);
    }
    bench.report("answer_to_continued_ms_p50_cold", medians);
    client.close();
    ledger.close();
    await server.stop();
    control.close();
  },
};

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
