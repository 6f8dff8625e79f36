/** Checkpoints, settings routes and large values in the store: what the server does not take a runner's word for. */
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/contracts/canonical.ts";
import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import type { StepEntry } from "../../src/contracts/protocol/runner.ts";
import { sha256Hex } from "../../src/state/hash.ts";
import { becomeReady, claimNext, openTemp, running, startRun, takeEpoch } from "./fixture.ts";

const HOLDING: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "holding",
  startAt: "a",
  maxSteps: 20,
  settings: { rules: [{ pointer: "", read: ["human"], add: [], remove: [], replace: ["human"] }] },
  nodes: {
    a: { type: "compute", timeoutMs: null },
    hold: { type: "checkpoint", timeoutMs: null },
    more: { type: "settingsRoute", timeoutMs: null },
    end: { type: "compute", timeoutMs: null },
  },
  edges: [
    { from: "a", to: "hold" },
    { from: "hold", to: "more" },
    { from: "more", switch: { on: "$.go", cases: { on: "end" } } },
  ],
};
const first: StepEntry = { step: 0, nodeId: "a", outcome: "ok", output: 1, durationMs: 1, next: "hold" };
const human = { type: "human", id: "uid:1" } as const;

describe("a checkpoint", () => {
  it("can be asked for by its own node only, at its own step", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), HOLDING);
    const ask = { claim, step: 0, nodeId: "a", content: null, summary: null };
    await expect(store.checkpoints.request(ask)).rejects.toMatchObject({ kind: "protocolRejected" });
    await store.runs.advance({ claim, first: 0, entries: [first] });
    await expect(store.checkpoints.request({ ...ask, nodeId: "hold" })).rejects.toMatchObject({
      kind: "protocolRejected",
    });
    const asked = await store.checkpoints.request({ ...ask, nodeId: "hold", step: 1 });
    expect(asked.shortId).toMatch(/^c-[0-9a-f]{6}$/);
    expect(store.read.runs.get(claim.runId)).toMatchObject({
      status: "waiting",
      parkReason: "checkpoint",
      pendingCheckpoint: asked.shortId,
    });
    await expect(store.checkpoints.request({ ...ask, nodeId: "hold", step: 1 })).rejects.toMatchObject({
      kind: "claimLost",
    });
  });

  it("is answered by id, short id or run; a run that waits for a decision or nothing says so", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), HOLDING);
    const answer = (request: string): Promise<unknown> =>
      store.checkpoints.answer({ request, answer: 1, expectedRevision: null, receipt: null, actor: human });
    await expect(answer(claim.runId)).rejects.toMatchObject({ kind: "requestNotFound" });
    await expect(answer("c-000000")).rejects.toMatchObject({ kind: "runNotFound" });
    await store.runs.advance({ claim, first: 0, entries: [first] });
    const { shortId } = await store.checkpoints.request({
      claim,
      step: 1,
      nodeId: "hold",
      content: null,
      summary: null,
    });
    await answer(shortId.slice(0, 6));
    expect(store.read.runs.get(claim.runId)).toMatchObject({
      status: "running",
      queueStatus: "queued",
      continuations: 1,
    });
    await expect(answer(shortId)).rejects.toMatchObject({ kind: "answerRefused" });
  });
});

