/** Nodes that never give way: their runner cannot keep their time, so the server does. */
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunView } from "../../../src/contracts/protocol/operations.ts";
import { ControlledClock } from "../../../src/server/system/controlled-clock.ts";
import { makeWorld, type TestRunner, type World } from "./world.ts";

let world: World;
let clock: ControlledClock;
beforeEach(async () => {
  clock = new ControlledClock(Date.now());
  world = await makeWorld({}, clock);
  clock.settle = async () => {
    for (let i = 0; i < 20; i += 1) await turn();
    await world.store.idle();
  };
});
afterEach(() => world.close());

const IMPORT = `import * as h from "holdpoint";\n`;
const LATE = `late: h.compute({ run: ({ results }) => results.b.error.code }), on: h.compute({ run: () => "in time" })`;
const EDGES = `edges: [{ from: "a", to: "b" }, { from: "b", switch: { on: "$result.outcome", cases: { ok: "on", timed_out: "late" } } }]`;
/** b holds its runner for ever, with this as its node. */
const workflow = (name: string, b: string): string =>
  `${IMPORT}const never = () => new Promise(() => {});
export default h.defineWorkflow({ name: "${name}", startAt: "a", nodes: { a: h.compute({ run: () => 1 }), b: ${b}, ${LATE} }, ${EDGES} });`;

/** From now on nothing comes from the runner, as when its event loop stands still. */
const silence = (runner: TestRunner | undefined): void => {
  if (runner !== undefined) runner.filter = () => false;
};

/** The run when the newest runner, number `count`, is at b. */
const atB = (run: string, count: number): Promise<RunView> => {
  const going = (): boolean => world.runners[count - 1]?.sent.some(({ type }) => type === "go") === true;
  return world.until(run, (view) => going() && view.run.currentNode === "b", `runner ${count} at b`);
};

/** Holds b until the server has ended the runner. */
async function held(run: string, count: number, ms: number): Promise<void> {
  await atB(run, count);
  silence(world.runners[count - 1]);
  await clock.advance(ms + 10_000);
}

const outcomes = (view: RunView): unknown[] =>
  view.timeline
    .filter(({ type }) => type === "node.finished")
    .map(({ detail }) => {
      const { nodeId, outcome } = detail as { nodeId: string; outcome: string };
      return `${nodeId} ${outcome}`;
    });

it("a runner that was killed is watched no longer", async () => {
  world.put("gone.workflow.ts", workflow("gone", "h.compute({ timeoutMs: 60_000, run: never })"));
  const run = await world.start("gone");
  await atB(run, 1);
  world.runners[0]?.kill();
  // Enough for the next one to begin, too little for a look at this one.
  await clock.advance(5_000);
  await atB(run, 2);
  await world.call("run.cancel", { run, reason: null });
  await world.until(run, (view) => view.run.status === "cancelled");
  const looks = vi.spyOn(world.store.read.runs, "heldStep");
  await clock.advance(3_600_000);
  expect(looks).not.toHaveBeenCalled();
});

