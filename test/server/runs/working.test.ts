/** Running work through the whole server: checkpoints, notifications, updates, settings, mounts and large values, with crashes. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CONTENT } from "../../../src/contracts/limits.ts";
import type { JsonValue } from "../../../src/contracts/protocol/shared.ts";
import { makeWorld, type TestRunner, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld({
    audiences: {
      ops: { destinations: ["telegram:main/-1001"], policy: { quorum: 1 }, assurance: "any" },
    } as never,
  });
});
afterEach(() => world.close());

const IMPORT = `import * as h from "holdpoint";\n`;

/** The newest runner has sent a frame of this type. */
async function sentBy(run: string, type: string): Promise<TestRunner> {
  await world.until(
    run,
    () => world.runners.some(({ received }) => received.some((frame) => frame.type === type)),
    type,
  );
  return world.runners.at(-1) as TestRunner;
}

describe("a checkpoint", () => {
  const workflow = `${IMPORT}export default h.defineWorkflow({ name: "stop", startAt: "plan", nodes: {
    plan: h.compute({ run: () => ({ files: 3 }) }),
    look: h.checkpoint({ summary: "Look at the plan", run: ({ outputs }) => outputs.plan }),
    go: h.compute({ run: ({ outputs }) => outputs.look }),
  }, edges: [{ from: "plan", to: "look" }, { from: "look", to: "go" }] });`;

  it("stops the run; its answer is the node's output, and the run goes on once, whoever answers how often", async () => {
    world.put("stop.workflow.ts", workflow);
    const run = await world.start("stop");
    const waiting = await world.until(run, (view) => view.run.status === "waiting");
    expect(waiting.checkpoints).toMatchObject([
      { nodeId: "look", summary: "Look at the plan", content: { files: 3 }, status: "pending" },
    ]);
    const { shortId } = waiting.checkpoints[0] as { shortId: string };
    expect(waiting.run.reason).toBe(`waits for the answer to checkpoint ${shortId}: Look at the plan`);
    expect(waiting.nextStep).toBe(`holdpoint answer ${shortId} <json|text>`);

    const answer = { request: shortId, answer: { ok: true } };
    const [first, second] = await Promise.all([
      world.call("checkpoint.answer", answer, { key: "k" }),
      world.call("checkpoint.answer", answer, { key: "k" }),
    ]);
    expect([first.outcome, second.outcome]).toEqual(["accepted", "adopted"]);
    expect(second.result).toEqual(first.result);
    expect(await world.refusal(world.call("checkpoint.answer", { ...answer, answer: 2 }, { key: "k" }))).toBe(
      "idempotencyConflict",
    );
    expect(await world.refusal(world.call("checkpoint.answer", { ...answer, answer: 2 }))).toBe("answerRefused");
    const done = await world.until(run, (view) => view.run.status === "completed");
    expect(done).toMatchObject({
      finalOutput: { ok: true },
      continuations: 1,
      checkpoints: [{ status: "settled", answer: { ok: true } }],
    });
    expect(done.timeline.filter(({ type }) => type === "run.continued")).toHaveLength(1);
  });

  it("is still waited for after a restart of the server, and nothing walks past it", async () => {
    world.put("stop.workflow.ts", workflow);
    const run = await world.start("stop");
    await world.until(run, (view) => view.run.status === "waiting");
    await world.restart();
    const view = await world.view(run);
    expect(view.run).toMatchObject({ status: "waiting", steps: 1 });
    expect(await world.refusal(world.call("run.resume", { run }))).toBe("runState");
    await world.call("checkpoint.answer", { request: run, answer: "yes" });
    expect((await world.until(run, (v) => v.run.status === "completed")).finalOutput).toBe("yes");
  });

  it("takes an answer while the run is paused, which goes on when it is resumed", async () => {
    world.put("stop.workflow.ts", workflow);
    const run = await world.start("stop");
    await world.until(run, (view) => view.run.status === "waiting");
    await world.call("run.pause", { run });
    await world.call("checkpoint.answer", { request: run, answer: 1 });
    expect((await world.view(run)).run.status).toBe("paused");
    await world.call("run.resume", { run });
    expect((await world.until(run, (v) => v.run.status === "completed")).finalOutput).toBe(1);
  });

  it("an answer for the run just after another one does not fall into the next question", async () => {
    world.put(
      "twice.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "twice", startAt: "one", nodes: {
        one: h.checkpoint(), two: h.checkpoint(), end: h.compute({ run: ({ outputs }) => [outputs.one, outputs.two] }),
      }, edges: [{ from: "one", to: "two" }, { from: "two", to: "end" }] });`,
    );
    const run = await world.start("twice");
    await world.until(run, (view) => view.run.status === "waiting");
    await world.call("checkpoint.answer", { request: run, answer: "first" });
    const next = await world.until(run, (view) => view.checkpoints.length === 2);
    expect(await world.refusal(world.call("checkpoint.answer", { request: run, answer: "first" }))).toBe(
      "answerRefused",
    );
    const { shortId } = next.checkpoints[1] as { shortId: string };
    await world.call("checkpoint.answer", { request: shortId, answer: "second" });
    expect((await world.until(run, (v) => v.run.status === "completed")).finalOutput).toEqual(["first", "second"]);
  });

  it("ends with its run, and takes no answer then", async () => {
    world.put("stop.workflow.ts", workflow);
    const run = await world.start("stop");
    const waiting = await world.until(run, (view) => view.run.status === "waiting");
    await world.call("run.cancel", { run, reason: "not needed" });
    expect((await world.view(run)).checkpoints).toMatchObject([{ status: "cancelled" }]);
    const { requestId } = waiting.checkpoints[0] as { requestId: string };
    expect(await world.refusal(world.call("checkpoint.answer", { request: requestId, answer: 1 }))).toBe(
      "answerRefused",
    );
  });
});

describe("a notification", () => {
  it("is stored and sent once, also when its node is executed again after a crash", async () => {
    world.put(
      "tell.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "tell", startAt: "tell", nodes: {
        tell: h.notify({ kind: "progress", audience: "ops", message: "Half of it is done." }),
        end: h.compute({ run: ({ outputs }) => outputs.tell }),
      }, edges: [{ from: "tell", to: "end" }] });`,
    );
    // The first runner dies after the message was stored and before its step is.
    world.onRunner = (runner) => {
      if (world.runners.length === 1) runner.filter = (frame) => frame.type !== "advance" || (runner.kill(), false);
    };
    const run = await world.start("tell");
    const done = await world.until(run, (view) => view.run.status === "completed");
    expect(done.finalOutput).toEqual({ kind: "progress", message: "Half of it is done.", index: 0 });
    expect(world.runners.flatMap(({ received }) => received.filter(({ type }) => type === "notify"))).toHaveLength(2);
    expect(done.effects.filter(({ purpose }) => purpose === "notification")).toMatchObject([
      { destination: "telegram:main/-1001", status: "pending" },
    ]);
  });

  it("to an unknown audience fails its node before anything is stored", async () => {
    world.put(
      "tell.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "tell", startAt: "tell", nodes: {
        tell: h.notify({ kind: "final", audience: "nobody", message: "x" }),
      } });`,
    );
    const failed = await world.until(await world.start("tell"), (view) => view.run.status === "failed");
    expect(failed.error?.kind).toBe("audienceUnknown");
    expect(failed.effects).toEqual([]);
  });
});

describe("updates", () => {
  it("are numbered without gaps, show progress with an estimate, and stop with their attempt", async () => {
    world.put(
      "busy.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "busy", startAt: "work", nodes: {
        work: h.action({ effect: h.idempotentEffect("work"), run: async (ctx) => {
          globalThis.late = ctx;
          for (let n = 1; n <= 5; n++) {
            await ctx.publishUpdate({ type: "progress", key: "copy", data: { schema: "holdpoint.progress.v1", label: "Copying", status: "running", completed: n * 10, total: 100, unit: "files", sourceUpdatedAt: Date.now() - 60_000 + n * 10_000 } });
          }
          await globalThis.looked?.();
          await ctx.publishUpdate({ type: "note", key: "a", data: { text: "x" } });
          return "done";
        } }),
      } });`,
    );
    let letGo: () => void = () => undefined;
    const looked = new Promise<void>((resolve) => (letGo = resolve));
    (globalThis as { looked?: () => Promise<void> }).looked = () => looked;
    const run = await world.start("busy");
    const busy = await world.until(run, (view) => view.updates.published === 5);
    expect(busy.progress).toMatchObject([
      {
        key: "copy",
        label: "Copying",
        completed: 50,
        total: 100,
        estimate: { kind: "estimate", by: "measured" },
      },
    ]);
    letGo();
    const done = await world.until(run, (view) => view.run.status === "completed");
    expect(done.updates).toEqual({ published: 6, current: 2 });
    // A step that is over has no end to wait for.
    expect(done.progress).toMatchObject([
      { completed: 50, estimate: { kind: "unavailable", reason: "its step is over" } },
    ]);
    const { result } = await world.call("run.updates", { run, after: -1, limit: 10 });
    expect(result.updates.map(({ key, seq, type }) => [seq, type, key])).toEqual([
      [4, "progress", "copy"],
      [5, "note", "a"],
    ]);
    expect(result).toMatchObject({ published: 6, more: false });
    // Updates change neither revision nor chain.
    expect(done.timeline.some(({ type }) => type.startsWith("update"))).toBe(false);
  });

  it("beyond the burst are refused and cost nothing but themselves", async () => {
    world.put(
      "flood.workflow.ts",
      `${IMPORT}export default h.defineWorkflow({ name: "flood", startAt: "work", nodes: {
        work: h.action({ effect: h.idempotentEffect("work"), run: async (ctx) => {
          const results = await Promise.allSettled(Array.from({ length: 200 }, (_, n) => ctx.publishUpdate({ type: "note", key: "k" + (n % 3), data: { n } })));
          const taken = results.filter((r) => r.status === "fulfilled").map((r) => r.value.seq);
          const refused = results.filter((r) => r.status === "rejected").map((r) => r.reason.kind);
          return { taken, kinds: [...new Set(refused)], refused: refused.length };
        } }),
      } });`,
    );
    const done = await world.until(await world.start("flood"), (view) => view.run.status === "completed");
    const { kinds, refused, taken } = done.finalOutput as { kinds: string[]; refused: number; taken: number[] };
    expect(taken).toEqual(taken.map((_, index) => index));
    expect(taken.length).toBeGreaterThanOrEqual(100);
    expect(refused).toBeGreaterThan(50);
    expect(kinds).toEqual(["updateRefused"]);
    expect(done.updates).toEqual({ published: taken.length, current: 3 });
  });
});

