/**
 * How soon a run goes on: from the frame with the answer on the adapter's pipe, or from `run.start` on the client's socket, until
 * the node has begun whose start had to be committed first. Cold in a new process, warm in one that has served others.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AdapterControl } from "../adapter-control.ts";
import { type Bench, type Part } from "../bench.ts";
import { ASK_WORKFLOW, monotonicMs, STAMP_WORKFLOW } from "../children/ask.ts";
import { percentile } from "../keys.ts";
import { endRunners, Ledger, makeHome, makeWorkflow, openClient, Server } from "../service.ts";

/** Samples in one round, one after another. */
const COLD = 3;
const WARM = 30;
/** After its run waits a runner says so, looks at itself and is free; nothing outside tells when. */
const FREE_MS = 10;

export const continued: Part = {
  name: "continued",
  keys: [
    "answer_to_continued_ms_p50_cold",
    "answer_to_continued_ms_p50_warm",
    "answer_to_continued_ms_p95_warm",
    "cold_start_ms",
  ],
  async run(bench: Bench) {
    const home = join(bench.folder, "continued");
    makeHome(home);
    const project = join(bench.folder, "project");
    const ask = makeWorkflow(project, "ask", ASK_WORKFLOW);
    const stamp = makeWorkflow(project, "stamp", STAMP_WORKFLOW);
    const control = await AdapterControl.listen(bench.folder);
    const server = await Server.start(home, { ...bench, ...control.options(bench) });
    await control.hear("ready");
    const client = await openClient(home);
    const ledger = new Ledger(home);
    const runners = (): number => ledger.number("SELECT count(*) FROM child_processes WHERE kind = 'runner'");

    /** Asks, prepares as told, answers; from the answer's frame to the begin of the next node. */
    const answered = async (title: string, before: () => Promise<unknown>): Promise<number> => {
      const { runId } = await client.call("run.start", { ...ask, input: { title } });
      await ledger.event(runId, -1, ({ type }) => type === "decision.requested");
      const { type: _type, title: _title, ...card } = await control.hear("card");
      await before();
      control.tell({ type: "tap", cards: [card], window: 1 });
      const { startedAt } = await control.hear("tapped");
      return (await ledger.numberFrom(runId)) - startedAt;
    };
    const started = async (): Promise<number> => {
      await endRunners(ledger);
      const from = monotonicMs();
      const { runId } = await client.call("run.start", { ...stamp, input: null });
      return (await ledger.numberFrom(runId)) - from;
    };

    const cold: number[] = [];
    const warm50: number[] = [];
    const warm95: number[] = [];
    const start: number[] = [];
    // The first round also fills the loader's cache.
    for (let round = -1; round < bench.rounds; round += 1) {
      const starts = await samples(COLD, started);
      const colds = await samples(COLD, (i) => answered(`Cold ${round} ${i}`, () => endRunners(ledger)));
      const before = runners();
      const warms = await samples(WARM, (i) => answered(`Warm ${round} ${i}`, () => sleep(FREE_MS)));
      if (runners() !== before) bench.doubt(`${runners() - before} of ${WARM} warm answers started a runner`);
      if (round < 0) continue;
      start.push(percentile(starts, 0.5));
      cold.push(percentile(colds, 0.5));
      warm50.push(percentile(warms, 0.5));
      warm95.push(percentile(warms, 0.95));
    }
    bench.report("answer_to_continued_ms_p50_cold", cold);
    bench.report("answer_to_continued_ms_p50_warm", warm50);
    bench.report("answer_to_continued_ms_p95_warm", warm95);
    bench.report("cold_start_ms", start);
    client.close();
    ledger.close();
    await server.stop();
    control.close();
  },
};

async function samples(count: number, take: (index: number) => Promise<number>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0; index < count; index += 1) taken.push(await take(index));
  return taken;
}
