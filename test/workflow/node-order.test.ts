// The order in which nodes are listed: along the edges, not by the alphabet that the stored snapshot has.

import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import { nodesInOrder } from "../../src/workflow/rules/index.ts";

const node = { type: "compute", timeoutMs: null } as const;

test("follows the edges from the start, and a choice's branches as its author wrote them", () => {
  const choices = ["approve", "replan", "stop"];
  expect(
    nodesInOrder({
      startAt: "plan",
      nodes: {
        alone: node,
        ask: { ...node, type: "humanDecision", choices },
        deploy: node,
        aside: node,
        again: node,
        plan: node,
        verify: node,
      },
      edges: [
        { from: "again", to: "ask" },
        { from: "ask", switch: { on: "choice", cases: { approve: "deploy", replan: "again", stop: "aside" } } },
        { from: "deploy", to: "verify" },
        { from: "plan", to: "ask" },
      ],
    }),
  ).toEqual(["plan", "ask", "deploy", "verify", "again", "aside", "alone"]);
});

test("every node is there once, whatever the edges are", () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const edge = fc.record({ from: fc.constantFrom(...ids), to: fc.constantFrom(...ids, "gone") });
  fc.assert(
    fc.property(fc.array(edge, { maxLength: 20 }), fc.constantFrom(...ids), (edges, startAt) => {
      const nodes: DefinitionSnapshot["nodes"] = Object.fromEntries(ids.map((id) => [id, node]));
      const order = nodesInOrder({ edges, nodes, startAt });
      expect(order[0]).toBe(startAt);
      expect(order.toSorted()).toEqual(ids);
    }),
  );
});
