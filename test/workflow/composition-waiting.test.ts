// Workflows in workflows across interruptions: answers, crashes, and entering anew.
import { describe, expect, it } from "vitest";
import { startWorkflow, each } from "../../src/testing/index.ts";
import {
  action,
  checkpoint,
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  idempotentEffect,
  includedResult,
  includeWorkflow,
} from "../../src/workflow/index.ts";

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
