// The engine over a host in memory: order, loops, switches, failures, limits, and what a node may do to others.
import { describe, expect, it } from "vitest";
import { VALUE } from "../../src/contracts/limits.ts";
import {
  action,
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  textInput,
} from "../../src/workflow/index.ts";
import { engineOver, execute, MemoryHost } from "./memory-host.ts";

describe("order", () => {
  it("a chain runs in order, and the output of its last node is the run's output", async () => {
    const workflow = defineWorkflow({
      name: "chain",
      startAt: "a",
      nodes: {
        a: compute({ run: ({ input }) => input.n + 1 }),
        b: compute({ run: async ({ outputs }) => outputs.a * 2 }),
        c: compute({ run: ({ outputs, state }) => ({ ...outputs, seen: state.steps.map((step) => step.nodeId) }) }),
      },
      edges: [
        { from: "a", to: "b" },
        { from: "b", to: "c" },
      ],
    });
    const { end, host } = await execute(workflow, { input: { n: 1 } });
    expect(end).toMatchObject({
      kind: "finished",
      end: { status: "completed" },
      output: { a: 2, b: 4, seen: ["a", "b"] },
    });
    expect(host.entries.map(({ next, step }) => [step, next])).toEqual([
      [0, "b"],
      [1, "c"],
      [2, null],
    ]);
    expect(host.calls).toEqual(["advance:a", "advance:b", "barrier", "finish:c"]);
  });

  it("a loop sees its latest output, and each node its own history", async () => {
    const workflow = defineWorkflow({
      name: "loop",
      startAt: "count",
      nodes: {
        count: compute({ run: ({ outputs }) => ({ n: (outputs.count?.n ?? 0) + 1 }) }),
        more: compute({ run: ({ outputs, state }) => ({ again: outputs.count.n < 3, steps: state.steps.length }) }),
        end: compute({ run: ({ outputs }) => outputs.count.n }),
      },
      edges: [
        { from: "count", to: "more" },
        { from: "more", switch: { on: "$.again", cases: { true: "count", false: "end" } } },
      ],
    });
    const { end, host } = await execute(workflow);
    expect(host.order).toBe("count more count more count more end");
    expect(end).toMatchObject({ output: 3 });
  });

  it("nodes called like properties of every object are nodes like others", async () => {
    const workflow = defineWorkflow({
      name: "hostile",
      startAt: "constructor",
      nodes: {
        constructor: compute({
          run: ({ outputs, results }) => [outputs.toString === undefined, results.valueOf === undefined],
        }),
        toString: compute({ run: ({ outputs }) => outputs.constructor }),
      },
      edges: [{ from: "constructor", to: "toString" }],
    });
    expect((await execute(workflow)).end).toMatchObject({ end: { status: "completed" }, output: [true, true] });
  });

  it("ten thousand steps let timers of the process have their turn", async () => {
    const workflow = defineWorkflow({
      name: "long",
      startAt: "a",
      maxSteps: 20_000,
      nodes: {
        a: compute({ run: ({ outputs }) => ({ n: (outputs.a?.n ?? 0) + 1, again: (outputs.a?.n ?? 0) < 9_999 }) }),
        b: compute({ run: () => null }),
      },
      edges: [{ from: "a", switch: { on: "$.again", cases: { true: "a", false: "b" } } }],
    });
    const host = new MemoryHost();
    let turns = 0;
    const tick = (): void => void (host.end === undefined && (turns++, setTimeout(tick, 0)));
    setTimeout(tick, 0);
    await execute(workflow, { host });
    expect(host.entries).toHaveLength(10_001);
    expect(turns).toBeGreaterThan(5);
  });
});

