// A Pi that does not exist is known at once, and leaves nothing behind that keeps the process alive.

import { expect, test } from "vitest";

import { checkPi } from "../../../src/contracts/pi/check.ts";

test("a program that does not exist leaves no timer behind", async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const check = await checkPi({ command: "/nowhere/pi" });
  expect(check).toMatchObject({ ok: false, found: 'no program "/nowhere/pi"' });
  expect(timers()).toBeLessThanOrEqual(before);
});
