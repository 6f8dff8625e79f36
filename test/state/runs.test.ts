/** A run from start to end, as a runner drives it. */
import { describe, expect, it } from "vitest";
import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import type { StepEntry } from "../../src/contracts/protocol/runner.ts";
import { sha256Hex } from "../../src/state/hash.ts";
import { definitionDigest } from "../../src/workflow/rules/index.ts";
import {
  becomeReady,
  claimNext,
  LOOP,
  loopEntries,
  openTemp,
  running,
  SOURCE,
  startRun,
  takeEpoch,
} from "./fixture.ts";

const failure = { code: "HP404", kind: "nodeFailed", message: "it threw", remedy: "look" };
const entry = (step: number, nodeId: string, next: string | null, output: unknown = null): StepEntry => ({
  step,
  nodeId,
  outcome: "ok",
  output: output as never,
  durationMs: 2.5,
  next,
});

describe("the queue of runs", () => {
  it("tells how many are due, counted up to a limit, and when none is, the time of the next one", async () => {
    const { clock, store } = openTemp();
    const at = clock.now();
    expect(store.read.runs.dueAt(at, 2)).toEqual({ count: 0, next: null });
    for (let runs = 1; runs <= 3; runs += 1) {
      await startRun(store);
      expect(store.read.runs.dueAt(at, 2)).toEqual({ count: Math.min(runs, 2), next: null });
    }
    expect(store.read.runs.dueAt(at - 1, 2)).toEqual({ count: 0, next: at });
    await claimNext(store, await takeEpoch(store));
    expect(store.read.runs.dueAt(at, 9).count).toBe(2);
  });
});

describe("starting a run", () => {
  it("queues it with its first continuation, and launches it as a start", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const runId = await startRun(store, LOOP, { who: "ü" });
    expect(store.read.runs.get(runId)).toMatchObject({
      status: "queued",
      queueStatus: "queued",
      continuations: 0,
      input: { who: "ü" },
      steps: 0,
    });
    const launch = await claimNext(store, epoch);
    expect(launch).toMatchObject({
      command: "start",
      sources: null,
      definitionDigest: null,
      input: { who: "ü" },
      projectPath: "/w",
    });
    expect(launch.claim).toMatchObject({ runId, generation: 1, serverEpoch: epoch });
    expect(store.read.runs.get(runId).queueStatus).toBe("starting");
  });

  it("stores what was loaded as what is approved, and opens the first node", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    const launch = await claimNext(store, epoch);
    const state = await becomeReady(store, launch);
    expect(state).toEqual({
      position: { nodeId: "a", step: 0, visit: 1, interrupted: false },
      status: "running",
      visits: { a: 1 },
      results: [],
      steps: [],
      mounts: [],
    });
    expect(store.read.runs.get(launch.claim.runId)).toMatchObject({
      status: "running",
      queueStatus: "running",
      title: "A title",
      currentNode: "a",
      workflow: "loop",
    });
  });

  it("refuses digests that do not fit what they stand for", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    const { claim } = await claimNext(store, epoch);
    const ready = { claim, childId: "c", definition: LOOP, definitionDigest: definitionDigest(LOOP), title: null };
    const source = { path: "/w/a.ts", sha256: sha256Hex("other"), content: SOURCE };
    await expect(store.runs.ready({ ...ready, sources: [source] })).rejects.toMatchObject({ kind: "protocolRejected" });
    await expect(
      store.runs.ready({ ...ready, sources: [], definition: { ...LOOP, maxSteps: 7 } }),
    ).rejects.toMatchObject({ kind: "protocolRejected" });
    expect(store.read.runs.get(claim.runId)).toMatchObject({ status: "queued", definitionDigest: null });
  });

  it("fails the run when the workflow cannot be loaded", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const runId = await startRun(store);
    const { claim } = await claimNext(store, epoch);
    expect(await store.runs.loadFailed({ claim, error: failure })).toEqual({ status: "failed" });
    expect(store.read.runs.get(runId)).toMatchObject({
      status: "failed",
      queueStatus: "done",
      error: failure,
      finishedAt: expect.any(Number) as number,
    });
    await expect(store.runs.loadFailed({ claim, error: failure })).rejects.toMatchObject({ kind: "claimLost" });
  });
});