describe("failures", () => {
  const boom = compute({
    run: () => {
      throw new Error("boom");
    },
  });
  const node = (value: unknown): ReturnType<typeof compute> => compute({ run: () => value });

  it("a node that throws fails the run with its message and stack", async () => {
    const { end, host } = await execute(defineWorkflow({ name: "w", startAt: "a", nodes: { a: boom } }));
    expect(end).toMatchObject({
      end: { status: "failed", error: { kind: "nodeFailed", message: 'Node "a" failed: boom' } },
    });
    expect(host.entries[0]?.error?.details?.["stack"]).toContain("engine.test.ts");
  });

  it("a failure is routed by $result.outcome, and takes the node's earlier output away", async () => {
    let runs = 0;
    const workflow = defineWorkflow({
      name: "w",
      startAt: "flaky",
      nodes: {
        flaky: compute({
          run: () => {
            if (++runs > 1) throw new Error("second time");
            return "first";
          },
        }),
        look: compute({
          run: ({ outputs, results }) => ({
            output: outputs.flaky ?? "none",
            outcome: results.flaky?.outcome,
            again: runs < 2,
          }),
        }),
        end: compute({ run: ({ outputs }) => outputs.look }),
      },
      edges: [
        { from: "flaky", switch: { on: "$result.outcome", cases: { ok: "look", failed: "look" } } },
        { from: "look", switch: { on: "$.again", cases: { true: "flaky", false: "end" } } },
      ],
    });
    const { end, host } = await execute(workflow);
    expect(host.entries[1]?.output).toEqual({ output: "first", outcome: "ok", again: true });
    expect(end).toMatchObject({ output: { output: "none", outcome: "failed", again: false } });
  });

  it.each<[string, unknown, string]>([
    ["a function", { f: () => 1 }, "$.f is of type function"],
    ["a number that JSON has not", [1, NaN], "$[1] is the number NaN"],
    ["an instance of a class", { at: { d: new Date(0) } }, "$.at.d is an instance of Date"],
    ["half of a surrogate pair", "\ud83d", "$ is text with half of a surrogate pair"],
  ])("%s in an output fails the node and is named with its place", async (_what, value, text) => {
    const { end } = await execute(defineWorkflow({ name: "w", startAt: "a", nodes: { a: node(value) } }));
    expect(end).toMatchObject({
      end: { status: "failed", error: { kind: "notCanonical", message: expect.stringContaining(text) } },
    });
  });

  it("a value that contains itself fails the node", async () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const { end } = await execute(defineWorkflow({ name: "w", startAt: "a", nodes: { a: node(circle) } }));
    expect(end).toMatchObject({ end: { error: { message: expect.stringContaining("contains itself") } } });
  });

  it("an output over the limit fails the node, naming limit and size", async () => {
    const text = "\u00e9".repeat(VALUE.outputBytes / 2);
    const { end } = await execute(defineWorkflow({ name: "w", startAt: "a", nodes: { a: node(text) } }));
    const details = { limit: VALUE.outputBytes, seen: VALUE.outputBytes + 2 };
    expect(end).toMatchObject({ end: { status: "failed", error: { kind: "outputTooLarge", details } } });
    const fits = await execute(defineWorkflow({ name: "w", startAt: "a", nodes: { a: node(text.slice(1)) } }));
    expect(fits.end).toMatchObject({ end: { status: "completed" } });
  });

  it("nothing returned counts as null, and undefined fields are left out", async () => {
    const workflow = defineWorkflow({
      name: "w",
      startAt: "a",
      nodes: { a: node(undefined), b: compute({ run: ({ outputs }) => ({ a: outputs.a, x: undefined }) }) },
      edges: [{ from: "a", to: "b" }],
    });
    const { end, host } = await execute(workflow);
    expect(host.entries[0]?.output).toBeNull();
    expect(end).toMatchObject({ output: { a: null } });
    expect(Object.keys((end as { output: object }).output)).toEqual(["a"]);
  });

  it("anything can be thrown", async () => {
    for (const thrown of [undefined, null, "text", Symbol("s"), { code: 7 }, Object.create(null)]) {
      const workflow = defineWorkflow({
        name: "w",
        startAt: "a",
        nodes: {
          a: compute({
            run: () => {
              throw thrown;
            },
          }),
        },
      });
      expect((await execute(workflow)).end).toMatchObject({ end: { status: "failed", error: { kind: "nodeFailed" } } });
    }
  });

  it("a missing case fails the run although its node succeeded", async () => {
    const workflow = defineWorkflow({
      name: "w",
      startAt: "a",
      nodes: { a: node({ f: "z" }), b: node(1) },
      edges: [{ from: "a", switch: { on: "$.f", cases: { x: "b" } } }],
    });
    const { end, host } = await execute(workflow);
    expect(end).toMatchObject({ end: { status: "failed", error: { kind: "routingFailed" } } });
    expect(host.entries).toMatchObject([{ nodeId: "a", outcome: "ok", next: null }]);
  });

  it("a loop without an end stops at maxSteps", async () => {
    const workflow = defineWorkflow({
      name: "w",
      startAt: "a",
      maxSteps: 7,
      nodes: { a: node(1) },
      edges: [{ from: "a", to: "a" }],
    });
    const { end, host } = await execute(workflow);
    expect(host.entries).toHaveLength(7);
    expect(end).toMatchObject({ end: { status: "failed", error: { kind: "maxSteps" } } });
  });
});

