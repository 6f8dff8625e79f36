// Mounts under a host that refuses: whatever is taken back, and wherever a process dies, the run comes to the same.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { StepEntry } from "../../src/contracts/protocol/runner.ts";
import { Ledger } from "../../src/testing/ledger.ts";
import { Engine, type EngineHost } from "../../src/workflow/engine/index.ts";
import { compute, defineWorkflow, includedResult, includeWorkflow, snapshotOf } from "../../src/workflow/index.ts";

const inner = defineWorkflow({
  name: "inner",
  maxSteps: 20,
  input: (given: { upTo: number }) => ({ upTo: given.upTo }),
  startAt: "count",
  nodes: {
    count: compute({
      run: ({ input, outputs, state }) => {
        const n: number = (outputs["count"]?.n ?? 0) + 1;
        if (state.steps.length !== n - 1) throw new Error(`${state.steps.length} steps before count ${n}`);
        return { n, again: n < input.upTo };
      },
    }),
    end: compute({ run: ({ input, outputs }) => ({ n: outputs["count"].n, upTo: input.upTo }) }),
  },
  edges: [{ from: "count", switch: { on: "$.again", cases: { true: "count", false: "end" } } }],
  exits: { done: { from: "end" } },
});
const middle = defineWorkflow({
  name: "middle",
  startAt: "first",
  nodes: { between: compute({ run: (context) => includedResult(context, "first", "done") }) },
  includes: {
    first: includeWorkflow(inner, { input: ({ input }) => ({ upTo: input.base }) }),
    second: includeWorkflow(inner, { input: ({ outputs }) => ({ upTo: outputs["between"].n + 1 }) }),
  },
  edges: [
    { from: "first.done", to: "between" },
    { from: "between", to: "second" },
  ],
  exits: { out: { from: "second.done", validate: (value) => ({ ...value, checked: true }) } },
});
const outer = defineWorkflow({
  name: "outer",
  maxSteps: 200,
  startAt: "mid",
  nodes: {
    collect: compute({
      run: (context) => {
        const list: unknown[] = [...(context.outputs["collect"]?.list ?? []), includedResult(context, "mid", "out")];
        return { list, again: list.length < 3 };
      },
    }),
    last: compute({ run: ({ outputs, state }) => [outputs["collect"].list, state.steps.length] }),
  },
  includes: {
    mid: includeWorkflow(middle, { input: ({ outputs }) => ({ base: 1 + (outputs["collect"]?.list.length ?? 0) }) }),
  },
  edges: [
    { from: "mid.out", to: "collect" },
    { from: "collect", switch: { on: "$.again", cases: { true: "mid", false: "last" } } },
  ],
});

/** Runs with a host that refuses, or dies, as `chances` say: one number for each step that it is told. */
async function play(chances: readonly number[]): Promise<Ledger> {
  const ledger = new Ledger(snapshotOf(outer), 0);
  let turn = 0;
  for (;;) {
    let open: StepEntry[] = [];
    let died = false;
    const keep = (count: number): void => {
      for (const entry of open.splice(0, count)) {
        ledger.record(entry);
        engine.acknowledge(entry.step);
      }
      open = [];
    };
    const host: EngineHost = {
      advance(entry) {
        open.push(entry);
        const chance = chances[turn++] ?? 0;
        if (chance === 0) return;
        keep(chance % (open.length + 1));
        if (ledger.position === null) throw new Error("the run has ended");
        died = chance > 100;
        if (died) engine.stop("died");
        else engine.rewind(ledger.position.step, ledger.position, ledger.visits);
      },
      barrier: async () => keep(open.length),
      finish: async (entry) => ledger.record(entry),
      enter: async (transitions) => transitions.forEach((transition) => ledger.entered(transition)),
      yield: () => new Promise((resolve) => setImmediate(resolve)),
      reserveEffect: () => Promise.reject(new Error("none")),
      settleEffect: () => Promise.reject(new Error("none")),
      requestDecision: () => Promise.reject(new Error("none")),
    };
    const fresh = turn === 0;
    const engine: Engine = new Engine({
      definition: outer,
      input: null,
      host,
      ...(fresh ? {} : { resume: ledger.resume(true) }),
    });
    const end = await engine.run();
    if (end.kind === "finished") return ledger;
    expect(died).toBe(true);
  }
}

it("with refusals and deaths at any step, the same nodes run with the same outputs", async () => {
  const tell = ({ steps }: Ledger): unknown[] => steps.map(({ nodeId, output }) => [nodeId, output]);
  const expected = tell(await play([]));
  expect(expected.at(-1)).toEqual([
    "last",
    [[2, 3, 4].map((n) => ({ n, upTo: n, checked: true })), expected.length - 1],
  ]);
  const chance = fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 200 }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(chance, { maxLength: 60 }), async (chances) => {
      expect(tell(await play(chances))).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});
