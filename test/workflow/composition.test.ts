// Workflows in workflows: one graph, scopes that do not see each other, exits, limits of ancestors, and cycles.
import { describe, expect, it } from "vitest";
import { runWorkflow, startWorkflow, each } from "../../src/testing/index.ts";
import {
  action,
  checkpoint,
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  defineWorkflowRegistry,
  humanDecision,
  humanDecisionEdge,
  idempotentEffect,
  includedResult,
  includeWorkflow,
  snapshotOf,
  type NodeContext,
} from "../../src/workflow/index.ts";
import { definitionDigest } from "../../src/workflow/rules/index.ts";

/** Counts to its input, then leaves through `done` with how often it counted. */
const counter = defineWorkflow({
  name: "counter",
  contractId: "counter/1",
  source: "file:///one/counter.workflow.ts",
  input: (given: { to: number }) => ({ to: given.to }),
  maxSteps: 6,
  startAt: "count",
  nodes: {
    count: action({
      effect: idempotentEffect("count"),
      run: ({ input, outputs, effect }) => {
        const n = (outputs["count"]?.n ?? 0) + 1;
        return { n, again: n < input.to, key: effect.key };
      },
    }),
    end: compute({
      run: ({ outputs, state }) => ({ n: outputs.count.n as number, seen: state.steps.map((s) => s.nodeId) }),
    }),
  },
  edges: [{ from: "count", switch: { on: "$.again", cases: { true: "count", false: "end" } } }],
  exits: { done: { from: "end" } },
});

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

describe("across interruptions", () => {
  const choices = defineHumanChoices({ yes: choice({ label: "Yes" }), no: choice({ label: "No" }) });
  const asking = defineWorkflow({
    name: "asking",
    startAt: "prepare",
    nodes: {
      prepare: compute({ run: ({ input }) => input.text }),
      ask: humanDecision({
        audience: "operators",
        choices,
        request: ({ outputs }) => ({
          title: "T",
          subject: null,
          presentation: { summary: outputs["prepare"], blocks: [] },
        }),
      }),
      wait: checkpoint(),
    },
    edges: [
      { from: "prepare", to: "ask" },
      humanDecisionEdge({ from: "ask", choices, cases: { yes: "wait", no: "prepare" } }),
    ],
    exits: { answered: { from: "wait" } },
  });
  const outer = () => {
    let made = 0;
    return defineWorkflow({
      name: "outer",
      startAt: "ask",
      nodes: { next: compute({ run: (context) => [includedResult(context, "ask"), context.outputs["ask"]?.output] }) },
      includes: {
        ask: includeWorkflow(asking, { input: () => ({ text: `asked ${(made += 1)}` }) }),
        again: includeWorkflow(asking, {
          input: ({ outputs }) => ({ text: `again after ${outputs["ask"]?.output}, ${(made += 1)}` }),
        }),
      },
      edges: [
        { from: "ask.answered", to: "again" },
        { from: "again.answered", to: "next" },
      ],
    });
  };

  it("a child waits, continues with the input it had, and its answers count in the right invocation", async () => {
    const run = startWorkflow(outer(), {
      answers: {
        "ask/ask": each([{ choice: "no" }, { choice: "yes" }]),
        "ask/wait": "fine",
        "again/ask": { choice: "yes" },
      },
    });
    await run.settled();
    expect(run.status).toBe("waiting");
    expect(run.pending).toMatchObject({ kind: "checkpoint", nodeId: "again/wait" });
    expect(run.result("ask/prepare")?.output).toBe("asked 1");
    expect(run.result("again/prepare")?.output).toBe("again after fine, 2");
    await run.answer({ deep: true });
    expect(run.output).toEqual([{ exit: "answered", output: "fine" }, "fine"]);
  });

  it("entered anew right after an answer, a mount's input sees how the mount was left before", async () => {
    const child = defineWorkflow({
      name: "child",
      startAt: "add",
      nodes: { add: compute({ run: ({ input, outputs }) => [...input, Object.keys(outputs).length] }) },
      exits: { done: { from: "add" } },
    });
    const looping = defineWorkflow({
      name: "w",
      startAt: "child",
      maxSteps: 4,
      nodes: { stop: checkpoint() },
      includes: { child: includeWorkflow(child, { input: ({ outputs }) => outputs["child"]?.output ?? ["first"] }) },
      edges: [
        { from: "child.done", to: "stop" },
        { from: "stop", to: "child" },
      ],
    });
    const run = startWorkflow(looping, { answers: { stop: each(["on", "on"]) } });
    await run.settled();
    expect(run.result("child/add")?.output).toEqual(["first", 0, 0]);
  });

  it("a crash in a mount changes nothing of what its nodes see", async () => {
    let crashed = false;
    const child = defineWorkflow({
      name: "child",
      startAt: "one",
      nodes: {
        one: compute({ run: ({ input }) => input.n }),
        two: action({
          effect: idempotentEffect("x"),
          run: ({ input, outputs, state }) => {
            if (!crashed && input.n === 2) {
              crashed = true;
              run.crash();
            }
            return { n: input.n, one: outputs["one"], steps: state.steps.length };
          },
        }),
      },
      edges: [{ from: "one", to: "two" }],
      exits: { done: { from: "two" } },
    });
    let made = 0;
    const run = startWorkflow(
      defineWorkflow({
        name: "w",
        startAt: "child",
        nodes: {
          more: compute({ run: ({ outputs }) => ({ again: outputs["child"]?.output.n < 2 }) }),
          last: compute({ run: (context) => includedResult(context, "child", "done") }),
        },
        includes: { child: includeWorkflow(child, { input: () => ({ n: (made += 1) }) }) },
        edges: [
          { from: "child.done", to: "more" },
          { from: "more", switch: { on: "$.again", cases: { true: "child", false: "last" } } },
        ],
      }),
    );
    await run.settled();
    expect(run.error).toBeUndefined();
    expect(crashed).toBe(true);
    expect(made).toBe(2);
    expect(run.output).toEqual({ n: 2, one: 2, steps: 1 });
    run.assertEffect("child/two", { state: "applied", attempts: 2, visits: 2 });
  });
});

