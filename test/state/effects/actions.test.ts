/** Actions of workflows: reserved before they happen, and what each recovery contract does with an attempt that has no known end. */
import { describe, expect, it } from "vitest";
import type { Recovery } from "../../../src/state/effects/rows.ts";
import type { StepEntry } from "../../../src/contracts/protocol/runner.ts";
import type { Launch } from "../../../src/state/runs/claim.ts";
import { DEPLOY, World } from "../decisions/fixture.ts";
import { becomeReady, claimNext, startRun } from "../fixture.ts";
import type { DefinitionSnapshot } from "../../../src/contracts/definition.ts";

const actor = { type: "control", id: "me" } as const;
const REQUEST = { target: "production" };

function acting(recovery: Recovery): DefinitionSnapshot {
  return {
    ...DEPLOY,
    name: "act",
    startAt: "act",
    nodes: { act: { type: "action", timeoutMs: null, effect: { recovery, type: "deploy" } } },
    edges: [],
  };
}

interface Acting {
  readonly world: World;
  readonly recovery: Recovery;
  launch: Launch;
}

async function start(recovery: Recovery): Promise<Acting> {
  const world = await World.open();
  await startRun(world.store, acting(recovery));
  const launch = await claimNext(world.store, world.epoch);
  await becomeReady(world.store, launch, acting(recovery));
  return { world, recovery, launch };
}

/** The runner dies; another one takes over. */
async function crash(state: Acting): Promise<void> {
  const { world, recovery } = state;
  await world.store.runs.runnerEnded({ runnerEpoch: state.launch.claim.runnerEpoch, outcome: "crashed", error: null });
  world.clock.advance(600_000);
  state.launch = await claimNext(world.store, world.epoch);
  await becomeReady(world.store, state.launch, acting(recovery));
}

function reserve(
  { launch, recovery, world }: Acting,
  request: { target: string } = REQUEST,
): ReturnType<World["store"]["effects"]["reserve"]> {
  return world.store.effects.reserve({
    claim: launch.claim,
    step: 0,
    nodeId: "act",
    effectType: "deploy",
    recovery,
    request,
  });
}

function report(
  { launch, world }: Acting,
  effectId: string,
  attempt: number,
  outcome: "applied" | "rejected" | "notApplied" | "ambiguous",
  more = {},
): ReturnType<World["store"]["effects"]["report"]> {
  return world.store.effects.report({ claim: launch.claim, effectId, attempt, outcome, ...more });
}

describe("a reservation", () => {
  it("is fresh at first and gives the outside one key for all attempts", async () => {
    const state = await start("idempotent");
    const first = await reserve(state);
    expect(first).toMatchObject({ state: "fresh", attempt: 1, key: first.effectId });
    await crash(state);
    expect(await reserve(state)).toMatchObject({
      state: "repeat",
      attempt: 2,
      effectId: first.effectId,
      key: first.key,
    });
    expect(state.world.store.read.effects.get(first.effectId).attemptList.map((attempt) => attempt.state)).toEqual([
      "ambiguous",
      "dispatching",
    ]);
  });

  it("of a settled effect gives what was stored", async () => {
    const state = await start("manual");
    const { effectId } = await reserve(state);
    expect(await report(state, effectId, 1, "applied", { result: { version: 3 } })).toEqual({
      status: "applied",
      attempt: 1,
    });
    await crash(state);
    expect(await reserve(state)).toMatchObject({ state: "applied", result: { version: 3 } });
  });

  it("of one that happened, but whose result could not be stored, gives the error with which its node failed", async () => {
    const state = await start("manual");
    const { effectId } = await reserve(state);
    const error = { code: "HP404", kind: "notCanonical", message: "a function", remedy: "-" };
    await report(state, effectId, 1, "applied", { error });
    await crash(state);
    expect(await reserve(state)).toMatchObject({ state: "applied", error: { message: "a function" } });
  });

  it("of a rejected effect gives its error", async () => {
    const state = await start("manual");
    const { effectId } = await reserve(state);
    await report(state, effectId, 1, "rejected", {
      error: { code: "HP404", kind: "nodeFailed", message: "quota", remedy: "-" },
    });
    await crash(state);
    expect(await reserve(state)).toMatchObject({ state: "rejected", error: { message: "quota" } });
  });

  it("with another request is a conflict", async () => {
    const state = await start("idempotent");
    await reserve(state);
    await crash(state);
    await expect(reserve(state, { target: "staging" })).rejects.toMatchObject({ kind: "effectConflict" });
  });

  it("of a node that is not the open one is refused", async () => {
    const state = await start("manual");
    const { launch, world } = state;
    const request = {
      claim: launch.claim,
      step: 1,
      nodeId: "act",
      effectType: "deploy",
      recovery: "manual",
      request: null,
    } as const;
    await expect(world.store.effects.reserve(request)).rejects.toMatchObject({ kind: "protocolRejected" });
    await expect(world.store.effects.reserve({ ...request, step: 0, nodeId: "other" })).rejects.toMatchObject({
      kind: "protocolRejected",
    });
  });
});