describe("time limits", () => {
  const never = (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted, too late"))));

  it("a node over its limit has timed out: its signal is aborted and what it says later is ignored", async () => {
    const reasons: unknown[] = [];
    const workflow = defineWorkflow({
      name: "w",
      startAt: "slow",
      nodes: {
        slow: compute({
          timeoutMs: 5,
          run: ({ signal }) => {
            signal.addEventListener("abort", () => reasons.push(signal.reason));
            return never(signal);
          },
        }),
        late: compute({ run: ({ outputs, results }) => [results.slow?.error?.kind, outputs.slow ?? null] }),
      },
      edges: [{ from: "slow", switch: { on: "$result.outcome", cases: { ok: "slow", timed_out: "late" } } }],
    });
    const { end } = await execute(workflow);
    expect(end).toMatchObject({ end: { status: "completed" }, output: ["nodeTimedOut", null] });
    expect(reasons).toMatchObject([{ kind: "nodeTimedOut", details: { limit: 5 } }]);
  });

  it("without a switch on the result the run has timed out", async () => {
    const slow = compute({ timeoutMs: 5, run: ({ signal }) => never(signal) });
    const { end } = await execute(defineWorkflow({ name: "w", startAt: "slow", nodes: { slow } }));
    expect(end).toMatchObject({ end: { status: "timed_out", error: { kind: "nodeTimedOut" } } });
  });

  it("null means no limit, and the default is 15 minutes", async () => {
    const armed: number[] = [];
    const timers = { now: () => 0, after: (ms: number) => (armed.push(ms), () => undefined) };
    const run = async (): Promise<number> => 1;
    for (const timeoutMs of [null, undefined, 7] as const) {
      const a = timeoutMs === undefined ? compute({ run }) : compute({ timeoutMs, run });
      await execute(defineWorkflow({ name: "w", startAt: "a", nodes: { a } }), { timers });
    }
    expect(armed).toEqual([15 * 60_000, 7]);
  });
});

describe("isolation", () => {
  it("a node cannot change what another produced, nor the input", async () => {
    const shared = { list: [1] };
    const attempts: string[] = [];
    const tries = (what: string, change: () => void): void => {
      try {
        change();
      } catch {
        attempts.push(what);
      }
    };
    const workflow = defineWorkflow({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => shared }),
        b: compute({
          run: ({ input, outputs, results, state }) => {
            shared.list.push(2);
            tries("output", () => outputs.a.list.push(3));
            tries("outputs", () => ((outputs as Record<string, unknown>)["a"] = 1));
            tries("input", () => (input.deep.x = 2));
            tries("result", () => ((results["a"] as { outcome: string }).outcome = "failed"));
            (state.steps as unknown[]).length = 0;
          },
        }),
        c: compute({
          run: ({ input, outputs, results, state }) => [input, outputs.a, results["a"]?.outcome, state.steps.length],
        }),
      },
      edges: [
        { from: "a", to: "b" },
        { from: "b", to: "c" },
      ],
    });
    const { end } = await execute(workflow, { input: { deep: { x: 1 } } });
    expect(attempts).toEqual(["output", "outputs", "input", "result"]);
    expect(end).toMatchObject({ output: [{ deep: { x: 1 } }, { list: [1] }, "ok", 2] });
  });
});

