/** The classes of failure (CONTRACTS 2.9): each cause has its own name, and none is taken for another. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { fromRunnerSchema } from "../../../src/contracts/protocol/runner.ts";
import type { RunView } from "../../../src/contracts/protocol/operations.ts";
import { Statements } from "../../../src/state/statements.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

const IMPORT = `import * as h from "holdpoint";\n`;
const CHAIN = `${IMPORT}globalThis.hold ??= {};
export default h.defineWorkflow({ name: "chain", startAt: "a", nodes: {
  a: h.compute({ run: () => 1 }),
  b: h.compute({ run: async () => { await globalThis.hold.b?.(); return 2; } }),
  c: h.compute({ run: () => 3 }),
}, edges: [{ from: "a", to: "b" }, { from: "b", to: "c" }] });`;

/** Counts the rows that the store reads from now on. */
function rowsRead(): () => number {
  const all = vi.spyOn(Statements.prototype, "all");
  const get = vi.spyOn(Statements.prototype, "get");
  onTestFinished(() => void vi.restoreAllMocks());
  return () =>
    get.mock.calls.length + all.mock.results.reduce((sum, { value }) => sum + (value as unknown[]).length, 0);
}

const hold = globalThis as unknown as { hold: Record<string, (() => Promise<void>) | undefined> };

interface Event {
  readonly type: string;
  readonly detail: {
    readonly reason?: string;
    readonly cause?: string;
    readonly error?: { readonly kind: string; readonly details?: { cause?: { kind: string } } };
  };
}

function eventsOf(view: RunView, type: string): Event["detail"][] {
  return (view.timeline as unknown as Event[]).filter((event) => event.type === type).map(({ detail }) => detail);
}

async function chain(): Promise<string> {
  world.put("chain.workflow.ts", CHAIN);
  return world.start("chain");
}