describe("an observed effect without a known end", () => {
  it("is looked at, and done when it did not happen", async () => {
    const state = await start("observed");
    const { effectId } = await reserve(state);
    await crash(state);
    expect(await reserve(state)).toMatchObject({ state: "observe", attempt: 1 });
    expect(await report(state, effectId, 1, "notApplied")).toEqual({ status: "applying", attempt: 2 });
    expect(await report(state, effectId, 2, "applied")).toEqual({ status: "applied", attempt: 2 });
    expect(state.world.store.read.effects.get(effectId).attemptList.map((attempt) => attempt.state)).toEqual([
      "notSent",
      "accepted",
    ]);
  });

  it("is settled when it had happened, also if the first look was cut short", async () => {
    const state = await start("observed");
    const { effectId } = await reserve(state);
    await crash(state);
    await reserve(state);
    await crash(state);
    expect(await reserve(state)).toMatchObject({ state: "observe", attempt: 1 });
    expect(await report(state, effectId, 1, "applied", { result: 1 })).toMatchObject({ status: "applied" });
  });
});

describe("a manual effect without a known end", () => {
  async function stuck(): Promise<Acting & { effectId: string; run: string }> {
    const state = await start("manual");
    const { effectId } = await reserve(state);
    await crash(state);
    expect(await reserve(state)).toMatchObject({ state: "ambiguous" });
    return { ...state, effectId, run: state.launch.claim.runId };
  }

  it("parks the run with its cause and the command that settles it", async () => {
    const { effectId, run, world } = await stuck();
    expect(world.store.read.runs.get(run)).toMatchObject({ queueStatus: "parked", parkReason: "effectAmbiguous" });
    const { settleWith, shortId } = world.store.read.effects.get(effectId);
    expect(settleWith).toBe(`holdpoint effect settle ${shortId} applied|notApplied|retry`);
  });

  it("settled as applied lets the run go on with the result", async () => {
    const state = await stuck();
    await state.world.store.effects.settle({
      effect: state.effectId,
      outcome: "applied",
      result: { by: "hand" },
      receipt: null,
      actor,
    });
    state.launch = await claimNext(state.world.store, state.world.epoch);
    await becomeReady(state.world.store, state.launch, acting("manual"));
    expect(await reserve(state)).toMatchObject({ state: "applied", result: { by: "hand" } });
  });

  it.each(["notApplied", "retry"] as const)("settled as %s is done anew", async (outcome) => {
    const state = await stuck();
    await state.world.store.effects.settle({ effect: state.effectId, outcome, result: null, receipt: null, actor });
    state.launch = await claimNext(state.world.store, state.world.epoch);
    await becomeReady(state.world.store, state.launch, acting("manual"));
    expect(await reserve(state)).toMatchObject({ state: "fresh", attempt: 2 });
  });

  it("of a cancelled run can still be put on record, but not done again", async () => {
    const { effectId, run, world } = await stuck();
    await world.store.runs.cancel({ run, reason: null, expectedRevision: null, receipt: null, actor });
    const settle = (outcome: "applied" | "notApplied" | "retry") =>
      world.store.effects.settle({ effect: effectId, outcome, result: null, receipt: null, actor });
    await expect(settle("retry")).rejects.toMatchObject({ kind: "effectState" });
    expect(await settle("notApplied")).toMatchObject({ result: { status: "rejected" } });
    await expect(settle("applied")).rejects.toMatchObject({ kind: "effectState" });
    expect(world.store.read.runs.get(run).status).toBe("cancelled");
  });

  it("reported as uncertain by its own runner parks at once", async () => {
    const state = await start("manual");
    const { effectId } = await reserve(state);
    expect(await report(state, effectId, 1, "ambiguous")).toEqual({ status: "ambiguous", attempt: 1 });
    expect(state.world.store.read.runs.get(state.launch.claim.runId)).toMatchObject({ parkReason: "effectAmbiguous" });
    await expect(report(state, effectId, 1, "applied")).rejects.toMatchObject({ kind: "claimLost" });
  });
});

