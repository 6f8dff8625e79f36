/**
 * Child process: reports an alert through the store's own commands, as a monitor does, with the fault seam of the environment. Arguments: path of the
 * database, `raise` or `recover`. Repeated, as by a caller that heard no answer.
 */
import { join, dirname } from "node:path";
import { readFileSync } from "node:fs";

import { parseConfig } from "../../../src/contracts/config.ts";
import { faultsOf } from "../../../src/state/faults.ts";
import { openStore } from "../../../src/state/store.ts";

const [path = "", what = "", now = ""] = process.argv.slice(2);
const file = join(dirname(path), "config.json");
const { audiences, people, telegramProfiles, timeZone } = parseConfig(readFileSync(file, "utf8"), file);
const clock = { now: () => Number(now) };
const store = openStore({ path, clock, faults: faultsOf(process.env) ?? undefined });
const access = { audiences, people, profiles: telegramProfiles, timeZone, outage: null };
const alert = { access, audience: "operators", groupKey: "shop" } as const;
if (what === "raise") {
  const remind = { afterMs: 3_600_000, everyMs: 3_600_000, atMost: 1 };
  await store.alerts.raise({
    ...alert,
    severity: "critical",
    subject: "shop",
    condition: "down",
    repair: true,
    remind,
  });
} else {
  for (const { alertId, episode } of store.read.alerts.repairsAsked())
    await store.alerts.takeRepair({ alertId, episode });
  await store.alerts.recover(alert);
}
const left = store.read.alerts.repairsAsked().length;
store.close();
if (left > 0) throw new Error("the wish for a repair was not taken");