describe("settings", () => {
  const workflow = `${IMPORT}export default h.defineWorkflow({ name: "tuned", startAt: "count", maxSteps: 50,
    settings: h.workflowSettings({ initial: { max: 2, secret: 1 }, paths: [h.allowSettingsPath("/max", { read: ["human"], replace: ["human"] })], description: "How far to count" }),
    nodes: {
      count: h.compute({ run: ({ outputs }) => ({ n: (outputs.count?.n ?? 0) + 1 }) }),
      hold: h.checkpoint(),
      more: h.settingsRoute({ run: ({ outputs, settings }) => ({ again: outputs.count.n < settings.max ? "yes" : "no" }) }),
      end: h.compute({ run: ({ outputs }) => outputs.count.n }),
    },
    edges: [{ from: "count", to: "hold" }, { from: "hold", to: "more" }, { from: "more", switch: { on: "$.again", cases: { yes: "count", no: "end" } } }] });`;

  it("are shown as far as a person may read them, changed by patch once per request, and seen by later steps", async () => {
    world.put("tuned.workflow.ts", workflow);
    const run = await world.start("tuned");
    await world.until(run, (view) => view.run.status === "waiting");
    const { scopes } = (await world.call("run.settings", { run })).result;
    expect(scopes).toMatchObject([
      {
        scopeId: `${run}:$root:1`,
        changeNumber: 0,
        value: { max: 2 },
        changeable: ["/max"],
        description: "How far to count",
      },
    ]);
    const change = {
      run,
      mount: "",
      patch: [{ op: "replace", path: "/max", value: 1 }] as JsonValue,
      expectedChangeNumber: 0,
    };
    const first = await world.call("run.changeSettings", change, { key: "c" });
    const again = await world.call("run.changeSettings", change, { key: "c" });
    expect([first.outcome, again.outcome]).toEqual(["accepted", "adopted"]);
    expect(first.result.changeNumber).toBe(1);
    expect(await world.refusal(world.call("run.changeSettings", change))).toBe("settingsChanged");
    expect(await world.refusal(world.call("run.changeSettings", { ...change, patch: [] }, { key: "c" }))).toBe(
      "idempotencyConflict",
    );
    const denied = {
      ...change,
      expectedChangeNumber: null,
      patch: [{ op: "replace", path: "/secret", value: 2 }] as JsonValue,
    };
    expect(await world.refusal(world.call("run.changeSettings", denied))).toBe("settingsRefused");
    expect(await world.refusal(world.call("run.changeSettings", change, { expectedRevision: 1 }))).toBe(
      "revisionConflict",
    );

    await world.call("checkpoint.answer", { request: run, answer: null });
    expect((await world.until(run, (v) => v.run.status === "completed")).finalOutput).toBe(1);
    expect(await world.refusal(world.call("run.changeSettings", { ...change, expectedChangeNumber: 1 }))).toBe(
      "runState",
    );
    // What a known request did is known for ever.
    expect((await world.call("run.changeSettings", change, { key: "c" })).result.changeNumber).toBe(1);
  });

  it("that change while a route is on its way make it decide again", async () => {
    world.put("tuned.workflow.ts", workflow);
    let changed = false;
    world.onRunner = (runner) => {
      runner.filter = (frame) => {
        const route = frame.type === "advance" && frame.entries.some(({ nodeId }) => nodeId === "more");
        if (!route || changed) return true;
        changed = true;
        // The step was made with version 0; the change is stored before it.
        void world.call("run.changeSettings", {
          run,
          mount: "",
          patch: [{ op: "replace", path: "/max", value: 1 }],
          expectedChangeNumber: null,
        });
        return true;
      };
    };
    const run = await world.start("tuned");
    await world.until(run, (view) => view.run.status === "waiting");
    await world.call("checkpoint.answer", { request: run, answer: null });
    const done = await world.until(run, (view) => view.run.status === "completed", "the end after one count");
    expect(done.finalOutput).toBe(1);
    expect(done.timeline.filter(({ type }) => type === "settings.routeRetried")).toHaveLength(1);
    expect(
      done.timeline.filter(
        ({ type, detail }) => type === "node.finished" && (detail as { nodeId: string }).nodeId === "more",
      ),
    ).toHaveLength(1);
  });
});

