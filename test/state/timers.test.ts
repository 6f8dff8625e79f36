/** Timers in the store: who may set one, when it fires, and what pausing, cancelling and another server mean for it. */
import { describe, expect, it } from "vitest";
import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import type { StepEntry } from "../../src/contracts/protocol/runner.ts";
import type { Launch } from "../../src/state/runs/claim.ts";
import type { Store } from "../../src/state/store.ts";
import { becomeReady, claimNext, openTemp, running, takeEpoch, type TestClock } from "./fixture.ts";

const HOUR = 3_600_000;
const NAPPING: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "napping",
  startAt: "a",
  maxSteps: 20,
  nodes: { a: { type: "compute", timeoutMs: null }, nap: { type: "sleep", timeoutMs: null } },
  edges: [
    { from: "a", to: "nap" },
    { from: "nap", to: "a" },
  ],
};
const human = { type: "human", id: "uid:1" } as const;
const step = (number: number): StepEntry => ({
  step: number,
  nodeId: "a",
  outcome: "ok",
  output: 1,
  durationMs: 1,
  next: "nap",
});

interface Asleep {
  readonly store: Store;
  readonly clock: TestClock;
  readonly epoch: number;
  readonly claim: Launch["claim"];
  readonly timerId: string;
  readonly path: string;
}

async function asleep(ms = HOUR): Promise<Asleep> {
  const { clock, path, store } = openTemp();
  const epoch = await takeEpoch(store);
  const { claim } = await running(store, epoch, NAPPING);
  await store.runs.advance({ claim, first: 0, entries: [step(0)] });
  const wake = { kind: "for", ms } as const;
  const { timerId, wakeAt } = await store.timers.set({ claim, step: 1, nodeId: "nap", wake, reason: "Look again" });
  expect(wakeAt).toBe(clock.now() + ms);
  return { store, clock, epoch, claim, timerId, path };
}

const control = (run: string): Parameters<Store["runs"]["pause"]>[0] => ({
  run,
  expectedRevision: null,
  receipt: null,
  actor: human,
});

describe("a timer", () => {
  it("can be set by its own node only, at its own step; then the run waits without a claim and says until when", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), NAPPING);
    const set = { claim, step: 0, nodeId: "a", wake: { kind: "for", ms: 5 }, reason: null } as const;
    await expect(store.timers.set(set)).rejects.toMatchObject({ kind: "protocolRejected" });
    await store.runs.advance({ claim, first: 0, entries: [step(0)] });
    await expect(store.timers.set({ ...set, nodeId: "nap" })).rejects.toMatchObject({ kind: "protocolRejected" });
    const year = { kind: "until", at: Date.UTC(2099, 0, 1) } as const;
    await expect(store.timers.set({ ...set, nodeId: "nap", step: 1, wake: year })).rejects.toMatchObject({
      kind: "sleepInvalid",
    });
    const { wakeAt } = await store.timers.set({ ...set, nodeId: "nap", step: 1 });
    expect(store.read.runs.get(claim.runId)).toMatchObject({ status: "waiting", parkReason: "timer", wakeAt });
    expect(store.read.runs.counts()).toEqual({ waiting: 1 });
    await expect(store.timers.set({ ...set, nodeId: "nap", step: 1 })).rejects.toMatchObject({ kind: "claimLost" });
  });

  it("fires when the clock says so, not before, and once, whoever calls how often", async () => {
    const { claim, clock, epoch, store, timerId } = await asleep();
    expect(store.read.timers.nextDue()).toBe(clock.now() + HOUR);
    clock.advance(HOUR - 1);
    expect(store.read.timers.due(clock.now())).toEqual([]);
    expect(await store.timers.fire({ timerId })).toEqual({ kind: "early" });
    clock.advance(61_001);
    const fired = await Promise.all([store.timers.fire({ timerId }), store.timers.fire({ timerId })]);
    expect(fired.map(({ kind }) => kind)).toEqual(["fired", "over"]);
    expect(store.read.timers.nextDue()).toBeNull();
    expect(store.read.runs.get(claim.runId)).toMatchObject({
      status: "running",
      queueStatus: "queued",
      continuations: 1,
      wakeAt: null,
    });
    const launch = await claimNext(store, epoch);
    expect(launch.command).toBe("continue");
    const { results } = await becomeReady(store, launch, NAPPING);
    expect(results.find(({ nodeId }) => nodeId === "nap")?.output).toEqual({
      dueAt: clock.now() - 61_000,
      wokeAt: clock.now(),
    });
  });

  it("goes on while the run is paused: the run is due when it is resumed, and not before", async () => {
    const { claim, clock, store, timerId } = await asleep();
    await expect(store.runs.resume(control(claim.runId))).rejects.toMatchObject({
      kind: "runState",
      details: { obstacle: "sleeps", wakeAt: clock.now() + HOUR },
    });
    await store.runs.pause(control(claim.runId));
    await store.runs.resume(control(claim.runId));
    expect(store.read.runs.get(claim.runId)).toMatchObject({ queueStatus: "parked", parkReason: "timer" });
    await store.runs.pause(control(claim.runId));
    clock.advance(HOUR);
    await store.timers.fire({ timerId });
    expect(store.read.runs.get(claim.runId)).toMatchObject({
      paused: true,
      queueStatus: "parked",
      parkReason: "paused",
    });
    await store.runs.resume(control(claim.runId));
    expect(store.read.runs.get(claim.runId)).toMatchObject({ paused: false, queueStatus: "queued" });
  });

  it("ends with its run, and wakes nothing any more", async () => {
    const { claim, clock, store, timerId } = await asleep();
    await store.runs.cancel({ ...control(claim.runId), reason: null });
    expect(store.read.timers.nextDue()).toBeNull();
    clock.advance(HOUR);
    expect(await store.timers.fire({ timerId })).toEqual({ kind: "over" });
    expect(store.read.runs.get(claim.runId)).toMatchObject({ status: "cancelled", wakeAt: null });
    expect((await store.verify()).problems).toEqual([]);
  });

  it("is still set after another server took the file over", async () => {
    const { claim, clock, path, store, timerId } = await asleep();
    await store.idle();
    const next = openTemp({ path, clock }).store;
    const epoch = await takeEpoch(next);
    await next.server.recover({ epoch });
    expect(next.read.runs.get(claim.runId)).toMatchObject({ status: "waiting", parkReason: "timer" });
    clock.advance(36 * HOUR);
    expect(next.read.timers.due(clock.now())).toEqual([{ timerId }]);
    expect(await next.timers.fire({ timerId })).toEqual({ kind: "fired" });
    expect((await claimNext(next, epoch)).command).toBe("continue");
  });
});

describe("a runner", () => {
  it("cannot say that a time has come", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), NAPPING);
    await store.runs.advance({ claim, first: 0, entries: [step(0)] });
    const entry: StepEntry = { step: 1, nodeId: "nap", outcome: "ok", output: {}, durationMs: 1, next: "a" };
    await expect(store.runs.advance({ claim, first: 1, entries: [entry] })).rejects.toMatchObject({
      kind: "protocolRejected",
    });
  });
});
