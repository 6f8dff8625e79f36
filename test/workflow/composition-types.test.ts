// The compiler checks composition and decisions for their author. Each @ts-expect-error below is a mistake that must not
// compile; the type check of the tests fails when one of them does.
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  action,
  agent,
  assistantMessage,
  checkpoint,
  compute,
  controlLoop,
  decision,
  decisionEdge,
  defineWorkflow,
  defineWorkflowRegistry,
  includedResult,
  includeWorkflow,
  notify,
  shell,
  type IncludedResult,
  type NodeContext,
  type OutputOf,
  type ShellResult,
} from "../../src/workflow/index.ts";

interface Given {
  readonly n: number;
}
const child = defineWorkflow({
  name: "child",
  input: (given: Given) => ({ n: given.n, doubled: given.n * 2 }),
  startAt: "pick",
  nodes: {
    pick: compute({ run: ({ input }: NodeContext<{ n: number; doubled: number }>) => ({ good: input.doubled > 2 }) }),
    good: compute({ run: () => ({ score: 1 }) }),
    bad: compute({ run: () => "why" }),
  },
  edges: [{ from: "pick", switch: { on: "$.good", cases: { true: "good", false: "bad" } } }],
  exits: { good: { from: "good" }, bad: { from: "bad", validate: (text: string) => ({ text }) } },
});
type Exits = { good: { score: number }; bad: { text: string } };
const fails = (define: () => unknown): void =>
  expect(define).toThrowError(expect.objectContaining({ kind: "workflowInvalid" }));

describe("types of composition", () => {
  it("a definition knows its exits and what is given to it", () => {
    expectTypeOf(child).toExtend<{ readonly name: string }>();
    const mounted = includeWorkflow(child, { input: () => ({ n: 1 }) });
    expectTypeOf<OutputOf<typeof mounted>>().toExtend<IncludedResult<Exits>>();
    expectTypeOf<OutputOf<typeof mounted>["exit"]>().toEqualTypeOf<"good" | "bad">();
    const see = compute({
      run: (context: NodeContext<null, { inner: IncludedResult<Exits> }>) => {
        expectTypeOf(includedResult(context, "inner", "good")).toEqualTypeOf<{ score: number }>();
        const result = includedResult(context, "inner");
        if (result.exit === "bad") expectTypeOf(result.output).toEqualTypeOf<{ text: string }>();
        // @ts-expect-error there is no such mount
        const wrongMount = (): unknown => includedResult(context, "other");
        // @ts-expect-error there is no such exit
        const wrongExit = (): unknown => includedResult(context, "inner", "done");
        return [wrongMount, wrongExit].length;
      },
    });
    expect(see.type).toBe("compute");
  });

  it("a wrong input for a child does not compile", () => {
    // @ts-expect-error n is a number
    includeWorkflow(child, { input: () => ({ n: "1" }) });
    // @ts-expect-error n is missing
    includeWorkflow(child, { input: () => ({}) });
    const registry = defineWorkflowRegistry({ child });
    includeWorkflow({ workflow: registry.ref("child") }, { input: () => ({ n: 1 }) });
    // @ts-expect-error n is a number, also by reference
    includeWorkflow({ workflow: registry.ref("child") }, { input: () => ({ n: "1" }) });
    // @ts-expect-error the registry has no such workflow
    expect(registry.ref("other").name).toBe("other");
  });

  it("wrong names of exits and mounts do not compile", () => {
    const nodes = { a: compute({ run: () => 1 }), b: compute({ run: () => 2 }) };
    const includes = { inner: includeWorkflow(child, { input: () => ({ n: 1 }) }) };
    const good = defineWorkflow({
      name: "w",
      startAt: "inner",
      nodes,
      includes,
      edges: [
        { from: "inner.good", to: "a" },
        { from: "inner.bad", to: "b" },
      ],
      exits: { a: { from: "a" }, b: { from: "b" } },
    });
    const outer = includeWorkflow(good);
    expectTypeOf<OutputOf<typeof outer>["exit"]>().toEqualTypeOf<"a" | "b">();
    const base = { name: "w", startAt: "inner", nodes, includes } as const;
    // @ts-expect-error the child has no exit "done"
    fails(() => defineWorkflow({ ...base, edges: [{ from: "inner.done", to: "b" }] }));
    // @ts-expect-error a mount is left through an exit
    fails(() => defineWorkflow({ ...base, edges: [{ from: "inner", to: "b" }] }));
    // @ts-expect-error there is no mount "other"
    fails(() => defineWorkflow({ name: "w", startAt: "other", nodes, includes, edges: [] }));
    // @ts-expect-error an exit leaves from a node or an exit of a mount
    fails(() => defineWorkflow({ ...base, nodes: {}, exits: { x: { from: "inner.done" } } }));
  });

  it("a node that reads another result of a mount than it gives does not compile", () => {
    const reads = compute({
      run: (context: NodeContext<any, { inner: { exit: "done"; output: string } }>) => context.outputs.inner?.output,
    });
    const includes = { inner: includeWorkflow(child, { input: () => ({ n: 1 }) }) };
    const edges = [{ from: "inner.good", to: "reads" }] as const;
    // @ts-expect-error the mount has the exits good and bad
    defineWorkflow({ name: "w", startAt: "inner", nodes: { reads }, includes, edges });
    const wants = includeWorkflow(child, {
      input: ({ outputs }: NodeContext<any, { a: Given }>) => outputs.a ?? { n: 0 },
    });
    const nodes = { a: compute({ run: () => "text" }) };
    // @ts-expect-error node a gives text
    defineWorkflow({ name: "w", startAt: "a", nodes, includes: { inner: wants }, edges: [{ from: "a", to: "inner" }] });
    expect(wants.type).toBe("include");
  });
});

