// Little chaos with fixed seeds: what `npm run chaos` plays whole. It is SKIPPED unless HOLDPOINT_CHAOS=1: about one run in three ends
// with violations whose cause is not known yet (docs/roadmap.md, C).

import { expect, test } from "vitest";

import { playChaos } from "../chaos/play.ts";
import { SHORT } from "../chaos/plan.ts";

test.runIf(process.env["HOLDPOINT_CHAOS"] === "1").each([1])(
  "after faults and deaths nothing is lost, doubled or stuck (seed %d)",
  async (seed) => {
    const { alerts, decisions, faults, kills, violations } = await playChaos(seed, SHORT);
    expect(violations).toEqual([]);
    expect({ decisions, alerts }).toEqual({ decisions: 12, alerts: 48 });
    expect(faults).toBeGreaterThan(10);
    expect(kills).toBeGreaterThan(1);
  },
);