describe("definitions that cannot be", () => {
  const end = { name: "w", startAt: "a", nodes: { a: compute({ run: () => 1 }) } } as const;
  const refused = (define: () => unknown, text: string): void =>
    expect(define).toThrowError(
      expect.objectContaining({ kind: "workflowInvalid", message: expect.stringContaining(text) }),
    );

  it("names the chain of mounts of an include cycle", () => {
    const registry: ReturnType<typeof defineWorkflowRegistry> = defineWorkflowRegistry({
      fix: () => fix,
      review: () => review,
    });
    const review = defineWorkflow({
      name: "review",
      startAt: "mend",
      nodes: {},
      includes: { mend: includeWorkflow({ workflow: "fix" }) },
      registry,
    });
    const fix = defineWorkflow({
      name: "fix",
      startAt: "check",
      nodes: {},
      includes: { check: includeWorkflow({ workflow: "review" }) },
      registry,
    });
    refused(() => snapshotOf(review), '"review" → mend "fix" → check "review"');
    const outer = defineWorkflow({
      name: "outer",
      startAt: "r",
      nodes: {},
      includes: { r: includeWorkflow({ workflow: registry.ref("review") }) },
    });
    refused(() => snapshotOf(outer, { registry }), '"outer" → r "review" → mend "fix" → check "review"');
  });

  it("says which exits a mount has when another is named", () => {
    refused(
      () =>
        defineWorkflow({
          ...end,
          includes: { c: includeWorkflow(counter) },
          edges: [
            { from: "a", to: "c" },
            { from: "c.gone" as never, to: "a" },
          ],
        }),
      "they are c.done",
    );
    refused(
      () =>
        defineWorkflow({
          ...end,
          includes: { c: includeWorkflow(counter) },
          edges: [
            { from: "a", to: "c" },
            { from: "c" as never, to: "a" },
          ],
        }),
      "address one of its exits: they are c.done",
    );
    refused(() => defineWorkflow({ ...end, edges: [{ from: "x.done" as never, to: "a" }] }), 'no mount "x"');
  });

  it("refuses exits that are not ends, twice the same, or contracts of answers", () => {
    const edges = [{ from: "a", to: "b" }] as const;
    const nodes = { ...end.nodes, b: compute({ run: () => 2 }) };
    refused(() => defineWorkflow({ ...end, nodes, edges, exits: { x: { from: "a" } } }), "has an edge");
    refused(() => defineWorkflow({ ...end, exits: { x: { from: "a" }, y: { from: "a" } } }), 'as exit "x" does');
    refused(() => defineWorkflow({ ...end, exits: { x: { from: "nowhere" as never } } }), "no node");
    refused(
      () => defineWorkflow({ ...end, nodes: { a: checkpoint() }, exits: { x: { from: "a", validate: () => true } } }),
      "waits for an answer",
    );
  });

  it("names like properties of every object are no exits and no mounts", () => {
    refused(
      () =>
        defineWorkflow({
          ...end,
          includes: { c: includeWorkflow(counter) },
          edges: [
            { from: "a", to: "c" },
            { from: "c.constructor" as never, to: "a" },
          ],
        }),
      "is none",
    );
    refused(() => defineWorkflow({ ...end, edges: [{ from: "a", to: "constructor" as never }] }), "is no node");
    const registry = defineWorkflowRegistry({ counter });
    const ghost = defineWorkflow({
      ...end,
      registry,
      includes: { c: includeWorkflow({ workflow: "toString" }) },
      edges: [{ from: "a", to: "c" }],
    });
    expect(() => snapshotOf(ghost)).toThrowError(expect.objectContaining({ kind: "workflowNotFound" }));
  });

  it("a reference may demand a contract", () => {
    const registry = defineWorkflowRegistry({ counter });
    const wants = (contractId: string) =>
      defineWorkflow({
        ...end,
        registry,
        includes: { c: includeWorkflow({ workflow: "counter", contractId }) },
        edges: [{ from: "a", to: "c" }],
      });
    expect(snapshotOf(wants("counter/1")).includes?.["c"]?.contractId).toBe("counter/1");
    refused(() => snapshotOf(wants("counter/2")), 'needs contract "counter/2"');
  });
});
