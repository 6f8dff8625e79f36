/** A run that waits for a person: what belongs to the run in it, whoever answers. */
import { describe, expect, it } from "vitest";
import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import { authored, DEPLOY, World } from "./decisions/fixture.ts";
import { becomeReady, claimNext, startRun } from "./fixture.ts";

const actor = { type: "control", id: "me" } as const;

/** The question is the last node. */
const LAST: DefinitionSnapshot = {
  ...DEPLOY,
  name: "last",
  nodes: { ask: { type: "humanDecision", timeoutMs: null, choices: ["approve", "replan", "stop"] } },
  edges: [],
};

describe("a run that waits", () => {
  it("holds no claim and no runner, and is not launched", async () => {
    const world = await World.open();
    const { launch, runId, runNo } = await world.ask();
    const { store } = world;
    expect(store.read.runs.get(runId)).toMatchObject({
      status: "waiting",
      queueStatus: "parked",
      parkReason: "decision",
    });
    expect(store.read.runs.runners(runNo)).toMatchObject([{ status: "exited" }]);
    expect(await store.runs.renew({ claims: [launch.claim] })).toEqual({ lost: [launch.claim.runnerEpoch] });
    expect(await store.runs.claim({ serverEpoch: world.epoch, runnerEpoch: "r" })).toBeNull();
    // The end of its process is no news.
    const ended = { runnerEpoch: launch.claim.runnerEpoch, outcome: "crashed", error: null } as const;
    expect(await store.runs.runnerEnded(ended)).toMatchObject({ queue: "parked", delayMs: null });
    await expect(store.runs.resume({ run: runId, expectedRevision: null, receipt: null, actor })).rejects.toMatchObject(
      {
        kind: "runState",
      },
    );
  });

  it("goes on in the next continuation, under another claim, before new starts", async () => {
    const world = await World.open();
    const { store } = world;
    const asked = await world.ask();
    await startRun(store);
    await world.answer(asked, "approve");
    expect(store.read.runs.get(asked.runId)).toMatchObject({ continuations: 1, steps: 1, queueStatus: "queued" });
    const launch = await claimNext(store, world.epoch);
    expect(launch).toMatchObject({ command: "continue", claim: { runId: asked.runId, generation: 2 } });
    const state = await becomeReady(store, launch, DEPLOY);
    expect(state.position).toEqual({ nodeId: "act", step: 1, visit: 1, interrupted: false });
    expect(state.results).toMatchObject([{ nodeId: "ask", outcome: "ok", output: { choice: "approve" } }]);
    expect(state.steps).toEqual([["ask", "ok"]]);
  });

  it("counts visits through its continuations when a choice leads back to the question", async () => {
    const world = await World.open();
    const asked = await world.ask();
    await world.answer(asked, "replan", { input: "use blue" });
    const launch = await claimNext(world.store, world.epoch);
    const state = await becomeReady(world.store, launch, DEPLOY);
    expect(state.position).toEqual({ nodeId: "ask", step: 1, visit: 2, interrupted: false });
    const again = await world.askAgain(launch, {}, 1);
    expect(again.decisionId).not.toBe(asked.decisionId);
    await world.answer(again, "approve");
    expect(world.store.read.runs.get(asked.runId)).toMatchObject({ continuations: 2, steps: 2 });
  });

  it("ends when the runner is ready and nothing follows the answer", async () => {
    const world = await World.open();
    const { store } = world;
    await startRun(store, LAST);
    const launch = await claimNext(store, world.epoch);
    await becomeReady(store, launch, LAST);
    const asked = await world.askAgain(launch, {}, 0);
    await world.answer(asked, "approve");
    const second = await claimNext(store, world.epoch);
    expect(await becomeReady(store, second, LAST)).toMatchObject({ position: null, status: "completed" });
    expect(store.read.runs.get(asked.runId)).toMatchObject({
      status: "completed",
      queueStatus: "done",
      finalOutput: { choice: "approve" },
    });
    expect((await store.verify()).problems).toEqual([]);
  });

  it("is cancelled with its question, which nobody can answer any more", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const cancelled = await world.store.runs.cancel({ run: asked.runId, expectedRevision: null, receipt: null, actor });
    expect(cancelled).toMatchObject({ result: { status: "cancelled" }, stop: null });
    expect(world.row(asked.decisionId)).toMatchObject({ status: "cancelled" });
    await world.answer(asked, "approve");
    expect(world.store.read.runs.get(asked.runId)).toMatchObject({ status: "cancelled", continuations: 0 });
    expect(world.count("run_continuations", "cause_type = 'decision'")).toBe(0);
  });

  it("is untouched by the recovery of the next server", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const { epoch } = await world.store.server.claimEpoch({ serverId: "s2", pid: 2, startIdentity: "y" });
    expect(await world.store.server.recover({ epoch })).toMatchObject({ runsRequeued: 0 });
    expect(world.store.read.runs.get(asked.runId)).toMatchObject({
      status: "waiting",
      pendingDecision: asked.fingerprint,
    });
    await world.answer(asked, "approve");
    expect((await claimNext(world.store, epoch)).claim.runId).toBe(asked.runId);
  });

  it("does not begin to wait for a question of another node or step", async () => {
    const world = await World.open();
    const { store, access } = world;
    await startRun(store, DEPLOY);
    const launch = await claimNext(store, world.epoch);
    const question = { claim: launch.claim, request: authored(), access };
    const refused = { kind: "protocolRejected" };
    await expect(store.decisions.request({ ...question, step: 0, nodeId: "ask" })).rejects.toMatchObject(refused);
    await becomeReady(store, launch, DEPLOY);
    await expect(store.decisions.request({ ...question, step: 1, nodeId: "ask" })).rejects.toMatchObject(refused);
    await expect(store.decisions.request({ ...question, step: 0, nodeId: "act" })).rejects.toMatchObject(refused);
    expect(store.read.runs.get(launch.claim.runId)).toMatchObject({ status: "running", queueStatus: "running" });
    expect(world.count("human_decisions")).toBe(0);
    expect(world.count("effects")).toBe(0);
  });
});
