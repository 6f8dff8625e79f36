/** What monitors saw and sources brought while no server runs: each result counts once, and people are told of it once. */
import { fileURLToPath } from "node:url";

import { beside } from "./beside.ts";
import { heads, untilSent } from "./alarm.ts";
import type { Scenario } from "./scenario.ts";

const WATCH_CHILD = fileURLToPath(new URL("../children/watch.ts", import.meta.url));

const WANTED = JSON.stringify({
  checks: 1,
  repair: "refused",
  missed: 1,
  receipts: 1,
  events: ["monitor.added", "monitor.down", "monitor.repairWanted", "monitor.repairRefused"],
});

/** The configuration has no monitors: the server that starts then takes them away, and closes what they had opened. */
const watched: Scenario = {
  async play(stage) {
    const counted = await beside(stage, WATCH_CHILD, [String(Date.now())]);
    if (counted !== WANTED) stage.problems.push(`the monitors say ${counted}`);
    await stage.start({ fault: false });
    await untilSent(stage, "the end of the alert", () => heads(stage).length === 1);
    return new Map();
  },
};

export const watches = { watched };
