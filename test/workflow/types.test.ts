// The compiler checks a workflow for its author. Each @ts-expect-error below is a mistake that must not compile; the
// type check of the tests fails when one of them does.
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  action,
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  idempotentEffect,
  observedEffect,
  textInput,
  type HumanAnswer,
  type NodeContext,
  type OutputOf,
} from "../../src/workflow/index.ts";

const choices = defineHumanChoices({
  approve: choice({ label: "Approve", style: "success" }),
  replan: choice({ label: "Replan", input: textInput({ name: "changes", prompt: "What should change?" }) }),
});
const request = () => ({ title: "T", subject: null, presentation: { summary: "S", blocks: [] } });
const ask = humanDecision({ audience: "operators", choices, request });

interface Input {
  readonly version: string;
}
const plan = compute({ run: ({ input }: NodeContext<Input>) => ({ steps: [input.version] }) });

describe("types of outputs", () => {
  it("a compute node's output is what run returns, awaited", () => {
    expectTypeOf<OutputOf<typeof plan>>().toEqualTypeOf<{ steps: string[] }>();
    const later = compute({ run: async () => 1 });
    expectTypeOf<OutputOf<typeof later>>().toEqualTypeOf<number>();
    expect(later.type).toBe("compute");
  });

  it("an answer has one member per choice, with its text under the input's name", () => {
    type Answer = HumanAnswer<typeof choices>;
    expectTypeOf<OutputOf<typeof ask>>().toEqualTypeOf<Answer>();
    expectTypeOf<Answer["choice"]>().toEqualTypeOf<"approve" | "replan">();
    expectTypeOf<Extract<Answer, { choice: "replan" }>["input"]>().toEqualTypeOf<{ readonly changes: string }>();
    expectTypeOf<Extract<Answer, { choice: "approve" }>["input"]>().toEqualTypeOf<undefined>();
  });

  it("an action knows its effect and its input", () => {
    action({
      effect: observedEffect("release", {
        observe: ({ input }: NodeContext<Input>) => ({ applied: input.version === "1" }) as const,
      }),
      run: ({ effect, input }) => {
        expectTypeOf(effect.idempotencyKey).toEqualTypeOf<string>();
        expectTypeOf(input).toEqualTypeOf<Input>();
      },
    });
  });
});

describe("types of the graph", () => {
  it("a definition knows the input its parser makes", () => {
    const workflow = defineWorkflow({
      name: "w",
      input: (given): Input => given as Input,
      title: ({ input }) => input.version,
      startAt: "plan",
      nodes: { plan, ask },
      edges: [{ from: "plan", to: "ask" }],
    });
    expectTypeOf(workflow.input).toEqualTypeOf<((given: unknown) => Input) | undefined>();
  });

  it("wrong names and wrong wiring do not compile", () => {
    const nodes = { plan, ask, done: compute({ run: () => null }) };
    const bad = (define: () => unknown): void =>
      expect(define).toThrowError(expect.objectContaining({ kind: "workflowInvalid" }));

    // @ts-expect-error startAt is no node
    bad(() => defineWorkflow({ name: "w", startAt: "nowhere", nodes, edges: [] }));
    // @ts-expect-error an edge to no node
    bad(() => defineWorkflow({ name: "w", startAt: "plan", nodes, edges: [{ from: "plan", to: "nowhere" }] }));
    const toNowhere = { from: "plan", switch: { on: "$.x", cases: { a: "no" } } } as const;
    // @ts-expect-error a case to no node
    bad(() => defineWorkflow({ name: "w", startAt: "plan", nodes, edges: [toNowhere] }));
    // @ts-expect-error nothing at all
    bad(() => humanDecisionEdge());
    // @ts-expect-error the arguments one by one
    bad(() => humanDecisionEdge("ask", choices, { approve: "done", replan: "plan" }));
    // @ts-expect-error no choices
    bad(() => humanDecisionEdge({ from: "ask", cases: { approve: "done", replan: "plan" } }));
    // @ts-expect-error no cases
    bad(() => humanDecisionEdge({ from: "ask", choices }));
    // @ts-expect-error no node
    bad(() => humanDecisionEdge({ choices, cases: { approve: "done", replan: "plan" } }));
    // @ts-expect-error a missing case
    bad(() => humanDecisionEdge({ from: "ask", choices, cases: { approve: "done" } }));
    // @ts-expect-error an extra case
    bad(() => humanDecisionEdge({ from: "ask", choices, cases: { approve: "done", replan: "plan", stop: "done" } }));
    const away = humanDecisionEdge({ from: "ask", choices, cases: { approve: "x", replan: "ask" } });
    // @ts-expect-error a case of a decision that leads to no node
    bad(() => defineWorkflow({ name: "w", startAt: "ask", nodes: { ask }, edges: [away] }));
    // @ts-expect-error an unknown choice as the default
    humanDecision({ audience: "a", choices, request, onTimeout: { afterMs: 1, response: { choice: "stop" } } });
    // @ts-expect-error a default without the text that its choice takes
    humanDecision({ audience: "a", choices, request, onTimeout: { afterMs: 1, response: { choice: "replan" } } });
  });

  it("a node that reads what another does not produce does not compile", () => {
    const wants = compute({
      run: ({ outputs }: NodeContext<Input, { plan: { steps: number } }>) => outputs.plan?.steps ?? 0,
    });
    const other = compute({ run: ({ input }: NodeContext<{ place: number }>) => input.place });
    const edges = [{ from: "plan", to: "next" }] as const;
    // @ts-expect-error plan produces {steps: string[]}
    defineWorkflow({ name: "w", startAt: "plan", nodes: { plan, next: wants }, edges });
    const input = (given: unknown): Input => given as Input;
    // @ts-expect-error next wants another input
    const wrong = defineWorkflow({ name: "w", input, startAt: "plan", nodes: { plan, next: other }, edges });
    expect(wrong.name).toBe("w");
    expect(action({ effect: idempotentEffect("x"), run: () => 1 }).effect.recovery).toBe("idempotent");
  });
});
