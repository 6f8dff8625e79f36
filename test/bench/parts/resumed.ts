/**
 * Waiting runs that are answered all at once: from the first tap on the adapter's pipe until warm runners have completed the last of
 * them. The channel takes the settlements of their cards afterwards, as a real one would.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AdapterControl } from "../adapter-control.ts";
import { type Bench, type Part, seed } from "../bench.ts";
import { ASK_WORKFLOW, monotonicMs } from "../children/ask.ts";
import type { Card } from "../children/seed.ts";
import { Ledger, makeHome, makeWorkflow, processorMs, Server, until } from "../service.ts";

const RUNS = 1_000;
const CHATS = 20;
const WINDOW = 256;

export const resumed: Part = {
  name: "resumed",
  keys: ["resumed_runs_per_s"],
  async run(bench: Bench) {
    const home = join(bench.folder, "resumed");
    mkdirSync(home, { mode: 0o700 });
    makeHome(home, CHATS);
    const { projectPath, workflowPath } = makeWorkflow(join(bench.folder, "project"), "ask", ASK_WORKFLOW);
    const decisions = (bench.rounds + 1) * RUNS;
    const lines = await seed(bench, home, {
      decisions,
      audiences: CHATS,
      delivered: true,
      paused: false,
      workflow: { projectPath, workflowPath },
    });
    const cards = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Card);
    const control = await AdapterControl.listen(bench.folder);
    const ledger = new Ledger(home);
    const server = await Server.start(home, { ...bench, ...control.options(bench) });
    await control.hear("ready");
    const completed = (): number => ledger.number("SELECT count(*) FROM runs WHERE status = 'completed'");
    const rates: number[] = [];
    let used = 0;
    let runners = 0;
    // The first round starts the runners.
    for (let round = -1; round < bench.rounds; round += 1) {
      const taken = cards.splice(0, RUNS).map(({ place, reference, token }) => ({ place, reference, token }));
      const wanted = (round + 2) * RUNS;
      const before = processorMs(server.pid);
      control.tell({ type: "hold" });
      control.tell({ type: "tap", cards: taken, window: WINDOW });
      await until("the runs", () => (completed() === wanted ? true : undefined), 20);
      const last = ledger.number("SELECT max(finished_at) FROM runs");
      const ended = monotonicMs() - (Date.now() - last);
      const { startedAt, verdicts } = await control.hear("tapped");
      if (verdicts["accepted"] !== RUNS) throw new Error(`not every answer was accepted: ${JSON.stringify(verdicts)}`);
      const started = ledger.number("SELECT count(*) FROM child_processes WHERE kind = 'runner'");
      if (round >= 0) {
        if (started !== runners)
          bench.doubt(`${started - runners} runners were started for runs that warm ones should have resumed`);
        rates.push((RUNS * 1_000) / (ended - startedAt));
        used += processorMs(server.pid) - before;
      }
      runners = started;
      // What is left to do for the cards of this round is not to disturb the next one.
      control.tell({ type: "release" });
      await until("the settlements", () =>
        ledger.number(
          "SELECT count(*) FROM effects WHERE purpose = 'settlement' AND status IN ('pending', 'applying')",
        ) === 0
          ? true
          : undefined,
      );
    }
    const each = (used * 1_000) / (bench.rounds * RUNS);
    bench.say(`${runners} runners; ${each.toFixed(0)} us of the server's processor time for a run`);
    bench.report("resumed_runs_per_s", rates);
    ledger.close();
    await server.stop();
    control.close();
  },
};