describe("an included workflow", () => {
  it("is entered and left with events, and its input is made once, whatever crashes", async () => {
    world.put(
      "outer.workflow.ts",
      `${IMPORT}
      const inner = h.defineWorkflow({ name: "inner", startAt: "in", exits: { done: { from: "out" } }, nodes: {
        in: h.compute({ run: ({ input }) => input.n * 10 }),
        hold: h.checkpoint(),
        out: h.compute({ run: ({ input, outputs }) => ({ n: input.n, ten: outputs.in, said: outputs.hold }) }),
      }, edges: [{ from: "in", to: "hold" }, { from: "hold", to: "out" }] });
      globalThis.made ??= [];
      export default h.defineWorkflow({ name: "outer", startAt: "first", maxSteps: 20, nodes: {
        first: h.compute({ run: () => 1 }),
        end: h.compute({ run: (ctx) => h.includedResult(ctx, "sub") }),
      }, includes: {
        sub: h.includeWorkflow(inner, { input: ({ outputs }) => { globalThis.made.push(1); return { n: outputs.first + 1 }; } }),
      }, edges: [{ from: "first", to: "sub" }, { from: "sub.done", to: "end" }] });`,
    );
    const run = await world.start("outer");
    await world.until(run, (view) => view.run.status === "waiting");
    await world.restart();
    await world.call("checkpoint.answer", { request: run, answer: "go" });
    const done = await world.until(run, (view) => view.run.finishedAt !== null);
    expect(done.error).toBeNull();
    expect(JSON.stringify(done.finalOutput)).toContain('"said":"go"');
    const crossings = done.timeline
      .filter(({ type }) => type.startsWith("include."))
      .map(({ detail, type }) => [type, detail]);
    expect(crossings).toEqual([
      ["include.entered", { mount: "sub", workflow: "inner", invocation: 1 }],
      ["include.exited", { mount: "sub", workflow: "inner", invocation: 1, exit: "done" }],
    ]);
    expect((globalThis as unknown as { made: number[] }).made).toHaveLength(1);
  });
});

