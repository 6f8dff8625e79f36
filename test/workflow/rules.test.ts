// The rules of the graph, case by case: where a step leads, what ends a run, and what is refused before anything runs.
import { describe, expect, it } from "vitest";
import type { DefinitionSnapshot, EdgeSnapshot, NodeSnapshot } from "../../src/contracts/definition.ts";
import type { NodeResult } from "../../src/contracts/protocol/runner.ts";
import {
  afterStep,
  checkDefinition,
  definitionDigest,
  definitionProblems,
  route,
} from "../../src/workflow/rules/index.ts";

const compute = { type: "compute", timeoutMs: null } as const;

function graph(edges: EdgeSnapshot[], more: Partial<DefinitionSnapshot> = {}): DefinitionSnapshot {
  const nodes = { a: compute, b: compute, c: compute, constructor: compute };
  return { schema: "holdpoint.definition-snapshot.v1", name: "g", startAt: "a", maxSteps: 100, nodes, edges, ...more };
}
const ok = (output: NodeResult["output"]): NodeResult => ({ nodeId: "a", outcome: "ok", output });
const error = { code: "HP404", kind: "nodeFailed", message: "boom", remedy: "r" };
const failed: NodeResult = { nodeId: "a", outcome: "failed", error };
const timedOut: NodeResult = { nodeId: "a", outcome: "timed_out", error };
const cancelled: NodeResult = { nodeId: "a", outcome: "cancelled" };
const on = (path: string, cases: Record<string, string>): EdgeSnapshot[] => [
  { from: "a", switch: { on: path, cases } },
];

/** "b" for the next node, "end", or "error". */
function leads(edges: EdgeSnapshot[], result: NodeResult): string {
  const to = route(graph(edges), "a", result);
  return to.kind === "next" ? to.nodeId : to.kind;
}

describe("where a step leads", () => {
  const plain: EdgeSnapshot[] = [{ from: "a", to: "b" }];
  it.each<[string, EdgeSnapshot[], NodeResult, string]>([
    ["a node without an edge ends the run", [], ok(1), "end"],
    ["a plain edge is followed after success", plain, ok(1), "b"],
    ["a plain edge is not followed after a failure", plain, failed, "end"],
    ["a plain edge is not followed after a timeout", plain, timedOut, "end"],
    ["a cancelled node is never routed", on("$result.outcome", { cancelled: "b" }), cancelled, "end"],
    ["$.f reads the output", on("$.f", { x: "b" }), ok({ f: "x" }), "b"],
    ["$output.f reads the output", on("$output.f", { x: "b" }), ok({ f: "x" }), "b"],
    ["$result.outcome is ok after success", on("$result.outcome", { ok: "b" }), ok(null), "b"],
    ["$result.outcome routes a failure", on("$result.outcome", { failed: "c" }), failed, "c"],
    ["$result.outcome routes a timeout", on("$result.outcome", { timed_out: "c" }), timedOut, "c"],
    ["$result reads the error", on("$result.error.kind", { nodeFailed: "c" }), failed, "c"],
    ["a switch over the output does not route a failure", on("$.f", { x: "b" }), failed, "end"],
    ["a number is compared as text", on("$.f", { "1.5": "b" }), ok({ f: 1.5 }), "b"],
    ["a boolean is compared as text", on("$.f", { false: "b" }), ok({ f: false }), "b"],
    ["a field inside a field is found", on("$.f.g", { x: "b" }), ok({ f: { g: "x" } }), "b"],
    ["a missing case is an error", on("$.f", { x: "b" }), ok({ f: "y" }), "error"],
    ["a missing field is an error", on("$.f", { x: "b" }), ok({}), "error"],
    ["null is no scalar", on("$.f", { null: "b" }), ok({ f: null }), "error"],
    ["an object is no scalar", on("$.f", { "[object Object]": "b" }), ok({ f: {} }), "error"],
    ["a list is no scalar", on("$.f", { x: "b" }), ok({ f: ["x"] }), "error"],
    ["an output without fields is an error", on("$.f", { x: "b" }), ok("x"), "error"],
    ["a missing case for a failure is an error", on("$result.outcome", { ok: "b" }), failed, "error"],
    ["an inherited property of the output is not found", on("$.constructor", { x: "b" }), ok({}), "error"],
    ["an inherited property of text is not found", on("$.f.length", { "1": "b" }), ok({ f: "x" }), "error"],
    ["an inherited property of the cases is not followed", on("$.f", { x: "b" }), ok({ f: "constructor" }), "error"],
    ["__proto__ is no case", on("$.f", { x: "b" }), ok({ f: "__proto__" }), "error"],
    [
      "a node may be called constructor",
      on("$.f", { constructor: "constructor" }),
      ok({ f: "constructor" }),
      "constructor",
    ],
  ])("%s", (_sentence, edges, result, expected) => {
    expect(leads(edges, result)).toBe(expected);
  });

  it("a routing error names the node, the path, what was seen and the cases", () => {
    const to = route(graph(on("$.f", { x: "b", y: "c" })), "a", ok({ f: "z" }));
    expect(to).toMatchObject({
      kind: "error",
      error: { kind: "routingFailed", message: 'After node "a", $.f is "z"; the cases are x, y.' },
    });
  });

  it("a routing error does not hide the error of the node itself", () => {
    const to = route(graph(on("$result.outcome", { ok: "b" })), "a", failed);
    expect(to.kind === "error" && to.error.message).toContain("The node itself ended failed: boom");
  });
});

