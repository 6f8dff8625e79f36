// Little chaos with fixed seeds: what `npm run chaos` plays whole.

import { expect, test } from "vitest";

import { playChaos } from "../chaos/play.ts";
import { SHORT } from "../chaos/plan.ts";

test.each([2, 3])("after faults and deaths nothing is lost, doubled or stuck (seed %d)", async (seed) => {
  const { alerts, conflicts, decisions, faults, kills, violations } = await playChaos(seed, SHORT);
  expect(violations).toEqual([]);
  expect({ decisions, alerts }).toEqual({ decisions: 12, alerts: 48 });
  expect(faults).toBeGreaterThan(10);
  expect(conflicts).toBeGreaterThan(0);
  expect(kills).toBeGreaterThan(1);
});
