/** Sleeping runs through the whole server, by its clock: waking, restarts, an outage, pause and cancel. */
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ControlledClock } from "../../../src/server/system/controlled-clock.ts";
import { makeWorld, type World } from "./world.ts";

const MIN = 60_000;
let world: World;
let clock: ControlledClock;
beforeEach(async () => {
  clock = new ControlledClock(Date.UTC(2030, 0, 1, 8));
  world = await makeWorld({}, clock);
  clock.settle = async () => {
    for (let i = 0; i < 20; i += 1) await turn();
    await world.store.idle();
  };
  world.put(
    "nap.workflow.ts",
    `import * as h from "holdpoint";
export default h.defineWorkflow({ name: "nap", startAt: "look", nodes: {
  look: h.compute({ run: ({ state }) => ({ n: state.steps.filter(({ nodeId }) => nodeId === "nap").length }) }),
  more: h.compute({ run: ({ outputs }) => ({ more: outputs.look.n < 2 }) }),
  nap: h.sleep({ ms: ({ outputs }) => (outputs.look.n + 1) * ${MIN}, reason: "The next look" }),
  end: h.compute({ run: ({ outputs }) => outputs.nap }),
}, edges: [
  { from: "look", to: "more" },
  { from: "more", switch: { on: "$.more", cases: { true: "nap", false: "end" } } },
  { from: "nap", to: "look" },
] });`,
  );
});
afterEach(() => world.close());

const asleep = (run: string, visits: number): Promise<unknown> =>
  world.until(
    run,
    ({ run: { wakeAt }, continuations }) => wakeAt !== null && continuations === visits - 1,
    "the sleep",
  );

describe("a sleeping run", () => {
  it("holds no runner, says until when, and goes on as a continuation each time", async () => {
    const run = await world.start("nap");
    await asleep(run, 1);
    const view = await world.view(run);
    expect(view).toMatchObject({
      run: { status: "waiting", reason: "sleeps: The next look", wakeAt: clock.now() + MIN },
      nextStep: null,
    });
    await world.when(
      () => (world.core.scheduler.active.length === 0 ? true : undefined),
      () => "the runner stays",
    );
    await clock.advance(MIN);
    await asleep(run, 2);
    await clock.advance(2 * MIN - 1);
    expect((await world.view(run)).run.status).toBe("waiting");
    await clock.advance(1);
    const done = await world.until(run, ({ run: { status } }) => status === "completed");
    expect(done).toMatchObject({ continuations: 2, finalOutput: { dueAt: clock.now(), wokeAt: clock.now() } });
    expect(done.timeline.filter(({ type }) => type === "timer.fired")).toHaveLength(2);
  });

  it("goes on at its time after a restart, and at once when the machine slept over it", async () => {
    const run = await world.start("nap");
    await asleep(run, 1);
    await world.restart();
    await clock.advance(MIN - 1);
    expect((await world.view(run)).run.wakeAt).toBe(clock.now() + 1);
    await clock.advance(1);
    await asleep(run, 2);
    const dueAt = clock.now() + 2 * MIN;
    await clock.jump(36 * 60 * MIN);
    const done = await world.until(run, ({ run: { status } }) => status === "completed");
    expect((done.finalOutput as { dueAt: number }).dueAt).toBe(dueAt);
  });

  it("survives that the server is lost while it sleeps, and wakes once", async () => {
    const run = await world.start("nap");
    await asleep(run, 1);
    await world.crash();
    await clock.advance(MIN);
    await asleep(run, 2);
    await world.crash();
    await clock.advance(2 * MIN);
    const done = await world.until(run, ({ run: { status } }) => status === "completed");
    expect(done.continuations).toBe(2);
  });

  it("can be paused and cancelled; resuming does not wake it", async () => {
    const run = await world.start("nap");
    await asleep(run, 1);
    expect(await world.refusal(world.call("run.resume", { run }))).toBe("runState");
    await world.call("run.pause", { run });
    expect((await world.view(run)).run.status).toBe("paused");
    await clock.advance(2 * MIN);
    expect(await world.view(run)).toMatchObject({ run: { status: "paused" }, continuations: 1 });
    await world.call("run.resume", { run });
    await asleep(run, 2);
    await world.call("run.cancel", { run, reason: null });
    await clock.advance(5 * MIN);
    expect(await world.view(run)).toMatchObject({ run: { status: "cancelled", wakeAt: null }, continuations: 1 });
  });

  it("is refused when it would sleep longer than a run may, and the node fails", async () => {
    world.put(
      "long.workflow.ts",
      `import * as h from "holdpoint";
export default h.defineWorkflow({ name: "long", startAt: "nap", nodes: { nap: h.sleep({ until: ${Date.UTC(2099, 0, 1)} }) } });`,
    );
    const run = await world.start("long");
    const failed = await world.until(run, ({ run: { status } }) => status === "failed");
    expect(failed.error).toMatchObject({ kind: "sleepInvalid" });
    expect(failed.error?.message).toContain("the limit is");
  });
});