describe("decisions", () => {
  const choices = defineHumanChoices({
    approve: choice({ label: "Approve" }),
    replan: choice({ label: "Replan", input: textInput({ name: "changes", prompt: "What?" }) }),
  });
  const workflow = defineWorkflow({
    name: "w",
    startAt: "plan",
    nodes: {
      plan: compute({ run: ({ outputs }) => `plan ${outputs.ask?.input?.changes ?? "one"}` }),
      ask: humanDecision({
        audience: "operators",
        choices,
        request: ({ outputs }) => ({
          title: "T",
          subject: outputs.plan,
          presentation: { summary: outputs.plan, blocks: [] },
        }),
        onTimeout: { afterMs: 1_000, response: { choice: "approve" } },
      }),
      done: compute({ run: ({ outputs }) => outputs.plan }),
    },
    edges: [
      { from: "plan", to: "ask" },
      humanDecisionEdge({ from: "ask", choices, cases: { approve: "done", replan: "plan" } }),
    ],
  });

  it("the run parks at a decision, after everything before it is durable", async () => {
    const { end, host } = await execute(workflow);
    expect(end).toEqual({ kind: "parked", reason: "decision" });
    expect(host.calls).toEqual(["advance:plan", "barrier", "decision:ask"]);
    expect(host.decisions).toEqual([
      {
        step: 1,
        nodeId: "ask",
        visit: 1,
        request: {
          audience: "operators",
          title: "T",
          subject: "plan one",
          presentation: { schema: "holdpoint.decision-presentation.v1", summary: "plan one", blocks: [] },
          choices: [
            { id: "approve", label: "Approve" },
            { id: "replan", label: "Replan", input: { type: "text", name: "changes", prompt: "What?" } },
          ],
          onTimeout: { afterMs: 1_000, response: { choice: "approve" } },
        },
      },
    ]);
  });

  it("an answer is the node's output, and a loop asks again as another visit", async () => {
    const host = new MemoryHost();
    host.answers = [{ choice: "replan", input: { changes: "two" } }, { choice: "approve" }];
    const { end } = await execute(workflow, { host });
    expect(host.order).toBe("plan ask plan ask done");
    expect(host.decisions.map(({ visit }) => visit)).toEqual([1, 2]);
    expect(end).toMatchObject({ output: "plan two" });
  });

  it("a refused request fails the node with the reason", async () => {
    const { HoldpointError } = await import("../../src/contracts/errors.ts");
    const host = new MemoryHost();
    host.requestDecision = async () => {
      throw new HoldpointError("audienceUnknown", "no such audience");
    };
    const { end } = await execute(workflow, { host });
    expect(end).toMatchObject({ end: { status: "failed", error: { kind: "audienceUnknown" } } });
  });
});

describe("resuming", () => {
  const workflow = defineWorkflow({
    name: "w",
    startAt: "a",
    nodes: { a: compute({ run: () => "a" }), b: compute({ run: ({ outputs, state }) => [outputs, state.steps] }) },
    edges: [{ from: "a", to: "b" }],
  });
  const position = { nodeId: "b", step: 1, visit: 1, interrupted: true };

  it("a run goes on at its position with the outputs and steps of before", async () => {
    const results = [{ nodeId: "a", outcome: "ok" as const, output: "earlier" }];
    const resume = { position, visits: { a: 1, b: 1 }, results, steps: [{ nodeId: "a", outcome: "ok" as const }] };
    const { end, host } = await execute(workflow, { resume });
    expect(host.order).toBe("b");
    expect(end).toMatchObject({ output: [{ a: "earlier" }, [{ nodeId: "a", outcome: "ok" }]] });
  });

  it("a position that does not fit the steps is refused", () => {
    const resume = { position, visits: {}, results: [], steps: [] };
    expect(() => engineOver(workflow, new MemoryHost(), { resume })).toThrowError(
      expect.objectContaining({ kind: "protocolRejected" }),
    );
  });

  it("a position at an unknown node is refused", async () => {
    const resume = {
      position: { nodeId: "toString", step: 0, visit: 1, interrupted: false },
      visits: {},
      results: [],
      steps: [],
    };
    await expect(execute(workflow, { resume })).rejects.toMatchObject({ kind: "protocolRejected" });
  });

  it("a stopped run reports nothing more and aborts the node that is at work", async () => {
    const host = new MemoryHost();
    let aborted = false;
    const slow = action({
      run: ({ signal }) => {
        engine.stop("paused");
        return new Promise((resolve) => {
          const done = (): void => {
            aborted = true;
            resolve(null);
          };
          if (signal.aborted) done();
          else signal.addEventListener("abort", done);
        });
      },
    });
    const engine = engineOver(defineWorkflow({ name: "w", startAt: "slow", nodes: { slow } }), host);
    expect(await engine.run()).toEqual({ kind: "stopped", reason: "paused" });
    expect(aborted).toBe(true);
    expect(host.calls).toEqual(["barrier", "reserve:slow"]);
  });
});
