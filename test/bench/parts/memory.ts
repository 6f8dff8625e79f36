/** Memory: the adapter for Telegram at work, and what 1,000 waiting decisions cost a server that has sent all their cards. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launchSim } from "../../../adapters/telegram/sim/control.ts";
import { AdapterControl } from "../adapter-control.ts";
import { type Bench, type Part, seed } from "../bench.ts";
import { ASK_WORKFLOW } from "../children/ask.ts";
import { Ledger, makeHome, makeWorkflow, openClient, residentMegabytes, Server, until } from "../service.ts";

const PARKED = 1_000;
const SENT = "SELECT count(*) FROM effects WHERE purpose = 'delivery' AND status = 'applied'";

export const adapterMemory: Part = {
  name: "adapter memory",
  keys: ["rss_adapter_mb"],
  async run(bench: Bench) {
    const sim = await launchSim();
    await sim.control.people.addPerson({ id: 1_001, firstName: "Ann" });
    const home = join(bench.folder, "adapter");
    makeHome(home);
    // The stand-in's own token and address, and the private chat of the person who asks.
    const text = readFileSync(join(home, "config.json"), "utf8");
    writeFileSync(join(home, "config.json"), text.replace("http://127.0.0.1:9", sim.url).replaceAll("5000", "1001"));
    writeFileSync(join(home, "token"), sim.token);
    await seed(bench, home, { decisions: 20, audiences: 1, delivered: false, paused: true });
    const server = await Server.start(home, bench);
    const client = await openClient(home);
    const ledger = new Ledger(home);
    await until("the cards", () => (ledger.number(SENT) === 20 ? true : undefined));
    const { channels } = await client.call("channel.status", {});
    const pid = channels[0]?.pid;
    if (pid === undefined || pid === null) throw new Error("the adapter is not running");
    bench.report("rss_adapter_mb", [residentMegabytes(pid)]);
    client.close();
    ledger.close();
    await server.stop();
    await sim.close();
  },
};

export const parkedMemory: Part = {
  name: "parked memory",
  keys: ["rss_1000_parked_mb"],
  async run(bench: Bench) {
    const more: number[] = [];
    const control = await AdapterControl.listen(bench.folder);
    // The file of the runs is there: a run that could not go on would have its card edited meanwhile.
    const { projectPath, workflowPath } = makeWorkflow(join(bench.folder, "project"), "ask", ASK_WORKFLOW);
    const workflow = { projectPath, workflowPath };
    // Two servers with the same history but for the decisions; three pairs say as much as five here.
    for (let round = 0; round < Math.min(3, bench.rounds); round += 1) {
      const sizes: number[] = [];
      for (const decisions of [0, PARKED]) {
        const home = join(bench.folder, `parked-${round}-${decisions}`);
        makeHome(home, 20);
        await seed(bench, home, { decisions, audiences: 20, delivered: false, paused: false, workflow });
        const server = await Server.start(home, {
          ...bench,
          ...control.options(bench),
          gc: bench.children.path("test/bench/children/gc.ts"),
        });
        await control.hear("ready");
        const ledger = new Ledger(home);
        const started = performance.now();
        await until("the cards", () => (ledger.number(SENT) === decisions ? true : undefined));
        if (decisions > 0) bench.say(`${decisions} cards sent in ${(performance.now() - started).toFixed(0)} ms`);
        sizes.push(await server.collectedMegabytes());
        ledger.close();
        await server.stop();
      }
      const [idle = 0, full = 0] = sizes;
      bench.say(`server: ${idle.toFixed(1)} MB idle, ${full.toFixed(1)} MB with ${PARKED} waiting decisions`);
      more.push(full - idle);
    }
    control.close();
    bench.report("rss_1000_parked_mb", more);
  },
};
