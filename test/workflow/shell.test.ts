// Shell nodes, over the test kit's host.
import { describe, expect, it } from "vitest";
import { startWorkflow, type TestRun } from "../../src/testing/index.ts";
import { compute, defineWorkflow, idempotentEffect, shell } from "../../src/workflow/index.ts";
import { run, single } from "./single.ts";

describe("shell", () => {
  const build = shell({ exec: () => ({ command: "make", args: ["all"] }) });

  it("gives its result, fails on an exit code, and says how", async () => {
    expect((await run(build, { shell: { node: { stdout: "done" } } })).output).toMatchObject({
      exitCode: 0,
      stdout: "done",
      truncated: [],
    });
    const failed = await run(build, { shell: { node: { exitCode: 3, stderr: "no rule" } } });
    expect(failed.output).toEqual({ outcome: "failed", error: "commandFailed" });
    expect(failed.result("node")?.error).toMatchObject({
      message: 'The command of node "node" ended with exit code 3.',
      details: { stderr: "no rule" },
    });
    const lost = await run(build, { shell: { node: { exitCode: null, startError: "ENOENT" } } });
    expect(lost.result("node")?.error?.message).toContain("could not be started: ENOENT");
  });

  it("is an effect: what is done is recorded first, and after a crash a person says what happened", async () => {
    let crashed = false;
    const first: TestRun = startWorkflow(single(build), {
      shell: () => {
        if (!crashed) first.crash();
        crashed = true;
        return {};
      },
    });
    await first.settled();
    expect(first.status).toBe("parked");
    first.assertEffect("node", { state: "ambiguous", request: { command: "make", args: ["all"] } });
    await first.settleEffect("node", "retry");
    expect(first.status).toBe("completed");
  });

  it("is stopped when its time is over, and is gone before the next node starts", async () => {
    let gone = false;
    const slow = shell({ timeoutMs: 1_000, exec: () => ({ command: "sleep" }) });
    const started = startWorkflow(
      defineWorkflow({
        name: "w",
        startAt: "node",
        nodes: { node: slow, next: compute({ run: () => gone }) },
        edges: [
          { from: "node", switch: { on: "$result.outcome", cases: { timed_out: "next", ok: "next", failed: "next" } } },
        ],
      }),
      {
        shell: async (_spec, { signal }) => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          gone = true;
          return {};
        },
      },
    );
    await started.clock.advance(999);
    expect(started.order).toEqual([]);
    await started.clock.advance(1);
    await started.settled();
    expect(started.steps[0]).toMatchObject({ outcome: "timed_out" });
    expect(started.output).toBe(true);
  });

  it("a command that asks for thirty minutes is not cut short by the default limit", async () => {
    const sleep = shell({
      effect: idempotentEffect("sleep"),
      exec: () => ({ command: "sleep", timeoutMs: 31 * 60_000 }),
    });
    const started = startWorkflow(single(sleep), {
      shell: async (_spec, { clock, signal }) => (await clock.sleep(30 * 60_000, signal), {}),
    });
    await started.clock.advance(30 * 60_000);
    await started.settled();
    expect(started.steps[0]).toMatchObject({ outcome: "ok" });
    const late = startWorkflow(single(sleep), {
      shell: async (_spec, { clock, signal }) => (await clock.sleep(32 * 60_000, signal), {}),
    });
    await late.clock.advance(31 * 60_000);
    await late.settled();
    expect(late.output).toEqual({ outcome: "timed_out", error: "nodeTimedOut" });
  });

  it("lines become updates; one that cannot be parsed or is refused changes nothing", async () => {
    const told = shell({
      exec: () => ({ command: "x" }),
      updates: {
        streams: ["stderr"],
        parseLine: (line) => {
          if (line === "bad") throw new Error("bad line");
          return { type: line === "wrong" ? "WRONG" : "line", key: "k", data: { line } };
        },
      },
    });
    const done = await run(told, {
      shell: (_spec, { line }) => {
        for (const text of ["one", "bad", "wrong", "two"]) line(text, "stderr");
        line("not read", "stdout");
        return {};
      },
    });
    expect(done.updates.map(({ data }) => data)).toEqual([{ line: "one" }, { line: "two" }]);
    expect(done.status).toBe("completed");
  });

  it("refuses a command of a wrong form before anything is recorded", async () => {
    const wrong = await run(shell({ exec: () => ({ command: "x", args: [1] as never }) }), { shell: () => ({}) });
    expect(wrong.effects).toEqual([]);
    expect(wrong.result("node")?.error?.message).toContain("args that are not all text");
  });
});
