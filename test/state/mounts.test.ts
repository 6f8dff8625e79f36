/** Included workflows in the store: what the server recomputes of a runner's way through them, and what it keeps. */
import { describe, expect, it } from "vitest";
import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import type { IncludeTransition } from "../../src/contracts/include.ts";
import type { StepEntry } from "../../src/contracts/protocol/runner.ts";
import { becomeReady, claimNext, openTemp, running, takeEpoch } from "./fixture.ts";

/** first → sub/in → sub/out (exit done) → first again, or end. A mount may execute three nodes. */
const NESTED: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "outer",
  startAt: "first",
  maxSteps: 20,
  nodes: {
    first: { type: "compute", timeoutMs: null },
    "sub/in": { type: "compute", timeoutMs: null },
    "sub/out": { type: "compute", timeoutMs: null },
    end: { type: "compute", timeoutMs: null },
  },
  edges: [
    { from: "first", to: "sub/in" },
    { from: "sub/in", switch: { on: "$.go", cases: { again: "sub/in", out: "sub/out" } } },
    { from: "sub/out", switch: { on: "$.go", cases: { loop: "first", end: "end" } } },
  ],
  includes: { sub: { workflow: "inner", maxSteps: 3, exits: { done: "sub/out" } } },
};

const entered = (invocation: number, input?: number): IncludeTransition => ({
  type: "include_entered",
  mount: "sub",
  workflow: "inner",
  invocation,
  ...(input === undefined ? {} : { input }),
});
const exited = (invocation: number): IncludeTransition => ({
  type: "include_exited",
  mount: "sub",
  workflow: "inner",
  invocation,
  exit: "done",
  output: null,
});

function step(
  number: number,
  nodeId: string,
  next: string,
  go: string | null,
  transitions?: IncludeTransition[],
): StepEntry {
  const entry = { step: number, nodeId, outcome: "ok", output: { go }, durationMs: 1, next } as const;
  return transitions === undefined ? entry : { ...entry, transitions };
}

const ONCE = [
  step(0, "first", "sub/in", null, [entered(1, 7)]),
  step(1, "sub/in", "sub/out", "out"),
  step(2, "sub/out", "first", "loop", [exited(1)]),
  step(3, "first", "sub/in", null, [entered(2, 8)]),
];

describe("a run with an included workflow", () => {
  it("keeps the invocation it is in with its input, and hands it to the next runner", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch, NESTED);
    expect(await store.runs.advance({ claim, first: 0, entries: ONCE })).toEqual({ through: 3 });
    await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome: "crashed", error: null });
    const state = await becomeReady(store, await claimNext(store, epoch), NESTED);
    expect(state.position).toMatchObject({ nodeId: "sub/in", step: 4, interrupted: true });
    expect(state.mounts).toEqual([{ mount: "sub", invocation: 2, firstStep: 4, input: 8 }]);
    const { resourceNo } = store.read.runs.get(claim.runId);
    const { events } = store.read.runs.events([resourceNo], 50);
    expect(
      events
        .filter(({ type }) => type.startsWith("include."))
        .map(({ type, payload }) => [type, (payload as { invocation: number }).invocation]),
    ).toEqual([
      ["include.entered", 1],
      ["include.exited", 1],
      ["include.entered", 2],
    ]);
  });

  it("is sent back when its runner says another way than the graph has", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), NESTED);
    for (const transitions of [undefined, [], [exited(1)], [entered(1), entered(1)]]) {
      const entries = [step(0, "first", "sub/in", null, transitions)];
      expect(await store.runs.advance({ claim, first: 0, entries })).toMatchObject({
        rewind: { from: 0, reason: "route" },
      });
    }
  });

  it("ends when an invocation has used up the steps of its workflow", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), NESTED);
    const entries = [
      ...ONCE,
      step(4, "sub/in", "sub/in", "again"),
      step(5, "sub/in", "sub/in", "again"),
      step(6, "sub/in", "sub/in", "again"),
    ];
    expect(await store.runs.advance({ claim, first: 0, entries })).toMatchObject({
      rewind: { from: 0, reason: "maxSteps" },
    });
    await store.runs.advance({ claim, first: 0, entries: entries.slice(0, 6) });
    const { next: _next, ...last } = entries[6] as StepEntry;
    await store.runs.finish({ claim, entry: { ...last, next: null } });
    expect(store.read.runs.get(claim.runId)).toMatchObject({ status: "failed", error: { kind: "maxSteps" } });
  });

  it("takes the input of a mount that the server entered by itself, once", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const inside: DefinitionSnapshot = { ...NESTED, name: "inside", startAt: "sub/in" };
    const { claim } = await running(store, epoch, inside);
    await store.runs.enter({ claim, transitions: [entered(1, 5)] });
    await store.runs.enter({ claim, transitions: [entered(1, 6)] });
    await expect(store.runs.enter({ claim, transitions: [entered(2, 5)] })).rejects.toMatchObject({
      kind: "protocolRejected",
    });
    await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome: "stopped", error: null });
    const state = await becomeReady(store, await claimNext(store, epoch), inside);
    expect(state.mounts).toEqual([{ mount: "sub", invocation: 1, firstStep: 0, input: 5 }]);
  });
});
