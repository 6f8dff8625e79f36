import { describe, expect, test } from "vitest";
import { HoldpointError } from "../../../src/contracts/errors.ts";
import { ManagedRuns } from "../../../src/server/runs/managed-runs.ts";
import { Sleepers } from "../../../src/server/runs/sleepers.ts";
import { ControlledClock } from "../../../src/server/system/controlled-clock.ts";

const none = (): void => undefined;

function logOf(errors: object[]): never {
  return { debug: none, info: none, warn: none, error: (fields: object) => void errors.push(fields) } as never;
}

describe("one that fails keeps no other from its turn", () => {
  test("when runs are woken; it is tried again after a while", async () => {
    const clock = new ControlledClock(1_000);
    // The work of a wake-up is done before time goes on.
    clock.settle = () => new Promise((resolve) => setImmediate(resolve));
    const pending = new Map([
      ["bad", 1_000],
      ["good", 1_000],
      ["later", 60_000],
    ]);
    let broken = true;
    const errors: object[] = [];
    const store = {
      read: {
        timers: {
          due: (now: number) => [...pending].filter(([, at]) => at <= now).map(([timerId]) => ({ timerId })),
          nextDue: () => (pending.size === 0 ? null : Math.min(...pending.values())),
        },
      },
      timers: {
        fire: async ({ timerId }: { timerId: string }) => {
          if (timerId === "bad" && broken) throw new HoldpointError("internal", "It cannot be read.");
          pending.delete(timerId);
          return Promise.resolve({ kind: "woken" });
        },
      },
    };
    let woken = 0;
    const wake = { runs: () => void (woken += 1), views: none };
    const sleepers = new Sleepers({ store: store as never, clock, log: logOf(errors), wake });
    sleepers.wake();
    await expect.poll(() => [...pending.keys()]).toEqual(["bad", "later"]);
    await expect.poll(() => woken).toBe(1);
    expect(errors).toMatchObject([{ timer: "bad" }]);
    await clock.advance(60_000);
    await expect.poll(() => [...pending.keys()]).toEqual(["bad"]);
    broken = false;
    await clock.advance(60_000);
    await expect.poll(() => pending.size).toBe(0);
    await sleepers.stop();
  });

  test("when runs of resources are completed", async () => {
    const errors: object[] = [];
    const completed: string[] = [];
    const store = {
      read: {
        managed: {
          due: () => ["bad", "good"].filter((id) => !completed.includes(id)).map((requestId) => ({ requestId })),
        },
      },
      managed: {
        complete: async ({ requestId }: { requestId: string }) => {
          if (requestId === "bad") throw new HoldpointError("internal", "It cannot be read.");
          completed.push(requestId);
          return Promise.resolve({ owner: "a", runId: "r", status: "completed" });
        },
      },
    };
    const runs = new ManagedRuns({
      store: store as never,
      log: logOf(errors),
      wake: { runs: none, views: none, channels: none },
      stopRunner: async () => Promise.resolve(),
    });
    runs.wake();
    await expect.poll(() => completed).toEqual(["good"]);
    // Once with the other one and once alone; then it waits for whoever wakes next.
    await expect.poll(() => errors).toMatchObject([{ request: "bad" }, { request: "bad" }]);
    runs.stop();
  });
});