describe("a runner that", () => {
  it("dies after it advanced crashed: the run is queued again and goes on", async () => {
    world.onRunner = (runner) => {
      if (world.runners.length === 1) runner.filter = (frame) => frame.type !== "finish" || (runner.kill(), false);
    };
    const done = await world.until(await chain(), (view) => view.run.status === "completed");
    expect(eventsOf(done, "run.requeued")).toMatchObject([{ cause: "crashed", error: { kind: "runnerCrashed" } }]);
    expect(eventsOf(done, "run.parked")).toEqual([]);
  });

  it("is killed while it is written to goes on by itself, and what the pipe says of that is not taken for the cause", async () => {
    world.onRunner = (runner) => {
      if (world.runners.length > 1) return;
      runner.filter = (frame) => frame.type !== "ready" || (runner.kill(new Error("write EPIPE")), false);
    };
    const done = await world.until(await chain(), (view) => view.run.status === "completed");
    expect(eventsOf(done, "run.requeued")).toMatchObject([{ cause: "crashed", error: { kind: "runnerCrashed" } }]);
    expect(eventsOf(done, "run.parked")).toEqual([]);
  });

  it("leaves right after it was ready made no progress: it is launched once, and parked", async () => {
    world.onRunner = (runner) => {
      runner.filter = (frame) => frame.type === "ready" || (runner.leave(), false);
    };
    const parked = await world.until(await chain(), (view) => view.nextStep !== null, "parking");
    expect(eventsOf(parked, "run.parked")).toMatchObject([
      {
        reason: "runnerNoProgress",
        error: { kind: "runnerNoProgress", details: { cause: { kind: "runnerCrashed" } } },
      },
    ]);
    expect(world.runners).toHaveLength(1);
    expect(parked.run.status).toBe("parked");
    expect((await world.call("server.status", {})).result.runs).toEqual({ parked: 1 });
    expect(parked.error).toBeNull();
  });

  it("says what does not fit is ended for it, and the record says so instead of its exit code", async () => {
    world.onRunner = (runner) => {
      if (world.runners.length > 1) return;
      runner.filter = (frame) => {
        if (frame.type !== "finish") return true;
        runner.inject({ type: "nonsense" });
        return false;
      };
    };
    const done = await world.until(await chain(), (view) => view.run.status === "completed");
    expect(eventsOf(done, "run.requeued")).toMatchObject([
      { cause: "crashed", error: { message: expect.stringContaining("Frame is invalid") as string } },
    ]);
  });

  it("repeats a step that is refused is ended as a breach of the protocol", async () => {
    world.onRunner = (runner) => {
      if (world.runners.length > 1) return;
      runner.filter = (frame) => {
        if (frame.type === "advance") for (const entry of frame.entries) (entry as { next: string }).next = "c";
        return true;
      };
    };
    const parked = await world.until(await chain(), (view) => view.nextStep !== null, "parking");
    expect(eventsOf(parked, "run.parked")).toMatchObject([
      { reason: "runnerNoProgress", error: { details: { cause: { kind: "protocolRejected" } } } },
    ]);
    expect(parked.run.steps).toBe(0);
  });

  it("answers for a person is ended, and the question stays to be asked", async () => {
    world.put(
      "stop.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "stop", startAt: "a", nodes: { a: h.compute({ run: () => 1 }), look: h.checkpoint(), end: h.compute({ run: () => 1 }) },
        edges: [{ from: "a", to: "look" }, { from: "look", to: "end" }] });`,
    );
    world.onRunner = (runner) => {
      if (world.runners.length > 1) return;
      runner.filter = (frame) => {
        if (frame.type !== "checkpoint") return true;
        const entry = { step: 1, nodeId: "look", outcome: "ok", output: "yes", durationMs: 1, next: "end" };
        runner.inject(fromRunnerSchema.parse({ type: "advance", first: 1, entries: [entry] }));
        return false;
      };
    };
    const waiting = await world.until(await world.start("stop"), (view) => view.run.status === "waiting");
    expect(eventsOf(waiting, "run.requeued")).toMatchObject([{ error: { kind: "protocolRejected" } }]);
    expect(waiting.checkpoints).toMatchObject([{ status: "pending" }]);
  });

  it("has lost its claim writes nothing more, fails nothing, and is told once", async () => {
    let open: () => void = () => undefined;
    hold.hold = { b: () => new Promise<void>((resolve) => (open = resolve)) };
    const run = await chain();
    await world.until(run, (view) => view.run.currentNode === "b");
    // Another server takes the database: everything that this one gave out is fenced.
    const { epoch } = await world.store.server.claimEpoch({ serverId: "other", pid: 1, startIdentity: "x" });
    await world.store.server.recover({ epoch });
    hold.hold = {};
    open();
    await world.until(run, () => world.runners[0]?.sent.some(({ type }) => type === "claimLost") === true, "claimLost");
    expect(world.runners[0]?.sent.filter(({ type }) => type === "claimLost")).toHaveLength(1);
    const view = await world.view(run);
    expect(view.run).toMatchObject({ status: "queued", steps: 1 });
    expect(view.timeline.map(({ type }) => type)).not.toContain("run.finished");
    expect(view.error).toBeNull();
  });
});

describe("a run whose", () => {
  it("node throws failed by its own fault", async () => {
    world.put(
      "bad.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "bad", startAt: "a", nodes: { a: h.compute({ run: () => { throw new Error("no"); } }) } });`,
    );
    const failed = await world.until(await world.start("bad"), (view) => view.run.status === "failed");
    expect(failed.error?.kind).toBe("nodeFailed");
  });

  it("action ended in the dark waits for a person under that name", async () => {
    world.put(
      "risky.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "risky", startAt: "act", nodes: { act: h.action({ effect: h.manualEffect("act"), run: () => new Promise(() => {}) }) } });`,
    );
    const run = await world.start("risky");
    await world.until(run, (view) => view.effects.some(({ status }) => status === "applying"));
    world.runners[0]?.kill();
    const doubt = await world.until(run, (view) => view.run.status === "ambiguous");
    expect(eventsOf(doubt, "run.parked")).toMatchObject([
      { reason: "effectAmbiguous", error: { kind: "effectUncertain" } },
    ]);
  });

  it("many steps resume and list fast: only what is needed is read", async () => {
    world.put(
      "long.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "long", startAt: "n", maxSteps: 20_000, nodes: {
        n: h.compute({ run: ({ outputs }) => { const i = (outputs.n?.i ?? 0) + 1; return { i, more: i < 10_000 }; } }),
        hold: h.checkpoint(), end: h.compute({ run: ({ state }) => state.steps.length }),
      }, edges: [{ from: "n", switch: { on: "$.more", cases: { true: "n", false: "hold" } } }, { from: "hold", to: "end" }] });`,
    );
    const run = await world.start("long");
    await world.until(run, (view) => view.run.status === "waiting", "10,000 steps");
    const read = rowsRead();
    await world.call("run.list", { limit: 20, before: null });
    await world.call("run.get", { run });
    // The newest events, steps and effects, whatever the length of the history.
    expect(read()).toBeLessThan(500);
    await world.call("checkpoint.answer", { request: run, answer: null });
    const done = await world.until(run, (view) => view.run.status === "completed");
    expect(done.finalOutput).toBe(10_001);
    // Each step's receipt goes to the new runner, which restores the run from them; nothing is read a second time.
    expect(read()).toBeLessThan(15_000);
    const frames = world.runners[1]?.sent.filter(({ type }) => type.startsWith("state.")) ?? [];
    expect(frames.length).toBeLessThan(12);
  });

  it("of many effects the newest are shown, in their order, and those that need somebody", async () => {
    world.put(
      "acts.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "acts", startAt: "n", maxSteps: 1_000, nodes: {
        n: h.action({ effect: h.idempotentEffect("act"), request: ({ state }) => ({ n: state.steps.length }),
          run: ({ state }) => ({ more: state.steps.length < 299 }) }),
        last: h.action({ effect: h.manualEffect("letter"), run: () => { throw h.outcomeUnknown("no answer"); } }),
      }, edges: [{ from: "n", switch: { on: "$.more", cases: { true: "n", false: "last" } } }] });`,
    );
    const run = await world.start("acts");
    const { effects } = world.store.read;
    await world.when(
      () => (effects.ambiguousCount() === 1 ? true : undefined),
      () => "the doubt did not come",
    );
    const view = await world.view(run);
    expect(view.effects).toHaveLength(256);
    expect(view.effects.at(-1)).toMatchObject({ type: "letter", status: "ambiguous" });
    const made = view.effects.map(({ createdAt }) => createdAt);
    expect(made).toEqual(made.toSorted((a, b) => a - b));
  });
});
