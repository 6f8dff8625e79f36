/** What 500 looks a minute cost: processor time of the server and of the child that probes, as a share of one core. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, type Part } from "../bench.ts";
import { Ledger, makeHome, processorMs, Server, until } from "../service.ts";

const MONITORS = 500;
const EVERY_SECONDS = 60;
/** Long enough for a share that says something, short enough to be measured several times. */
const WINDOW_MS = 20_000;

export const probes: Part = {
  name: "probes",
  keys: ["probe_cpu_percent"],
  async run(bench: Bench) {
    let asked = 0;
    const target = createServer((_, response) => {
      asked += 1;
      response.end('{"status":"ok"}');
    });
    await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
    const home = join(bench.folder, "probes");
    makeHome(home);
    writeMonitors(join(home, "config.json"), url);
    const server = await Server.start(home, bench);
    const ledger = new Ledger(home);
    try {
      await until("the first look at each", () =>
        ledger.number("SELECT count(*) FROM monitors WHERE checks > 0") === MONITORS ? true : undefined,
      );
      const child = ledger.number("SELECT pid FROM child_processes WHERE kind = 'probes' AND ended_at IS NULL");
      const used = (): number => processorMs(server.pid) + processorMs(child);
      const shares: number[] = [];
      for (let round = 0; round < Math.min(3, bench.rounds); round += 1) {
        const [before, since, made] = [used(), performance.now(), asked];
        await sleep(WINDOW_MS);
        const perMinute = ((asked - made) * 60_000) / (performance.now() - since);
        if (perMinute < 0.7 * MONITORS) throw new Error(`only ${perMinute.toFixed(0)} looks a minute were made`);
        shares.push((100 * (used() - before)) / (performance.now() - since));
        bench.say(`${perMinute.toFixed(0)} looks a minute`);
      }
      bench.report("probe_cpu_percent", shares);
    } finally {
      ledger.close();
      await server.stop();
      target.closeAllConnections();
      target.close();
    }
  },
};

function writeMonitors(path: string, url: string): void {
  const config = JSON.parse(readFileSync(path, "utf8")) as { audiences: Record<string, unknown>; monitors?: unknown };
  const audience = Object.keys(config.audiences)[0];
  const monitor = {
    everySeconds: EVERY_SECONDS,
    probe: { type: "http", url },
    expect: { json: [{ path: "$.status", equals: "ok" }] },
    audience,
  };
  config.monitors = Object.fromEntries(Array.from({ length: MONITORS }, (_, i) => [`m${i}`, monitor]));
  writeFileSync(path, JSON.stringify(config));
}