describe("values of 5 MB", () => {
  const workflow = `${IMPORT}const big = "x".repeat(5_000_000);
    export default h.defineWorkflow({ name: "big", startAt: "make", nodes: {
      make: h.compute({ run: () => ({ data: big, go: "on" }) }),
      act: h.action({ effect: h.idempotentEffect("act"), run: ({ outputs }) => ({ size: outputs.make.data.length, data: big + "y" }) }),
      hold: h.checkpoint({ run: ({ outputs }) => outputs.make }),
      end: h.compute({ run: ({ outputs }) => [outputs.make.data.length, outputs.act.data.length, outputs.act.size] }),
    }, edges: [{ from: "make", switch: { on: "$.go", cases: { on: "act" } } }, { from: "act", to: "hold" }, { from: "hold", to: "end" }] });`;

  it("travel in parts, are verified, and are there again after an answer; views stay small", async () => {
    world.put("big.workflow.ts", workflow);
    const run = await world.start("big");
    const waiting = await world.until(run, (view) => view.run.status === "waiting");
    const puts = world.runners[0]?.received.filter(({ type }) => type === "content.put") ?? [];
    // make, act's result and output as one, the checkpoint's content as make's.
    expect(puts.length).toBeGreaterThanOrEqual(2 * Math.ceil(5_000_000 / CONTENT.partBytes));
    expect(JSON.stringify(waiting).length).toBeLessThan(200_000);
    expect(waiting.checkpoints[0]?.content).toMatch(/^\(5\d{6} bytes, too large/);
    await world.call("checkpoint.answer", { request: run, answer: null });
    const done = await world.until(run, (view) => view.run.status === "completed");
    expect(done.finalOutput).toEqual([5_000_000, 5_000_001, 5_000_000]);
    const resumed = world.runners[1] as TestRunner;
    expect(resumed.sent.filter(({ type }) => type === "content.part").length).toBeGreaterThanOrEqual(20);
    const state = resumed.sent.filter(({ type }) => type === "state.results");
    expect(JSON.stringify(state).length).toBeLessThan(10_000);
    const { result } = await world.call("run.output", { run, node: "make", offset: 0 });
    expect(result.bytes).toBeGreaterThan(5_000_000);
  });

  it("in a part that is short or has another digest end the runner, and nothing is taken from them", async () => {
    world.put("big.workflow.ts", workflow);
    world.onRunner = (runner) => {
      runner.filter = (frame) => {
        if (frame.type === "content.put" && frame.offset === 0)
          (frame as { data: string }).data = Buffer.from("y".repeat(CONTENT.partBytes)).toString("base64");
        return true;
      };
    };
    const run = await world.start("big");
    const parked = await world.until(run, (view) => view.nextStep !== null, "parking");
    expect(parked.run.status).toBe("parked");
    expect(parked.outputs).toEqual({});
    expect(parked.run.reason).toMatch(/contentInvalid|do not have this digest|without advancing/);
  });

  it("that a runner reads and that are not what was named fail it before it executes anything", async () => {
    world.put("big.workflow.ts", workflow);
    const run = await world.start("big");
    await world.until(run, (view) => view.run.status === "waiting");
    world.store.read.content.part = () => Buffer.from("short");
    await world.call("checkpoint.answer", { request: run, answer: null });
    const parked = await world.until(run, (view) => view.nextStep !== null, "parking");
    expect(parked.run.steps).toBe(3);
    expect(await sentBy(run, "content.read")).toBeDefined();
  });
});
