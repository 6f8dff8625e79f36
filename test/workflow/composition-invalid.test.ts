// Workflows in workflows that cannot be: cycles, exits and mounts that do not fit.
import { describe, expect, it } from "vitest";
import {
  checkpoint,
  compute,
  defineWorkflow,
  defineWorkflowRegistry,
  includeWorkflow,
  snapshotOf,
} from "../../src/workflow/index.ts";
import { counter } from "./counter.ts";

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
