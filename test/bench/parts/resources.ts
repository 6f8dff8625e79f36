/** Managed resources: trivial passes through warm runners, requests for a pass, and a long list. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, type Part, runChild } from "../bench.ts";
import type { ResourceSeed } from "../children/resources.ts";
import { Ledger, makeBareHome, openClient, Server, until } from "../service.ts";

const LIVE = 1_000;
const LISTED = 10_000;
const ENQUEUES = 10_000;

const MANAGER = `import { conditionTrue, defineResourceManager } from "holdpoint/resource-managers";
export default defineResourceManager({ name: "page", initialStatus: () => ({}),
  reconcile: (ctx) => ctx.settled({ conditions: [conditionTrue("Ready", "Seen")] }) });
`;

export const resources: Part = {
  name: "resources",
  keys: ["reconciles_per_s", "enqueue_per_s", "list_10000_ms"],
  async run(bench: Bench) {
    const projectPath = join(bench.folder, "resources-project");
    mkdirSync(projectPath, { recursive: true });
    const source = join(projectPath, "page.resource-manager.ts");
    writeFileSync(source, MANAGER);
    const home = join(bench.folder, "resources");
    makeBareHome(home);
    const rates: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      const last = round === bench.rounds - 1;
      const folder = last ? home : join(bench.folder, `resources-${round}`);
      if (!last) makeBareHome(folder);
      const options: ResourceSeed = { projectPath, source, live: last ? LIVE : 0, listed: LISTED, enqueues: ENQUEUES };
      rates.push(Number(await runChild(bench, "test/bench/children/resources.ts", folder, JSON.stringify(options))));
    }
    bench.report("enqueue_per_s", rates);
    const server = await Server.start(home, bench);
    const ledger = new Ledger(home);
    const client = await openClient(home);
    const waiting = "SELECT count(*) FROM managed_resource_queue WHERE lane = 'runner'";
    const settled = (): Promise<true> =>
      until("the passes", () => (ledger.number(waiting) === 0 ? true : undefined), 10);
    // The first round starts the runners.
    await settled();
    const passes: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      const started = performance.now();
      await client.call("resourceManager.rebuildQueue", {});
      await settled();
      passes.push((LIVE * 1_000) / (performance.now() - started));
    }
    bench.say(`${ledger.number("SELECT count(*) FROM child_processes WHERE kind = 'resource'")} resource runners`);
    bench.report("reconciles_per_s", passes);
    const times: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      const started = performance.now();
      let after: { manager: string; key: string } | null = null;
      let seen = 0;
      for (let more = true; more;) {
        const query = { projectPath, manager: "listed", after, limit: 256 };
        const page: Awaited<ReturnType<typeof client.call<"resourceManager.list">>> = await client.call(
          "resourceManager.list",
          query,
        );
        seen += page.resources.length;
        const end = page.resources.at(-1);
        if (end !== undefined) after = { manager: end.manager, key: end.key };
        ({ more } = page);
      }
      if (seen !== LISTED) throw new Error(`${seen} resources were listed`);
      times.push(performance.now() - started);
    }
    bench.report("list_10000_ms", times);
    client.close();
    ledger.close();
    await server.stop();
  },
};
