// Workflows in workflows: one graph, scopes that do not see each other, exits, and limits of ancestors.
import { describe, expect, it } from "vitest";
import { runWorkflow } from "../../src/testing/index.ts";
import {
  compute,
  defineWorkflow,
  includedResult,
  includeWorkflow,
  snapshotOf,
  type NodeContext,
} from "../../src/workflow/index.ts";
import { definitionDigest } from "../../src/workflow/rules/index.ts";
import { counter } from "./counter.ts";

/** Mounts the counter, twice if asked. */
const parent = (rounds: number, maxSteps = 100) =>
  defineWorkflow({
    name: "parent",
    maxSteps,
    startAt: "begin",
    nodes: {
      begin: compute({ run: () => ({ to: 2 }) }),
      after: compute({
        run: (context) => {
          const { output } = includedResult(context, "inner");
          const round = (context.outputs["after"]?.round ?? 0) + 1;
          return { round, n: output.n, seen: output.seen, again: round < rounds, names: Object.keys(context.outputs) };
        },
      }),
      last: compute({ run: ({ outputs }) => outputs.after }),
    },
    includes: { inner: includeWorkflow(counter, { input: ({ outputs }) => ({ to: outputs.begin.to }) }) },
    edges: [
      { from: "begin", to: "inner" },
      { from: "inner.done", to: "after" },
      { from: "after", switch: { on: "$.again", cases: { true: "inner", false: "last" } } },
    ],
  });

describe("one graph", () => {
  it("the snapshot has every node under its path, and what is mounted where", () => {
    const snapshot = snapshotOf(parent(1));
    expect(Object.keys(snapshot.nodes)).toEqual(["begin", "after", "last", "inner/count", "inner/end"]);
    expect(snapshot.edges).toContainEqual({ from: "begin", to: "inner/count" });
    expect(snapshot.edges).toContainEqual({ from: "inner/end", to: "after" });
    expect(snapshot.includes).toEqual({
      inner: {
        workflow: "counter",
        contractId: "counter/1",
        source: "file:///one/counter.workflow.ts",
        maxSteps: 6,
        exits: { done: "inner/end" },
      },
    });
    const moved = structuredClone(snapshot);
    moved.includes!["inner"]!.source = "file:///two/counter.workflow.ts";
    expect(definitionDigest(moved)).toBe(definitionDigest(snapshot));
    moved.includes!["inner"]!.maxSteps = 7;
    expect(definitionDigest(moved)).not.toBe(definitionDigest(snapshot));
  });

  it("runs child nodes under full paths; each invocation begins anew, and every effect has its own key", async () => {
    const run = await runWorkflow(parent(2));
    expect(run.error).toBeUndefined();
    expect(run.order.join(" ")).toBe(
      "begin inner/count inner/count inner/end after inner/count inner/count inner/end after last",
    );
    expect(run.output).toEqual({
      round: 2,
      n: 2,
      seen: ["count", "count"],
      again: false,
      names: ["begin", "after", "inner"],
    });
    const keys = run.effects.map(({ key }) => key);
    expect(keys).toEqual([1, 2, 3, 4].map((visit) => `test-run/count/inner/count/${visit}`));
    expect(
      run.events
        .filter(({ type }) => type.startsWith("include"))
        .map(({ exit, invocation, type }) => [type, invocation, exit]),
    ).toEqual([
      ["include_entered", 1, undefined],
      ["include_exited", 1, "done"],
      ["include_entered", 2, undefined],
      ["include_exited", 2, "done"],
    ]);
  });

  it("two mounts of one workflow have separate effects", async () => {
    const mounts = defineWorkflow({
      name: "twice",
      startAt: "one",
      nodes: {},
      includes: {
        one: includeWorkflow(counter, { input: () => ({ to: 1 }) }),
        two: includeWorkflow(counter, { input: (context) => ({ to: includedResult(context, "one", "done").n + 1 }) }),
      },
      edges: [{ from: "one.done", to: "two" }],
    });
    const run = await runWorkflow(mounts);
    expect(run.output).toMatchObject({ n: 2 });
    expect(run.effects.map(({ key }) => key)).toEqual([
      "test-run/count/one/count/1",
      "test-run/count/two/count/1",
      "test-run/count/two/count/2",
    ]);
    expect(run.events.at(0)).toMatchObject({ type: "include_entered", mount: "one", input: { to: 1 } });
  });
});

describe("limits", () => {
  const limited = (parentSteps: number, to: number) =>
    defineWorkflow({
      name: "limited",
      maxSteps: parentSteps,
      startAt: "inner",
      nodes: { out: compute({ run: () => "out" }) },
      includes: { inner: includeWorkflow(counter, { input: () => ({ to }) }) },
      edges: [{ from: "inner.done", to: "out" }],
    });

  it("a child's maxSteps holds for each invocation, and the run fails beyond it with the mount's name", async () => {
    const run = await runWorkflow(limited(100, 50));
    expect(run.status).toBe("failed");
    expect(run.order).toHaveLength(6);
    expect(run.error).toMatchObject({ kind: "maxSteps", message: expect.stringContaining('mount "inner"') });
    expect((await runWorkflow(limited(100, 5))).output).toBe("out");
  });

  it("a child's loop beyond its parent's limit fails although its own is greater", async () => {
    const run = await runWorkflow(limited(3, 4));
    expect(run.order).toHaveLength(3);
    expect(run.error).toMatchObject({ kind: "maxSteps", message: expect.stringContaining('workflow "limited" is 3') });
  });

  it("a mount between root and child counts too", async () => {
    const middle = defineWorkflow({
      name: "middle",
      maxSteps: 2,
      startAt: "inner",
      nodes: {},
      includes: { inner: includeWorkflow(counter, { input: () => ({ to: 4 }) }) },
      exits: { done: { from: "inner.done" } },
    });
    const outer = defineWorkflow({
      name: "outer",
      startAt: "middle",
      nodes: {},
      includes: { middle: includeWorkflow(middle) },
    });
    const run = await runWorkflow(outer);
    expect(run.order).toEqual(["middle/inner/count", "middle/inner/count"]);
    expect(run.error).toMatchObject({ message: expect.stringContaining('mount "middle" is 2') });
  });
});

