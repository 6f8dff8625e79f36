// Notifications and checkpoints, and nodes that their host cannot execute.
import { describe, expect, it } from "vitest";
import { startWorkflow, type TestRun } from "../../src/testing/index.ts";
import { action, checkpoint, defineWorkflow, idempotentEffect, notify } from "../../src/workflow/index.ts";
import { run } from "./single.ts";

describe("notifications and checkpoints", () => {
  it("a notification is stored once, also when its step is repeated", async () => {
    let crashed = false;
    const workflow = defineWorkflow({
      name: "w",
      startAt: "tell",
      nodes: {
        tell: notify({ kind: "progress", message: ({ input }) => `hello ${input}`, audience: "ops" }),
        act: action({
          effect: idempotentEffect("x"),
          run: () => {
            if (!crashed) {
              crashed = true;
              started.crash();
            }
            return 1;
          },
        }),
        again: notify({ kind: "final", message: "bye" }),
      },
      edges: [
        { from: "tell", to: "act" },
        { from: "act", to: "again" },
      ],
    });
    const started: TestRun = startWorkflow(workflow, { input: "you" });
    await started.settled();
    expect(started.notifications.map(({ audience, index, kind, message }) => [kind, message, audience, index])).toEqual(
      [
        ["progress", "hello you", "ops", 0],
        ["final", "bye", undefined, 1],
      ],
    );
    expect(started.output).toEqual({ kind: "final", message: "bye", index: 1 });
    expect((await run(notify({ kind: "final", message: () => 7 as never }))).result("node")?.error?.message).toContain(
      "is number; it is text",
    );
  });

  it("a notification goes to the audience that a function gives, or to nobody in chat", async () => {
    const to = (audience: unknown): ReturnType<typeof run> =>
      run(notify({ kind: "final", message: "x", audience: () => audience as string, ifConfigured: true }));
    const told = async (audience: unknown): Promise<unknown> => (await to(audience)).notifications[0];
    expect(await told("ops")).toMatchObject({ audience: "ops", ifConfigured: true });
    expect(await told(null)).toMatchObject({ audience: undefined });
    expect((await to(7)).result("node")?.error?.message).toContain("The audience of node");
  });

  it("a checkpoint waits for any JSON, and its answer is its output", async () => {
    const asked = await run(checkpoint({ run: ({ input }) => ({ shown: input }), summary: () => "Look" }), {
      input: "this",
    });
    expect(asked.status).toBe("waiting");
    expect(asked.pending).toEqual({
      kind: "checkpoint",
      nodeId: "node",
      visit: 1,
      content: { shown: "this" },
      summary: "Look",
    });
    await asked.answer([1, { a: null }]);
    expect(asked.output).toEqual([1, { a: null }]);
    await expect(asked.answer(2)).rejects.toMatchObject({ kind: "runState" });
  });
});

describe("a host that cannot do something", () => {
  it("fails the nodes that need it, by name", async () => {
    const { execute } = await import("./memory-host.ts");
    const { end } = await execute(
      defineWorkflow({ name: "w", startAt: "a", nodes: { a: notify({ kind: "final", message: "x" }) } }),
    );
    expect(end).toMatchObject({
      end: {
        status: "failed",
        error: { kind: "unsupportedNode", message: expect.stringContaining('Notification "a"') },
      },
    });
  });
});
