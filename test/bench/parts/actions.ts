/** Steps with an effect each, reserved before and settled after it, through the whole service: one run alone, and eight at once. */
import { join } from "node:path";
import { type Bench, type Part } from "../bench.ts";
import { ACTIONS_WORKFLOW, GATED_ACTIONS_WORKFLOW } from "../children/steps.ts";
import { Ledger, makeBareHome, makeWorkflow, openClient, processorMs, Server } from "../service.ts";
import { runSteps, runTogether, TOGETHER } from "./steps.ts";

/** Actions of a run. */
const ALONE = 1_000;
const EACH = 250;

export const actions: Part = {
  name: "actions",
  keys: ["action_steps_per_s", "action_steps_per_s_8x"],
  async run(bench: Bench) {
    const home = join(bench.folder, "actions");
    makeBareHome(home, TOGETHER);
    const project = join(bench.folder, "project");
    const workflow = makeWorkflow(project, "actions", ACTIONS_WORKFLOW);
    const gated = makeWorkflow(project, "gated-actions", GATED_ACTIONS_WORKFLOW);
    const server = await Server.start(home, bench);
    const client = await openClient(home);
    const ledger = new Ledger(home);
    const alone: number[] = [];
    const together: number[] = [];
    let used = 0;
    for (let round = -1; round < bench.rounds; round += 1) {
      // Another step follows the actions, and a gate comes before those of eight runs.
      const { from, to } = await runSteps(client, ledger, workflow, ALONE + 1);
      const before = processorMs(server.pid);
      const ms = await runTogether(client, ledger, gated, EACH + 2, join(bench.folder, `actions-gate-${round}`));
      if (round < 0) continue;
      used += processorMs(server.pid) - before;
      alone.push((ALONE * 1_000) / (to - from));
      together.push((TOGETHER * EACH * 1_000) / ms);
    }
    const reserved = ledger.number("SELECT count(*) FROM effects WHERE purpose = 'action' AND status = 'applied'");
    const wanted = (bench.rounds + 1) * (ALONE + TOGETHER * EACH);
    if (reserved !== wanted) throw new Error(`${reserved} effects were applied, not ${wanted}`);
    const each = (used * 1_000) / (bench.rounds * TOGETHER * EACH);
    bench.say(`${each.toFixed(0)} us of the server's processor time for an action of eight runs`);
    bench.report("action_steps_per_s", alone);
    bench.report("action_steps_per_s_8x", together);
    client.close();
    ledger.close();
    await server.stop();
  },
};
