// Sleeps in the engine: what counts as a time, what a sleep gives, and that a crash beside one repeats nothing.
import { describe, expect, it } from "vitest";
import { FakeClock, startWorkflow, type TestRun } from "../../src/testing/index.ts";
import { action, compute, defineWorkflow, idempotentEffect, sleep } from "../../src/workflow/index.ts";
import { run } from "./single.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2030, 0, 1);

describe("a sleep", () => {
  it("waits for its time on the clock, and gives when it was due and when it woke", async () => {
    const clock = new FakeClock(START);
    const asleep = await run(sleep({ ms: ({ input }) => Number(input) * HOUR, reason: () => "The next look" }), {
      input: 12,
      clock,
    });
    expect([asleep.status, asleep.pending]).toEqual([
      "waiting",
      { kind: "sleep", nodeId: "node", visit: 1, wakeAt: START + 12 * HOUR, reason: "The next look" },
    ]);
    await expect(asleep.answer("now")).rejects.toMatchObject({ kind: "runState" });
    await clock.advance(12 * HOUR - 1);
    expect(asleep.status).toBe("waiting");
    await clock.advance(1);
    expect([asleep.status, asleep.output]).toEqual([
      "completed",
      { dueAt: START + 12 * HOUR, wokeAt: START + 12 * HOUR },
    ]);
  });

  it("until a time that has passed does not wait", async () => {
    const clock = new FakeClock(START);
    const awake = await run(sleep({ until: START - HOUR }), { clock });
    expect(awake.output).toEqual({ dueAt: START, wokeAt: START });
  });

  it.each([
    ["a text", "soon"],
    ["less than nothing", -1],
    ["no number", Number.NaN],
    ["more than 366 days", 367 * 24 * HOUR],
  ])("fails the node for %s", async (_what, ms) => {
    const failed = await run(sleep({ ms: () => ms as number }));
    expect(failed.output).toEqual({ outcome: "failed", error: "sleepInvalid" });
  });

  it("needs one time, and no exit looks at what it gives", () => {
    expect(() => sleep({} as never)).toThrow("needs either ms or until");
    expect(() => sleep({ ms: 1, until: 2 })).toThrow("needs either ms or until");
    expect(() => sleep({ ms: "1 h" as never })).toThrow("needs a function ms");
    const define = (): unknown =>
      defineWorkflow({
        name: "w",
        startAt: "nap",
        nodes: { nap: sleep({ ms: 1 }) },
        exits: { done: { from: "nap", validate: () => true } },
      });
    expect(define).toThrow("waits for a time; put a compute node between");
  });

  it("in a loop is a visit each, and a crash before it neither repeats an action nor shortens the wait", async () => {
    let acted = 0;
    const workflow = defineWorkflow({
      name: "rounds",
      startAt: "act",
      nodes: {
        act: action({
          effect: idempotentEffect("act"),
          run: ({ effect }) => {
            if (effect.attempt === 1) acted += 1;
            if (acted === 2 && effect.attempt === 1) started.crash();
            return acted;
          },
        }),
        pause: sleep({ ms: HOUR }),
        again: compute({ run: ({ outputs }) => ({ more: Number(outputs["act"]) < 3, slept: outputs["pause"] }) }),
        end: compute({ run: ({ outputs }) => outputs["act"] as number }),
      },
      edges: [
        { from: "act", to: "pause" },
        { from: "pause", to: "again" },
        { from: "again", switch: { on: "$.more", cases: { true: "act", false: "end" } } },
      ],
    });
    const started: TestRun = startWorkflow(workflow, { clock: new FakeClock(START) });
    await started.clock.advance(3 * HOUR - 1);
    expect([started.status, started.pending?.wakeAt, started.pending?.visit]).toEqual(["waiting", START + 3 * HOUR, 3]);
    await started.clock.advance(1);
    expect([started.status, started.output, acted]).toEqual(["completed", 3, 3]);
    started.assertEffect("act", { visits: 3, state: "applied" });
  });
});
