// Steps that the host refuses are taken back with everything they changed, and done again.
import { describe, expect, it } from "vitest";
import { action, compute, defineWorkflow, idempotentEffect } from "../../src/workflow/index.ts";
import { engineOver, MemoryHost } from "./memory-host.ts";

/** count → count → … until 5, then end; what each visit saw is kept. */
function counting(): { workflow: ReturnType<typeof defineWorkflow>; seen: number[] } {
  const seen: number[] = [];
  const workflow = defineWorkflow({
    name: "w",
    startAt: "count",
    nodes: {
      count: compute({
        run: ({ outputs, state }) => {
          const before: number = outputs.count?.n ?? 0;
          if (state.steps.length !== before)
            throw new Error(`${state.steps.length} steps, but the output says ${before}`);
          seen.push(before);
          return { n: before + 1, again: before < 4 };
        },
      }),
      end: action({ effect: idempotentEffect("x"), run: ({ outputs }) => outputs.count.n }),
    },
    edges: [{ from: "count", switch: { on: "$.again", cases: { true: "count", false: "end" } } }],
  });
  return { workflow, seen };
}
const at = (step: number) => ({ nodeId: "count", step, visit: step + 1, interrupted: false });

describe("rewind", () => {
  it("at a barrier: the steps from there on run again and see what was before them", async () => {
    const { seen, workflow } = counting();
    const host = new MemoryHost();
    host.acknowledges = false;
    const engine = engineOver(workflow, host);
    let refused = false;
    host.durable = async () => {
      if (refused) return;
      refused = true;
      engine.acknowledge(1);
      engine.rewind(2, at(2), { count: 3 });
    };
    const end = await engine.run();
    expect(end).toMatchObject({ kind: "finished", end: { status: "completed" }, output: 5 });
    expect(seen).toEqual([0, 1, 2, 3, 4, 2, 3, 4]);
    expect(host.entries.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 2, 3, 4, 5]);
    expect(host.effects.map(({ visit }) => visit)).toEqual([1]);
  });

  it("to the very first step forgets everything", async () => {
    const { seen, workflow } = counting();
    const host = new MemoryHost();
    host.acknowledges = false;
    const engine = engineOver(workflow, host);
    let refused = false;
    host.durable = async () => {
      if (!refused) engine.rewind(0, at(0), {});
      refused = true;
    };
    expect(await engine.run()).toMatchObject({ output: 5 });
    expect(seen).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  });

  it("while an asynchronous node is at work: its result is dropped and its signal aborted", async () => {
    const host = new MemoryHost();
    host.acknowledges = false;
    let visits = 0;
    let aborted = false;
    const workflow = defineWorkflow({
      name: "w",
      startAt: "count",
      nodes: {
        count: compute({ run: () => 1 }),
        slow: compute({
          run: async ({ signal }) => {
            signal.addEventListener("abort", () => (aborted = true));
            if (++visits === 1) setImmediate(() => engine.rewind(0, at(0), {}));
            await new Promise((resolve) =>
              visits === 1 ? signal.addEventListener("abort", resolve) : setImmediate(resolve),
            );
            return visits;
          },
        }),
      },
      edges: [{ from: "count", to: "slow" }],
    });
    const engine = engineOver(workflow, host);
    expect(await engine.run()).toMatchObject({ output: 2 });
    expect(aborted).toBe(true);
    expect(host.order).toBe("count count slow");
  });

  it("beyond what was acknowledged is a breach of the conversation", async () => {
    const { workflow } = counting();
    const host = new MemoryHost();
    const engine = engineOver(workflow, host);
    host.durable = async () => engine.rewind(2, at(2), {});
    await expect(engine.run()).rejects.toMatchObject({ kind: "protocolRejected" });
  });

  it("an acknowledgement of steps that were never done is one too", () => {
    const engine = engineOver(counting().workflow, new MemoryHost());
    expect(() => engine.acknowledge(0)).toThrowError(expect.objectContaining({ kind: "protocolRejected" }));
  });
});