describe("what ends a run", () => {
  it("success without an edge completes it", () => {
    expect(afterStep(graph([]), ok(1), 1)).toEqual({ kind: "end", status: "completed" });
  });
  it("an unrouted failure or timeout ends it with that outcome and error", () => {
    expect(afterStep(graph([]), failed, 1)).toEqual({ kind: "end", status: "failed", error });
    expect(afterStep(graph([]), timedOut, 1)).toEqual({ kind: "end", status: "timed_out", error });
    expect(afterStep(graph([]), cancelled, 1)).toEqual({ kind: "end", status: "cancelled" });
  });
  it("a routing error fails it", () => {
    expect(afterStep(graph(on("$.f", { x: "b" })), ok({}), 1)).toMatchObject({
      status: "failed",
      error: { kind: "routingFailed" },
    });
  });
  it("the step that uses up maxSteps may end the run but not start another node", () => {
    const limited = graph([{ from: "a", to: "b" }], { maxSteps: 3 });
    expect(afterStep(limited, ok(1), 2)).toEqual({ kind: "next", nodeId: "b" });
    expect(afterStep(limited, ok(1), 3)).toMatchObject({
      status: "failed",
      error: { kind: "maxSteps", details: { limit: 3, seen: 3, next: "b" } },
    });
    expect(afterStep(limited, { ...ok(1), nodeId: "b" }, 3)).toEqual({ kind: "end", status: "completed" });
  });
});

describe("what a definition may not be", () => {
  const chain: EdgeSnapshot[] = [
    { from: "a", to: "b" },
    { from: "b", to: "c" },
    { from: "c", to: "constructor" },
  ];
  const person: NodeSnapshot = { type: "humanDecision", timeoutMs: null, choices: ["yes", "no"] };

  it("a connected graph is accepted", () => {
    expect(definitionProblems(graph(chain))).toEqual([]);
  });

  it.each<[string, DefinitionSnapshot, string]>([
    ["an unknown start", graph(chain, { startAt: "z" }), 'startAt is "z", which is no node'],
    [
      "a start that only a prototype has",
      graph(chain, { startAt: "toString" }),
      'startAt is "toString", which is no node',
    ],
    ["an edge to an unknown node", graph([...chain.slice(0, 2), { from: "c", to: "z" }]), 'leads to "z"'],
    [
      "an edge to a property of the prototype",
      graph([...chain, { from: "constructor", to: "valueOf" }]),
      'leads to "valueOf"',
    ],
    [
      "an edge from an unknown node",
      graph([...chain, { from: "z", to: "a" }]),
      'edge from "z" leaves from an unknown node',
    ],
    ["two edges from one node", graph([...chain, { from: "a", to: "c" }]), 'edge from "a" is a second edge'],
    ["a node that nothing leads to", graph(chain.slice(0, 2)), 'node "constructor" cannot be reached from "a"'],
    [
      "a path that is none",
      graph([...chain, { from: "constructor", switch: { on: "f", cases: { x: "a" } } }]),
      'switches on "f"',
    ],
    [
      "a switch without cases",
      graph([...chain, { from: "constructor", switch: { on: "$.f", cases: {} } }]),
      "without cases",
    ],
    ["no nodes at all", graph([], { nodes: {} }), "nodes is empty"],
    ["a bad node id", graph([], { startAt: "1", nodes: { "1": compute } }), 'node "1" has an id'],
    [
      "a node named like the prototype",
      graph([], { startAt: "__proto__", nodes: JSON.parse('{"__proto__":{"type":"compute","timeoutMs":null}}') }),
      'node "__proto__" has an id',
    ],
    [
      "a choice without a case",
      graph(on("$.choice", { yes: "b" }), { nodes: { a: person, b: compute } }),
      "has no case for no",
    ],
    [
      "a case that nobody can choose",
      graph(on("$.choice", { yes: "b", no: "b", maybe: "b" }), { nodes: { a: person, b: compute } }),
      "has a case for maybe",
    ],
    [
      "a decision switched on another field",
      graph(on("$.answer", { yes: "b" }), { nodes: { a: person, b: compute } }),
      "is in $.choice",
    ],
  ])("%s is refused", (_sentence, definition, text) => {
    const problems = definitionProblems(definition).map(({ text: what, where }) => `${where} ${what}`);
    expect(problems.join("\n")).toContain(text);
    expect(() => checkDefinition(definition)).toThrowError(expect.objectContaining({ kind: "workflowInvalid" }));
  });

  it("a decision may be left by a plain edge or by its outcome", () => {
    const nodes = { a: person, b: compute };
    expect(definitionProblems(graph([{ from: "a", to: "b" }], { nodes }))).toEqual([]);
    expect(definitionProblems(graph(on("$result.outcome", { ok: "b" }), { nodes }))).toEqual([]);
  });
});

describe("the digest of a definition", () => {
  it("does not depend on the order in which nodes are written, but on everything else", () => {
    const one = graph([{ from: "a", to: "b" }], { nodes: { a: compute, b: compute } });
    const other = graph([{ from: "a", to: "b" }], { nodes: { b: compute, a: compute } });
    expect(definitionDigest(one)).toBe(definitionDigest(other));
    expect(definitionDigest(one)).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(definitionDigest({ ...one, maxSteps: 99 })).not.toBe(definitionDigest(one));
    expect(definitionDigest({ ...one, edges: [] })).not.toBe(definitionDigest(one));
  });
});