describe("exits", () => {
  const leaving = (validate: (value: any) => unknown) =>
    defineWorkflow({
      name: "child",
      startAt: "make",
      nodes: { make: compute({ run: () => ({ n: 1 }) }) },
      exits: { done: { from: "make", validate } },
    });
  const around = (validate: (value: any) => unknown) =>
    defineWorkflow({
      name: "around",
      startAt: "child",
      nodes: { see: compute({ run: (context) => includedResult(context, "child") }) },
      includes: { child: includeWorkflow(leaving(validate)) },
      edges: [{ from: "child.done", to: "see" }],
    });

  it("the exit's contract sees the value before the parent, and may make another", async () => {
    expect((await runWorkflow(around(({ n }) => ({ n: n + 1, ok: true })))).output).toEqual({
      exit: "done",
      output: { n: 2, ok: true },
    });
    expect((await runWorkflow(around(() => undefined))).output).toEqual({ exit: "done", output: { n: 1 } });
  });

  it("a wrong value fails at the exit, with its path", async () => {
    const run = await runWorkflow(
      around(() => {
        throw new Error("n is odd");
      }),
    );
    expect(run.order).toEqual(["child/make"]);
    expect(run.error).toMatchObject({
      kind: "exitInvalid",
      message: 'Node "child/make" cannot leave through exit "child.done": n is odd',
    });
    expect((await runWorkflow(around(() => false))).status).toBe("failed");
  });

  it("an exit can be handed on, and a run that ends inside a mount leaves it", async () => {
    const middle = defineWorkflow({
      name: "middle",
      startAt: "inner",
      nodes: {},
      includes: { inner: includeWorkflow(leaving(() => undefined)) },
      exits: { finished: { from: "inner.done", validate: ({ n }) => ({ m: n }) } },
    });
    const outer = defineWorkflow({
      name: "outer",
      startAt: "mid",
      nodes: {},
      includes: { mid: includeWorkflow(middle) },
    });
    const run = await runWorkflow(outer);
    expect(run).toMatchObject({ status: "completed", output: { m: 1 } });
    expect(run.events.filter(({ type }) => type === "include_exited").map(({ mount }) => mount)).toEqual([
      "mid/inner",
      "mid",
    ]);
  });

  it("a failed node does not leave: the parent's switch after the exit is not asked", async () => {
    const child = defineWorkflow({
      name: "child",
      startAt: "boom",
      nodes: {
        boom: compute({
          run: () => {
            throw new Error("boom");
          },
        }),
      },
      exits: { done: { from: "boom" } },
    });
    const run = await runWorkflow(
      defineWorkflow({
        name: "w",
        startAt: "child",
        nodes: { caught: compute({ run: () => "caught" }) },
        includes: { child: includeWorkflow(child) },
        edges: [{ from: "child.done", switch: { on: "$result.outcome", cases: { ok: "caught", failed: "caught" } } }],
      }),
    );
    expect(run).toMatchObject({ status: "failed", error: { message: expect.stringContaining("boom") } });
  });
});

describe("what a child sees", () => {
  it("nothing of its parent but its input, which its parser made once", async () => {
    let parsed = 0;
    const child = defineWorkflow({
      name: "child",
      input: (given: { n: number }) => ({ n: given.n + (parsed += 1) }),
      startAt: "first",
      nodes: {
        first: compute({
          run: ({ outputs, results, state }) => [Object.keys(outputs), Object.keys(results), state.steps],
        }),
        second: compute({ run: ({ input, outputs }: NodeContext<{ n: number }>) => [input.n, outputs["first"]] }),
      },
      edges: [{ from: "first", to: "second" }],
      exits: { done: { from: "second" } },
    });
    const run = await runWorkflow(
      defineWorkflow({
        name: "w",
        startAt: "a",
        nodes: { a: compute({ run: () => 1 }), b: compute({ run: ({ outputs }) => outputs["child"] }) },
        includes: { child: includeWorkflow(child, { input: ({ outputs }) => ({ n: outputs["a"] + 10 }) }) },
        edges: [
          { from: "a", to: "child" },
          { from: "child.done", to: "b" },
        ],
      }),
    );
    expect(run.output).toEqual({ exit: "done", output: [12, [[], [], []]] });
  });

  it("an input that cannot be made fails the first node of the mount", async () => {
    const run = await runWorkflow(
      defineWorkflow({
        name: "w",
        startAt: "a",
        nodes: { a: compute({ run: () => 1 }) },
        includes: {
          child: includeWorkflow(counter, {
            input: () => {
              throw new Error("no plan");
            },
          }),
        },
        edges: [{ from: "a", to: "child" }],
      }),
    );
    expect(run.order).toEqual(["a", "child/count"]);
    expect(run.error).toMatchObject({ kind: "includeInput", message: expect.stringContaining('mount "child"') });
    expect(run.error?.message).toContain("no plan");
  });
});
