/**
 * Child process: gives the commands of monitors and sources to the store, with the fault seam of the environment, and goes on where an
 * earlier one was killed. Arguments: path of the database, the time. Prints what counted.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { parseConfig } from "../../../src/contracts/config.ts";
import { parseMonitorSpec, type MonitorSpec } from "../../../src/contracts/monitor/spec.ts";
import { faultsOf } from "../../../src/state/faults.ts";
import { openStore } from "../../../src/state/store.ts";

const [path = "", time = ""] = process.argv.slice(2);
const now = Number(time);
const file = join(dirname(path), "config.json");
const { audiences, people, telegramProfiles, timeZone } = parseConfig(readFileSync(file, "utf8"), file);
const store = openStore({
  path,
  clock: { now: () => now },
  faults: faultsOf(process.env) ?? undefined,
});
const access = { audiences, people, profiles: telegramProfiles, timeZone, outage: null };
const { monitors, read, sources } = store;

const spec = (more: object): MonitorSpec =>
  parseMonitorSpec({ everySeconds: 60, failAfter: 1, audience: "operators", ...more }, "the monitor");
const shop = spec({ probe: { type: "tcp", host: "shop", port: 1 }, remediation: { workflow: "none" } });
const job = spec({ probe: { type: "heartbeat" } });

await monitors.sync({
  monitors: [
    { name: "shop", spec: shop, firstAt: now },
    { name: "job", spec: job, firstAt: now },
  ],
  keep: [],
  access,
});
await monitors.put({ name: "shop@1", spec: shop, firstAt: now, resource: "uid-1", access });
const { monitorNo, specDigest } = read.monitors.get("shop");
const result = { ok: false, finding: { code: "refused" }, durationMs: 1 } as const;
const check = { monitorNo, specDigest, due: now, result, nextAt: now + 60_000, quiet: false, missed: 0 };
await monitors.checked({ results: [check], access });
// Asked again after it was refused, it would be another wish.
if (read.monitors.get("shop").repair === null)
  await monitors.askRepair({ monitor: "shop", by: "Ann", wish: null, access });
const since = read.monitors.get("shop").repair?.since ?? 0;
await monitors.startRepair({ monitorNo, since, workflow: { error: "it is not there" }, access });
const report = read.monitors.get("job");
await monitors.postpone({ monitorNo: report.monitorNo, due: now, nextAt: now + 1, missed: 1 });
await monitors.beat({
  monitorNo: report.monitorNo,
  specDigest: report.specDigest,
  ok: true,
  finding: { code: "ok" },
  nextAt: now + 120_000,
  quiet: false,
  access,
});
await monitors.remove({ name: "shop@1", access });

const wakes = { projectPath: "/srv/shop", manager: "deployments", key: "shop" };
await sources.plan({ schedules: [{ source: "nightly", digest: "one", nextAt: now }] });
await sources.fire({ source: "nightly", due: now, nextAt: now + 60_000, missed: 0, wakes });
await sources.receive({ source: "code", receiptId: "one", bodyDigest: "-", wakes });
await sources.changed({ wakes, reason: "file" });
await sources.sweep({ before: 0 });

const { checks, repair } = read.monitors.get("shop");
const events = read.monitors.events("shop").map(({ type }) => type);
const { missed } = read.monitors.get("job");
const receipts = read.sources.receipts("code");
store.close();
process.stdout.write(JSON.stringify({ checks, repair: repair?.status, missed, receipts, events: events.reverse() }));
