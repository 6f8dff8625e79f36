// Actions without an effect contract, and the updates of actions.
import { describe, expect, it } from "vitest";
import { startWorkflow } from "../../src/testing/index.ts";
import { action, idempotentEffect, manualEffect, outcomeUnknown } from "../../src/workflow/index.ts";
import { run, single } from "./single.ts";

describe("actions without an effect contract", () => {
  const slow = (effect?: ReturnType<typeof manualEffect>) =>
    action({
      ...(effect === undefined ? {} : { effect }),
      timeoutMs: 1_000,
      run: () => new Promise<never>(() => undefined),
    });

  it("time out as an outcome that can be routed", async () => {
    const undeclared = startWorkflow(single(slow()));
    await undeclared.clock.advance(1_000);
    expect((await undeclared.settled()).output).toEqual({ outcome: "timed_out", error: "nodeTimedOut" });
    undeclared.assertEffect("node", { state: "rejected" });
  });

  it("are in doubt after a crash, as a declared manual effect is after its time too", async () => {
    const declared = startWorkflow(single(slow(manualEffect("letter"))));
    await declared.clock.advance(1_000);
    expect((await declared.settled()).status).toBe("parked");
    const crashed = startWorkflow(single(slow()));
    await crashed.clock.advance(1);
    crashed.crash();
    expect((await crashed.settled()).status).toBe("parked");
    crashed.assertEffect("node", { state: "ambiguous" });
    const unknown = await run(
      action({
        run: () => {
          throw outcomeUnknown("the line broke");
        },
      }),
    );
    expect(unknown.status).toBe("parked");
  });

  it("what an action leaves running ends with it", async () => {
    let stopped = false;
    const leaving = action({ run: (context) => void context.runCommand({ command: "server" }) });
    const done = await run(leaving, {
      shell: async (_spec, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        stopped = true;
        return {};
      },
    });
    expect(done.status).toBe("completed");
    expect(stopped).toBe(true);
  });
});

describe("updates of an action", () => {
  it("carry on by themselves, are refused in excess, and after the attempt is over", async () => {
    let late: (() => Promise<unknown>) | undefined;
    const refusals: string[] = [];
    const busy = action({
      effect: idempotentEffect("busy"),
      run: async ({ publishUpdate }) => {
        late = () => publishUpdate({ type: "n", key: "k", data: {} });
        for (let i = 0; i < 102; i++) {
          await publishUpdate({ type: "n", key: "k", data: { i } }).catch((error: unknown) =>
            refusals.push((error as { kind: string }).kind),
          );
        }
      },
    });
    const done = await run(busy);
    expect(done.updates).toHaveLength(100);
    expect(done.updates.map(({ data }) => (data as { i: number }).i)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(refusals).toEqual(["updateRefused", "updateRefused"]);
    await expect(late?.()).rejects.toMatchObject({ kind: "updateRefused", message: expect.stringContaining("over") });
  });

  it("from an attempt that timed out are fenced", async () => {
    let refusal: unknown;
    const slow = action({
      timeoutMs: 1_000,
      run: async ({ publishUpdate, signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        refusal = await publishUpdate({ type: "n", key: "k", data: {} }).catch((error: unknown) => error);
      },
    });
    const started = startWorkflow(single(slow));
    await started.clock.advance(1_000);
    await started.settled();
    expect(refusal).toMatchObject({ kind: "updateRefused" });
    expect(started.updates).toEqual([]);
  });
});
