/**
 * Pure steps through the whole service: server, runner processes, pipes, protocol. From the commit of a run's start to that of
 * its end. Of eight runs at once, from the moment when all of them have started: their first step waits for that.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HoldpointClient } from "../../../src/client/index.ts";
import { type Bench, type Part } from "../bench.ts";
import { GATED_WORKFLOW, STEPS_WORKFLOW } from "../children/steps.ts";
import { Ledger, makeBareHome, makeWorkflow, openClient, residentMegabytes, Server } from "../service.ts";

/** Runs of 100 steps in one round: their times are summed, because events have whole milliseconds. */
const SHORT_RUNS = 10;
export const TOGETHER = 8;

interface Span {
  readonly from: number;
  readonly to: number;
}

type Workflow = ReturnType<typeof makeWorkflow>;

/** Starts a run of so many steps; resolves with the times of its start and end when both are committed. */
export async function runSteps(
  client: HoldpointClient,
  ledger: Ledger,
  workflow: Workflow,
  steps: number,
): Promise<Span> {
  const { runId } = await client.call("run.start", { ...workflow, input: { steps } });
  const to = await endOf(ledger, runId, steps);
  const started = await ledger.event(runId, -1, ({ type }) => type === "run.started");
  return { from: started.at, to };
}

async function endOf(ledger: Ledger, runId: string, steps: number): Promise<number> {
  const end = await ledger.event(runId, -1, ({ type }) => type === "run.finished");
  const stored = ledger.number("SELECT steps FROM runs WHERE run_id = ? AND status = 'completed'", runId);
  if (stored !== steps) throw new Error(`run ${runId} has ${stored} steps, not ${steps}`);
  return end.at;
}

/** Milliseconds for eight runs of so many steps each, the gate included, which were all started before. */
export async function runTogether(
  client: HoldpointClient,
  ledger: Ledger,
  workflow: Workflow,
  steps: number,
  gate: string,
): Promise<number> {
  const starting = Array.from({ length: TOGETHER }, () =>
    client.call("run.start", { ...workflow, input: { steps: steps - 1, gate } }),
  );
  const runs = (await Promise.all(starting)).map(({ runId }) => runId);
  await Promise.all(runs.map((runId) => ledger.event(runId, -1, ({ type }) => type === "run.started")));
  const from = Date.now();
  writeFileSync(gate, "");
  const ends = await Promise.all(runs.map((runId) => endOf(ledger, runId, steps)));
  return Math.max(...ends) - from;
}

export const steps: Part = {
  name: "steps",
  keys: ["pure_steps_per_s_100", "pure_steps_per_s_10000", "pure_steps_per_s_8x100", "rss_server_mb"],
  async run(bench: Bench) {
    const home = join(bench.folder, "steps");
    makeBareHome(home, TOGETHER);
    const workflow = makeWorkflow(join(bench.folder, "project"), "steps", STEPS_WORKFLOW);
    const gated = makeWorkflow(join(bench.folder, "project"), "gated", GATED_WORKFLOW);
    const server = await Server.start(home, bench);
    const client = await openClient(home);
    const ledger = new Ledger(home);
    const run = (count: number): Promise<Span> => runSteps(client, ledger, workflow, count);
    bench.say(`server at rest: ${residentMegabytes(server.pid).toFixed(1)} MB`);
    const short: number[] = [];
    const long: number[] = [];
    const together: number[] = [];
    // The runner that serves them stays the same: a new one has to get warm, as the floors' process does before their first round.
    await run(10_000);
    for (let round = 0; round < bench.rounds; round += 1) {
      let ms = 0;
      for (let i = 0; i < SHORT_RUNS; i += 1) {
        const { from, to } = await run(100);
        ms += to - from;
      }
      short.push((SHORT_RUNS * 100 * 1_000) / ms);
      const { from, to } = await run(10_000);
      long.push((10_000 * 1_000) / (to - from));
    }
    for (let round = 0; round < bench.rounds; round += 1) {
      const ms = await runTogether(client, ledger, gated, 100, join(bench.folder, `gate-${round}`));
      together.push((TOGETHER * 100 * 1_000) / ms);
    }
    bench.report("pure_steps_per_s_100", short);
    bench.report("pure_steps_per_s_10000", long);
    bench.report("pure_steps_per_s_8x100", together);
    // After all that work, with whatever garbage it left.
    bench.report("rss_server_mb", [residentMegabytes(server.pid)]);
    client.close();
    ledger.close();
    await server.stop();
  },
};