describe("advancing", () => {
  it("stores every step with its output, and counts through loops and frames", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    expect(await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 5) })).toEqual({ through: 4 });
    expect(await store.runs.advance({ claim, first: 5, entries: loopEntries(5, 64) })).toEqual({ through: 68 });
    const run = store.read.runs.get(claim.runId);
    expect(run).toMatchObject({ steps: 69, currentNode: "a" });
    const attempts = store.read.runs.attempts(run.runNo);
    expect(attempts.map(({ step }) => step)).toEqual([...Array.from({ length: 69 }, (_, i) => i), null]);
    expect(attempts.at(-1)).toMatchObject({ nodeId: "a", visit: 24, status: "running", attemptNo: 70 });
    expect(store.read.runs.nodes(run.runNo)).toEqual([
      { nodeId: "a", visits: 24, attempts: 24, outcome: "ok", output: { step: 66 }, error: null },
      { nodeId: "b", visits: 23, attempts: 23, outcome: "ok", output: { step: 67 }, error: null },
      { nodeId: "c", visits: 23, attempts: 23, outcome: "ok", output: { go: "again", step: 68 }, error: null },
    ]);
    expect((await store.verify()).problems).toEqual([]);
  });

  it("takes two frames in one batch in their order", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    const both = [
      store.runs.advance({ claim, first: 0, entries: loopEntries(0, 2) }),
      store.runs.advance({ claim, first: 2, entries: loopEntries(2, 2) }),
    ];
    expect(await Promise.all(both)).toEqual([{ through: 1 }, { through: 3 }]);
  });

  it("keeps large outputs outside the rows and gives them back whole", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    const output = { text: "ü".repeat(50_000) };
    await store.runs.advance({ claim, first: 0, entries: [entry(0, "a", "b", output)] });
    const { runNo } = store.read.runs.get(claim.runId);
    expect(JSON.parse(store.read.runs.outputText(runNo, "a") ?? "null")).toEqual(output);
    // People are shown its size; nothing large is read for a view.
    expect(store.read.runs.nodes(runNo)[0]?.output).toMatch(/^\(\d+ bytes, too large/);
  });

  it.each([
    ["a frame that leaves a gap", "gap", 3, loopEntries(3, 1)],
    ["a frame that came before", "gap", 1, loopEntries(1, 1)],
    ["a number that jumps inside the frame", "gap", 2, [...loopEntries(2, 1), ...loopEntries(4, 1)]],
    ["a node that is not open", "node", 2, [entry(2, "a", "b")]],
    ["a route that the definition does not have", "route", 2, [entry(2, "c", "b", { go: "again" })]],
    ["an end that is not declared as one", "route", 2, [entry(2, "c", null, { go: "nowhere" })]],
    ["a frame whose second step is wrong", "route", 2, [...loopEntries(2, 1), entry(3, "a", "c")]],
  ])("answers %s with a rewind and stores nothing of it", async (_name, reason, first, entries) => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 2) });
    const before = store.read.runs.get(claim.runId);
    const rewind = {
      from: 2,
      reason,
      position: { nodeId: "c", step: 2, visit: 1, interrupted: false },
      visits: { a: 1, b: 1, c: 1 },
    };
    expect(await store.runs.advance({ claim, first, entries })).toEqual({ rewind });
    const after = store.read.runs.get(claim.runId);
    expect({ ...after, updatedAt: 0 }).toEqual({ ...before, updatedAt: 0 });
    // After the rewind it goes on from there.
    expect(await store.runs.advance({ claim, first: 2, entries: loopEntries(2, 3) })).toEqual({ through: 4 });
  });

  it("tells where to go on when a frame was not stored", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 4) });
    const { runNo } = store.read.runs.get(claim.runId);
    expect(store.read.runs.position(runNo)).toEqual({
      from: 4,
      position: { nodeId: "b", step: 4, visit: 2, interrupted: false },
      visits: { a: 2, b: 2, c: 1 },
    });
    await store.runs.loadFailed({ claim, error: failure });
    expect(store.read.runs.position(runNo)).toBeNull();
  });
});

