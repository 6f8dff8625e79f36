import { expect, test } from "vitest";
import { SERVER } from "../../src/contracts/limits.ts";
import { watchIdle } from "../../src/server/idle-exit.ts";
import { ControlledClock } from "../../src/server/system/controlled-clock.ts";

test("a server on demand leaves after ten idle minutes, counted anew after each bit of work", async () => {
  const clock = new ControlledClock(0);
  let busy = false;
  let left: number | undefined;
  watchIdle(
    clock,
    () => busy,
    () => {
      left = clock.now();
    },
  );
  await clock.advance(SERVER.idleExitMs - SERVER.idleLookMs);
  expect(left).toBeUndefined();
  busy = true;
  await clock.advance(SERVER.idleLookMs);
  busy = false;
  await clock.advance(SERVER.idleExitMs - 1);
  expect(left).toBeUndefined();
  await clock.advance(SERVER.idleLookMs);
  expect(left).toBe(2 * SERVER.idleExitMs);
});
