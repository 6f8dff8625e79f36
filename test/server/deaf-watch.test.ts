// The watch over deaf channels around what it cannot store and what it is told to forget.

import { expect, test } from "vitest";

import { HoldpointError } from "../../src/contracts/errors.ts";
import { DeafWatch, type DeafWatchDeps } from "../../src/server/channels/deaf-watch.ts";

const CHANNEL = "telegram:main";
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

test("a channel that is forgotten while its hearing is being stored is not looked at any more, also when that fails", async () => {
  const timers = new Set<object>();
  let now = 0;
  let asked = 0;
  let fail: (error: Error) => void = () => undefined;
  const store = {
    read: { channels: { deafness: () => null } },
    channels: {
      hearing: () => {
        asked += 1;
        return new Promise((_, reject) => (fail = reject));
      },
    },
  } as unknown as DeafWatchDeps["store"];
  const clock = {
    now: () => now,
    timer: () => {
      const timer = {};
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
  };
  const access = (): never => ({}) as never;
  const watch = new DeafWatch({ store, clock, log: quiet, wake: { channels: () => undefined }, access });
  const refused = new HoldpointError("tokenRefused", "no").toRecord();
  watch.polled(CHANNEL, refused);
  now += 120_000;
  watch.polled(CHANNEL, refused);
  expect(asked).toBe(1);
  watch.forget(CHANNEL);
  fail(new Error("the disk is full"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(timers.size).toBe(0);
});
