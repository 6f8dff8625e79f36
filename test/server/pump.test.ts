import { expect, test } from "vitest";
import { HoldpointError } from "../../src/contracts/errors.ts";
import type { Log } from "../../src/server/ports.ts";
import { Pump } from "../../src/server/pump.ts";
import { ControlledClock } from "../../src/server/system/controlled-clock.ts";
import { untilWritten } from "../../src/server/until-written.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a wake-up during the work runs it once more, and never two at a time", async () => {
  const clock = new ControlledClock(0);
  let running = 0;
  let most = 0;
  let times = 0;
  let release = (): void => {};
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    times += 1;
    await new Promise<void>((resolve) => (release = resolve));
    running -= 1;
  };
  const pump = new Pump({ work, clock, log: silent, what: "test" });
  pump.wake();
  pump.wake();
  pump.wake();
  release();
  await turn();
  release();
  await turn();
  expect({ times, most }).toEqual({ times: 2, most: 1 });
});

test("work that failed is repeated by itself, with growing waits", async () => {
  const clock = new ControlledClock(0);
  clock.settle = turn;
  const at: number[] = [];
  const pump = new Pump({
    work: () => {
      at.push(clock.now());
      return at.length < 4 ? Promise.reject(new Error("disk full")) : Promise.resolve();
    },
    clock,
    log: silent,
    what: "test",
  });
  pump.wake();
  await clock.advance(60_000);
  expect(at).toEqual([0, 1_000, 3_000, 7_000]);
});

test("a write waits for room on the disk, and any other error is told at once", async () => {
  const clock = new ControlledClock(0);
  clock.settle = turn;
  let tries = 0;
  const written = untilWritten({ clock, log: silent }, "test", () => {
    tries += 1;
    return tries < 3 ? Promise.reject(new HoldpointError("diskFull", "full")) : Promise.resolve("done");
  });
  await clock.advance(10_000);
  expect(await written).toBe("done");
  const refused = untilWritten({ clock, log: silent }, "test", () =>
    Promise.reject(new HoldpointError("claimLost", "gone")),
  );
  await expect(refused).rejects.toMatchObject({ kind: "claimLost" });
});