describe("a settings route", () => {
  it("that was made with older settings is refused, alone or as the last step, and counts with the present ones", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim: begun } = await running(store, epoch, HOLDING);
    await store.runs.advance({ claim: begun, first: 0, entries: [first] });
    const { requestId } = await store.checkpoints.request({
      claim: begun,
      step: 1,
      nodeId: "hold",
      content: null,
      summary: null,
    });
    await store.checkpoints.answer({
      request: requestId,
      answer: 1,
      expectedRevision: null,
      receipt: null,
      actor: human,
    });
    const { claim } = await claimNext(store, epoch).then(
      async (launch) => (await becomeReady(store, launch, HOLDING), launch),
    );
    const version = await store.settings.ensure({ claim, mount: "", invocation: 1, initial: { n: 1 } });
    expect(await store.settings.ensure({ claim, mount: "", invocation: 1, initial: { n: 9 } })).toEqual(version);
    await expect(store.settings.ensure({ claim, mount: "sub", invocation: 1, initial: 1 })).rejects.toMatchObject({
      kind: "protocolRejected",
    });
    const changed = await store.settings.change({
      run: claim.runId,
      mount: "",
      patch: [{ op: "replace", path: "", value: { n: 2 } }],
      expectedChangeNumber: 0,
      expectedRevision: null,
      requestId: "r",
      receipt: null,
      actor: human,
      judged: null,
    });
    expect(changed.result.changeNumber).toBe(1);
    const route = (changeNumber: number): StepEntry => ({
      step: 2,
      nodeId: "more",
      outcome: "ok",
      output: { go: "on" },
      durationMs: 1,
      next: "end",
      settings: { scopeId: version.scopeId, changeNumber },
    });
    const advance = (changeNumber: number): Promise<unknown> =>
      store.runs.advance({ claim, first: 2, entries: [route(changeNumber)] });
    expect(await advance(0)).toMatchObject({ rewind: { from: 2, reason: "settings" } });
    expect(await advance(1)).toEqual({ through: 2 });
  });
});

describe("a value that travels by reference", () => {
  const value = { data: "x".repeat(300_000), go: "on" };
  const content = Buffer.from(canonicalJson(value));
  const ref = { sha256: sha256Hex(content), bytes: content.length };

  it("must be stored before a step names it, under its own digest and length, by whoever holds the claim", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch, HOLDING);
    const { output: _output, ...rest } = first;
    const named = (outputRef: object): Promise<unknown> =>
      store.runs.advance({ claim, first: 0, entries: [{ ...rest, outputRef } as StepEntry] });
    await expect(named(ref)).rejects.toMatchObject({ kind: "contentInvalid" });
    expect(await store.content.put({ claim, content })).toEqual(ref);
    await expect(named({ ...ref, bytes: 5 })).rejects.toMatchObject({ kind: "contentInvalid" });
    expect(await named(ref)).toEqual({ through: 0 });
    // What people see is small, what a runner resumes with is a reference, and the value is whole.
    expect(JSON.stringify(store.read.runs.nodes(claim.runNo)).length).toBeLessThan(500);
    await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome: "crashed", error: null });
    const state = await becomeReady(store, await claimNext(store, epoch), HOLDING);
    expect(state.results).toEqual([{ nodeId: "a", outcome: "ok", outputRef: ref }]);
    expect(store.read.runs.outputText(claim.runNo, "a")).toBe(content.toString());
    await expect(store.content.put({ claim, content })).rejects.toMatchObject({ kind: "claimLost" });
    await startRun(store);
  });

  it("is read in parts", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), HOLDING);
    const large = Buffer.from(canonicalJson("é".repeat(400_000)));
    const { sha256 } = await store.content.put({ claim, content: large });
    const parts = [0, 524_288].map((offset) => store.read.content.part(sha256, offset));
    expect(Buffer.concat(parts).equals(large)).toBe(true);
    expect(() => store.read.content.part("0".repeat(64), 0)).toThrow(
      expect.objectContaining({ kind: "contentInvalid" }) as Error,
    );
  });
});

describe("a runner that was not ready in time", () => {
  it("is recorded as that, and parks the run that it did not advance", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const runId = await startRun(store);
    const { claim } = await claimNext(store, epoch);
    const error = { code: "HP415", kind: "runnerTimedOut", message: "not ready", remedy: "look" };
    await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome: "timedOut", error });
    expect(store.read.runs.runners(claim.runNo)).toMatchObject([{ status: "timedOut" }]);
    expect(store.read.runs.get(runId)).toMatchObject({
      parkReason: "runnerNoProgress",
      queueError: { kind: "runnerNoProgress", details: { cause: { kind: "runnerTimedOut" } } },
    });
  });
});