describe("a step that brings what is said of its effect", () => {
  const two: DefinitionSnapshot = {
    ...acting("idempotent"),
    nodes: {
      act: { type: "action", timeoutMs: null, effect: { recovery: "idempotent", type: "deploy" } },
      next: { type: "action", timeoutMs: null, effect: { recovery: "idempotent", type: "announce" } },
    },
    edges: [{ from: "act", to: "next" }],
  };
  const entry = (next = "next"): StepEntry => ({
    step: 0,
    nodeId: "act",
    outcome: "ok",
    output: { version: 3 },
    durationMs: 1,
    next,
  });
  const announce = { nodeId: "next", effectType: "announce", recovery: "idempotent", request: REQUEST } as const;

  async function begun(): Promise<Acting & { readonly effectId: string }> {
    const world = await World.open();
    await startRun(world.store, two);
    const launch = await claimNext(world.store, world.epoch);
    await becomeReady(world.store, launch, two);
    const state: Acting = { world, recovery: "idempotent", launch };
    return { ...state, effectId: (await reserve(state)).effectId };
  }

  it("settles it, is stored, and has the next effect reserved, in one command", async () => {
    const { effectId, launch, world } = await begun();
    const settle = { effectId, attempt: 1, outcome: "applied" } as const;
    const stored = await world.store.runs.advance({
      claim: launch.claim,
      first: 0,
      entries: [entry()],
      settle,
      reserve: announce,
    });
    expect(stored).toMatchObject({ through: 0, reserved: { state: "fresh", attempt: 1 } });
    expect(world.store.read.effects.get(effectId)).toMatchObject({ status: "applied", result: { version: 3 } });
    expect(
      world.all("SELECT effect_type AS type, status, attempt_count AS attempts FROM effects ORDER BY effect_no"),
    ).toEqual([
      { type: "deploy", status: "applied", attempts: 1 },
      { type: "announce", status: "applying", attempts: 1 },
    ]);
    expect(world.all("SELECT state FROM effect_attempts ORDER BY effect_no")).toEqual([
      { state: "accepted" },
      { state: "dispatching" },
    ]);
    expect((await world.store.verify()).problems).toEqual([]);
  });

  it("settles it also when the step itself is refused; then nothing is reserved", async () => {
    const { effectId, launch, world } = await begun();
    const settle = { effectId, attempt: 1, outcome: "applied" } as const;
    const refused = await world.store.runs.advance({
      claim: launch.claim,
      first: 0,
      entries: [entry("act")],
      settle,
      reserve: announce,
    });
    expect(refused).toMatchObject({ rewind: { reason: "route", from: 0 } });
    expect(world.store.read.effects.get(effectId)).toMatchObject({ status: "applied", result: { version: 3 } });
    expect(world.count("effects")).toBe(1);
  });

  it("stands when the reservation behind it is refused", async () => {
    const { effectId, launch, world } = await begun();
    const settle = { effectId, attempt: 1, outcome: "applied" } as const;
    const reserved = { ...announce, nodeId: "elsewhere" };
    const stored = await world.store.runs.advance({
      claim: launch.claim,
      first: 0,
      entries: [entry()],
      settle,
      reserve: reserved,
    });
    expect(stored).toMatchObject({ through: 0, reserved: { refused: { kind: "protocolRejected" } } });
    expect(world.count("effects")).toBe(1);
  });

  it("is refused with a settlement that fits no open attempt, and nothing is stored", async () => {
    const { effectId, launch, world } = await begun();
    const settle = { effectId, attempt: 2, outcome: "applied" } as const;
    const refused = world.store.runs.advance({
      claim: launch.claim,
      first: 0,
      entries: [entry()],
      settle,
      reserve: announce,
    });
    await expect(refused).rejects.toMatchObject({ kind: "protocolRejected" });
    expect(world.all("SELECT steps FROM runs")).toEqual([{ steps: 0 }]);
    expect(world.store.read.effects.get(effectId)).toMatchObject({ status: "applying" });
  });
});