describe("a node that does not give way", () => {
  it("times out, and the run goes on at its recovery node in another runner", async () => {
    world.put("busy.workflow.ts", workflow("busy", "h.compute({ timeoutMs: 60_000, run: never })"));
    const run = await world.start("busy");
    await held(run, 1, 60_000);
    // It was not certain that the runner was not at a step after b already: the next one goes step by step.
    expect((await world.view(run)).run.status).not.toBe("timed_out");
    await held(run, 2, 60_000);
    const done = await world.until(run, (view) => view.run.status === "completed");
    expect(outcomes(done)).toEqual(["a ok", "b timed_out", "late ok"]);
    expect(done.finalOutput).toBe("HP403");
    expect(world.runners).toHaveLength(3);
    expect(world.runners.map(({ sent }) => sent.find(({ type }) => type === "launch"))).toMatchObject([
      expect.not.objectContaining({ stepwise: true }),
      { stepwise: true },
      { stepwise: true },
    ]);
  });

  it("ends a run without a way for it as timed out, not as failed or crashed", async () => {
    world.put(
      "end.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "end", startAt: "b", nodes: { b: h.compute({ timeoutMs: 60_000, run: () => new Promise(() => {}) }) } });`,
    );
    const run = await world.start("end");
    await held(run, 1, 60_000);
    await held(run, 2, 60_000);
    const ended = await world.until(run, (view) => view.run.status === "timed_out");
    expect(ended.error).toMatchObject({ kind: "nodeTimedOut", message: expect.stringContaining("60000 ms") as string });
    expect((await world.call("server.status", {})).result.crashes).toEqual([]);
  });

  it("with an effect that may be repeated times out at once: its reservation says where the runner is", async () => {
    const b = `h.action({ timeoutMs: 60_000, effect: h.idempotentEffect("pay"), run: never })`;
    world.put("pay.workflow.ts", workflow("pay", b));
    const run = await world.start("pay");
    await world.until(run, (view) => view.effects.some(({ status }) => status === "applying"));
    await held(run, 1, 60_000);
    const done = await world.until(run, (view) => view.run.status === "completed");
    expect(outcomes(done)).toEqual(["a ok", "b timed_out", "late ok"]);
    expect(done.effects).toMatchObject([{ status: "rejected" }]);
    expect(world.runners).toHaveLength(2);
  });

  it("with an effect nobody can look up waits for a person, and goes on with what that person says", async () => {
    const b = `h.action({ timeoutMs: 60_000, effect: h.manualEffect("letter"), run: never })`;
    world.put("letter.workflow.ts", workflow("letter", b));
    const run = await world.start("letter");
    const { effects } = await world.until(run, (view) => view.effects.some(({ status }) => status === "applying"));
    await held(run, 1, 60_000);
    const doubt = await world.until(run, (view) => view.run.status === "ambiguous");
    expect(doubt.effects).toMatchObject([{ status: "ambiguous" }]);
    expect(outcomes(doubt)).toEqual(["a ok"]);
    await world.call("effect.settle", { effect: effects[0]?.effectId ?? "", outcome: "applied", result: null });
    const done = await world.until(run, (view) => view.run.status === "completed");
    expect(done.finalOutput).toBe("in time");
  });
});

describe("a node that gives way", () => {
  it("is only asked for a sign of life, however late it is for the server", async () => {
    world.put("slow.workflow.ts", workflow("slow", "h.compute({ timeoutMs: 60_000, run: never })"));
    const run = await world.start("slow");
    await atB(run, 1);
    await clock.advance(10 * 60_000);
    const [runner] = world.runners;
    expect(runner?.sent.filter(({ type }) => type === "ping").length).toBeGreaterThan(1);
    expect((await world.view(run)).run).toMatchObject({ status: "running", currentNode: "b" });
    expect(world.runners).toHaveLength(1);
  });

  it("does not time out because the machine slept while it was asked", async () => {
    world.put("asleep.workflow.ts", workflow("asleep", "h.compute({ timeoutMs: 60_000, run: never })"));
    const run = await world.start("asleep");
    await atB(run, 1);
    const [runner] = world.runners as [TestRunner];
    silence(runner);
    await clock.advance(60_000);
    expect(runner.sent.filter(({ type }) => type === "ping")).toHaveLength(1);
    await clock.jump(3_600_000);
    expect(runner.sent.filter(({ type }) => type === "ping")).toHaveLength(2);
    runner.filter = () => true;
    runner.inject({ type: "alive" });
    await clock.advance(30_000);
    expect((await world.view(run)).run).toMatchObject({ status: "running", currentNode: "b" });
    expect(world.runners).toHaveLength(1);
  });

  it("and has no limit is never ended", async () => {
    world.put("ever.workflow.ts", workflow("ever", "h.compute({ timeoutMs: null, run: never })"));
    const run = await world.start("ever");
    await atB(run, 1);
    silence(world.runners[0]);
    await clock.advance(2 * 3_600_000);
    expect((await world.view(run)).run).toMatchObject({ status: "running", currentNode: "b" });
  });
});