describe("the end of a run", () => {
  const SHORT: DefinitionSnapshot = { ...LOOP, name: "short", edges: LOOP.edges.slice(0, 2), maxSteps: 3 };

  it("is completed by the last step, with its output", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), SHORT);
    await store.runs.advance({ claim, first: 0, entries: [entry(0, "a", "b"), entry(1, "b", "c")] });
    expect(await store.runs.finish({ claim, entry: entry(2, "c", null, { answer: 42 }) })).toEqual({
      status: "completed",
    });
    const run = store.read.runs.get(claim.runId);
    expect(run).toMatchObject({
      status: "completed",
      steps: 3,
      finalOutput: { answer: 42 },
      queueStatus: "done",
      error: null,
    });
    expect(store.read.runs.runners(run.runNo)).toMatchObject([{ status: "exited", command: "start" }]);
    await expect(store.runs.finish({ claim, entry: entry(3, "c", null) })).rejects.toMatchObject({ kind: "claimLost" });
  });

  it.each(["failed", "timed_out"] as const)("is %s when a node without a way out ends so", async (outcome) => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), SHORT);
    await store.runs.finish({
      claim,
      entry: { step: 0, nodeId: "a", outcome, error: failure, durationMs: 1, next: null },
    });
    expect(store.read.runs.get(claim.runId)).toMatchObject({ status: outcome, error: failure, finalOutput: null });
  });

  it("is failed by a missing case and by maxSteps", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 2) });
    await store.runs.finish({ claim, entry: entry(2, "c", null, { go: "elsewhere" }) });
    expect(store.read.runs.get(claim.runId)).toMatchObject({ status: "failed", error: { kind: "routingFailed" } });

    const tight = await running(store, epoch, { ...LOOP, name: "tight", maxSteps: 2 });
    const two = [entry(0, "a", "b"), entry(1, "b", "c")];
    expect(await store.runs.advance({ claim: tight.claim, first: 0, entries: two })).toMatchObject({
      rewind: { from: 0, reason: "maxSteps" },
    });
    await store.runs.advance({ claim: tight.claim, first: 0, entries: two.slice(0, 1) });
    await store.runs.finish({ claim: tight.claim, entry: entry(1, "b", null) });
    expect(store.read.runs.get(tight.claim.runId)).toMatchObject({
      status: "failed",
      error: { kind: "maxSteps" },
      steps: 2,
    });
  });

  it("is not believed when another node follows, or the step is not the next one", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), SHORT);
    for (const wrong of [entry(0, "a", null), entry(1, "a", null), entry(0, "c", null)]) {
      await expect(store.runs.finish({ claim, entry: wrong })).rejects.toMatchObject({ kind: "protocolRejected" });
    }
    expect(store.read.runs.get(claim.runId)).toMatchObject({ status: "running", steps: 0 });
  });
});

describe("lists of runs", () => {
  it("come newest first, in pages, with short ids that grow only while ambiguous", async () => {
    let byte = 0;
    // The fifth byte of a run's random part differs from run to run, the first four are alike.
    const { store } = openTemp({
      random: (size) => Buffer.from(Array.from({ length: size }, (_, i) => (i === 4 ? byte++ : 1))),
    });
    const ids = [await startRun(store), await startRun(store), await startRun(store)];
    const page = store.read.runs.list({ limit: 2, before: null });
    expect(page.map(({ runId }) => runId)).toEqual([ids[2], ids[1]]);
    expect(store.read.runs.list({ limit: 2, before: page[1]?.runNo ?? 0 }).map(({ runId }) => runId)).toEqual([ids[0]]);
    expect(page.map(({ shortId }) => shortId)).toEqual(["11112", "11111"]);
    expect(store.read.runs.get("11111").runId).toBe(ids[1]);
    expect(() => store.read.runs.get("1111")).toThrow(expect.objectContaining({ kind: "ambiguousId" }));
    expect(() => store.read.runs.get("zzzz")).toThrow(expect.objectContaining({ kind: "runNotFound" }));
    expect(() => store.read.runs.get("")).toThrow(expect.objectContaining({ kind: "runNotFound" }));
    expect(store.read.runs.counts()).toEqual({ queued: 3 });
    expect(store.read.runs.queueDue(Date.UTC(2030, 0))).toBe(3);
  });
});
