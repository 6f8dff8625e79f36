/** The slots of the run lane: every free one looks for a run while runs are due, however their claims and their starts fall together. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Launch } from "../../../src/state/store.ts";
import { RunScheduler, type SchedulerDeps } from "../../../src/server/runs/run-scheduler.ts";

const SLOTS = 8;
const folder = mkdtempSync(join(tmpdir(), "holdpoint-slots-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A lane over a queue whose claims the test ends by hand. */
function laneOver(queue: { due: number }) {
  const claims: ((launch: Launch | null) => void)[] = [];
  const store = {
    read: { runs: { dueAt: (_now: number, limit: number) => ({ count: Math.min(queue.due, limit), next: null }) } },
    runs: { claim: () => new Promise<Launch | null>((resolve) => claims.push(resolve)) },
  };
  const clock = { now: () => 0, timer: () => ({ cancel: () => undefined }) };
  const deps = { store, clock, ports: { clock }, maxRuns: SLOTS, serverEpoch: 1, sourcesDir: folder };
  return { lane: new RunScheduler(deps as unknown as SchedulerDeps), claims };
}

it("a lane that was woken for one run again and again fills all its slots for those that come after", async () => {
  const queue = { due: 1 };
  const { claims, lane } = laneOver(queue);
  for (let wake = 0; wake < SLOTS; wake += 1) {
    lane.wake();
    await new Promise(setImmediate);
  }
  const early = claims.splice(0);
  // While these are on their way another takes the run, and eight become due.
  queue.due = SLOTS;
  lane.wake();
  await new Promise(setImmediate);
  for (const end of early) {
    end(null);
    await new Promise(setImmediate);
  }
  expect(claims).toHaveLength(SLOTS);
});

it("a lane with nothing due claims nothing, however often it is woken", async () => {
  const { claims, lane } = laneOver({ due: 0 });
  for (let wake = 0; wake < SLOTS; wake += 1) lane.wake();
  await new Promise(setImmediate);
  expect(claims).toEqual([]);
});
