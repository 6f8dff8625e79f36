/** Which time of a step counts against its limit. */
import { expect, test } from "vitest";
import { ActiveTime } from "../../../src/runner/agent/active-time.ts";
import { HandClock } from "./hand-clock.ts";

async function isOver(active: ActiveTime): Promise<boolean> {
  let over = false;
  void active.over.then(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  return over;
}

test("turns add up; what lies before, between and after them does not count", async () => {
  const clock = new HandClock();
  const active = new ActiveTime(1_000, clock);
  clock.advance(5_000);
  active.begin();
  clock.advance(600);
  active.end();
  active.end();
  clock.advance(60_000);
  active.begin();
  clock.advance(399);
  expect(await isOver(active)).toBe(false);
  clock.advance(1);
  expect(await isOver(active)).toBe(true);
});

test("a turn that ends in time disarms the limit", async () => {
  const clock = new HandClock();
  const active = new ActiveTime(1_000, clock);
  active.begin();
  clock.advance(999);
  active.end();
  clock.advance(1_000_000);
  expect(await isOver(active)).toBe(false);
  expect(clock.armed).toBe(0);
});

test("without a limit nothing is armed", async () => {
  const clock = new HandClock();
  const active = new ActiveTime(null, clock);
  active.begin();
  expect(clock.armed).toBe(0);
  clock.advance(1e12);
  expect(await isOver(active)).toBe(false);
});