describe("types of decisions", () => {
  const choices = { go: "it is time", wait: "it is not" } as const;

  it("the output has one of the choices in its field", () => {
    const decide = decision({ choices, prompt: "x" });
    expectTypeOf<OutputOf<typeof decide>["route"]>().toEqualTypeOf<"go" | "wait">();
    const list = decision({ choices: ["a", "b"], field: "next", prompt: "x" });
    expectTypeOf<OutputOf<typeof list>["next"]>().toEqualTypeOf<"a" | "b">();
    const checked = decision({ choices, prompt: "x", validate: ({ route }) => ({ route, n: 1 }) });
    expectTypeOf<OutputOf<typeof checked>>().toEqualTypeOf<{ route: "go" | "wait"; n: number }>();
  });

  it("missing and extra cases, and cases to no node, do not compile", () => {
    // @ts-expect-error a missing case
    fails(() => decisionEdge({ from: "d", choices, cases: { go: "a" } }));
    // @ts-expect-error an extra case
    fails(() => decisionEdge({ from: "d", choices, cases: { go: "a", wait: "b", stop: "c" } }));
    // @ts-expect-error a missing case of a list
    fails(() => decisionEdge({ from: "d", choices: ["x", "y"], cases: { x: "a" } }));
    const nodes = { d: decision({ choices, prompt: "x" }), a: compute({ run: () => 1 }) };
    const away = decisionEdge({ from: "d", choices, cases: { go: "a", wait: "nowhere" } });
    // @ts-expect-error a case to no node
    fails(() => defineWorkflow({ name: "w", startAt: "d", nodes, edges: [away] }));
    const fine = decisionEdge({ from: "d", choices, cases: { go: "a", wait: "a" } });
    expect(defineWorkflow({ name: "w", startAt: "d", nodes, edges: [fine] }).name).toBe("w");
  });

  it("a control loop's choices and nodes are known", () => {
    const loop = controlLoop({
      decide: "d",
      returnTo: "o",
      routes: { act: { to: "o", returns: ["o2"] }, stop: { to: "end", terminal: true } },
    });
    expectTypeOf(loop.choices).toEqualTypeOf<readonly ("act" | "stop")[]>();
    const both = { to: "x", terminal: true, returns: ["y"] } as const;
    // @ts-expect-error a terminal route returns
    fails(() => controlLoop({ decide: "d", returnTo: "o", routes: { both } }));
    const nodes = { d: decision({ choices: loop.choices, prompt: "x" }), o: compute({ run: () => 1 }) };
    // @ts-expect-error the loop leads to nodes that are not there
    fails(() => defineWorkflow({ name: "w", startAt: "o", nodes, edges: [{ from: "o", to: "d" }, ...loop.edges] }));
  });
});

describe("types of outputs", () => {
  it("each kind of node says what it gives", () => {
    const text = agent({ prompt: "x", expectedOutput: assistantMessage() });
    expectTypeOf<OutputOf<typeof text>>().toEqualTypeOf<string>();
    const checked = agent({
      prompt: "x",
      expectedOutput: "a number",
      validate: async (value: unknown) => Number(value),
    });
    expectTypeOf<OutputOf<typeof checked>>().toEqualTypeOf<number>();
    // @ts-expect-error visible text is not validated
    fails(() => agent({ prompt: "x", expectedOutput: assistantMessage(), validate: (value: unknown) => value }));
    // @ts-expect-error an agent needs to know what is expected
    fails(() => agent({ prompt: "x" }));
    const plain = shell({ exec: () => ({ command: "x" }) });
    expectTypeOf<OutputOf<typeof plain>>().toEqualTypeOf<ShellResult>();
    const parsed = shell({ exec: () => ({ command: "x" }), parse: ({ stdout }) => stdout.length });
    expectTypeOf<OutputOf<typeof parsed>>().toEqualTypeOf<number>();
    const answer = checkpoint<{ ok: boolean }>();
    expectTypeOf<OutputOf<typeof answer>>().toEqualTypeOf<{ ok: boolean }>();
    const told = notify({ kind: "final", message: "x" });
    expectTypeOf<OutputOf<typeof told>["index"]>().toEqualTypeOf<number>();
    action({
      run: ({ publishUpdate, runCommand }) => {
        expectTypeOf(runCommand).returns.resolves.toHaveProperty("exitCode");
        // @ts-expect-error an update has a type, a key and data
        return () => publishUpdate({ type: "x" });
      },
    });
  });
});
