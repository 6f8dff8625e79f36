// Actions: nothing happens outside before it is reserved, and each contract recovers as it says.
import { describe, expect, it } from "vitest";
import { HoldpointError } from "../../src/contracts/errors.ts";
import type { EffectReservation } from "../../src/workflow/engine/index.ts";
import {
  action,
  compute,
  defineWorkflow,
  idempotentEffect,
  manualEffect,
  observedEffect,
  outcomeUnknown,
  type EffectContract,
  type Observation,
  type WorkflowDefinition,
} from "../../src/workflow/index.ts";
import { execute, MemoryHost } from "./memory-host.ts";

/** A workflow with one action, and how often it ran. */
function acting(
  effect: EffectContract | undefined,
  run: () => unknown = () => "done",
  timeoutMs: number | null = null,
): { workflow: WorkflowDefinition; runs: () => number } {
  let runs = 0;
  const act = action({
    ...(effect === undefined ? {} : { effect }),
    timeoutMs,
    run: () => {
      runs++;
      return run();
    },
  });
  return { workflow: defineWorkflow({ name: "w", startAt: "act", nodes: { act } }), runs: () => runs };
}

function hostWith(reservation: Partial<EffectReservation>): MemoryHost {
  const host = new MemoryHost();
  host.reservation = () => reservation;
  return host;
}

const throws = (error: unknown) => () => {
  throw error;
};
const seen = (observation: Observation) => observedEffect("x", { observe: () => observation });

describe("order of an action", () => {
  it("earlier steps are durable, then the effect is reserved, then it runs, then it is settled", async () => {
    const host = new MemoryHost();
    const open: string[] = [];
    host.durable = async () => void open.push(`barrier after ${host.entries.length}`);
    const workflow = defineWorkflow({
      name: "w",
      startAt: "a",
      nodes: {
        a: compute({ run: () => 1 }),
        act: action({
          effect: idempotentEffect("mail"),
          request: ({ outputs }) => ({ to: outputs.a }),
          run: ({ effect }) => {
            host.calls.push("run");
            return effect;
          },
        }),
        b: compute({ run: () => 2 }),
      },
      edges: [
        { from: "a", to: "act" },
        { from: "act", to: "b" },
      ],
    });
    await execute(workflow, { host });
    expect(host.calls).toEqual([
      "advance:a",
      "barrier",
      "reserve:act",
      "run",
      "settle:applied",
      "advance:act",
      "barrier",
      "finish:b",
    ]);
    expect(open).toEqual(["barrier after 1", "barrier after 2"]);
    expect(host.effects).toEqual([
      { step: 1, nodeId: "act", visit: 1, effectType: "mail", recovery: "idempotent", request: { to: 1 } },
    ]);
    const key = "run/mail/act/1";
    expect(host.settlements).toEqual([
      {
        effectId: `effect-${key}`,
        attempt: 1,
        outcome: "applied",
        result: { key, attempt: 1, idempotencyKey: `effect-${key}` },
      },
    ]);
  });

  it("an action without a contract is manual, and its request names its node", async () => {
    const { workflow } = acting(undefined);
    const { host } = await execute(workflow);
    expect(host.effects).toMatchObject([{ recovery: "manual", effectType: "action", request: { node: "act" } }]);
  });

  it("a reservation that is refused fails the node without running it", async () => {
    const host = new MemoryHost();
    host.reserveEffect = async () => {
      throw new HoldpointError("effectConflict", "another request");
    };
    const { runs, workflow } = acting(undefined);
    expect((await execute(workflow, { host })).end).toMatchObject({
      end: { status: "failed", error: { kind: "effectConflict" } },
    });
    expect(runs()).toBe(0);
  });
});

describe("what is known about an effect", () => {
  it("an applied one is not repeated: its result is the output", async () => {
    const { runs, workflow } = acting(manualEffect("x"));
    const { end, host } = await execute(workflow, { host: hostWith({ state: "applied", result: "earlier" }) });
    expect(end).toMatchObject({ end: { status: "completed" }, output: "earlier" });
    expect([runs(), host.settlements]).toEqual([0, []]);
  });

  it("a rejected one fails the node with the stored error", async () => {
    const error = new HoldpointError("nodeFailed", "no paper").toRecord();
    const { runs, workflow } = acting(manualEffect("x"));
    const { end } = await execute(workflow, { host: hostWith({ state: "rejected", error }) });
    expect(end).toMatchObject({ end: { status: "failed", error: { message: "no paper" } } });
    expect(runs()).toBe(0);
  });

  it("one that was rejected because its time was over has timed out again, not failed", async () => {
    const error = new HoldpointError("nodeTimedOut", "too slow").toRecord();
    const { workflow } = acting(idempotentEffect("x"));
    const { end } = await execute(workflow, { host: hostWith({ state: "rejected", error }) });
    expect(end).toMatchObject({ end: { status: "timed_out", error: { message: "too slow" } } });
  });

  it("an ambiguous one parks the run", async () => {
    const { runs, workflow } = acting(manualEffect("x"));
    const { end } = await execute(workflow, { host: hostWith({ state: "ambiguous" }) });
    expect(end).toEqual({ kind: "parked", reason: "effectAmbiguous" });
    expect(runs()).toBe(0);
  });

  it("an interrupted idempotent one runs again with its key and the next number", async () => {
    const { runs, workflow } = acting(idempotentEffect("x"));
    const { host } = await execute(workflow, { host: hostWith({ state: "repeat", attempt: 2 }) });
    expect(runs()).toBe(1);
    expect(host.settlements).toMatchObject([{ attempt: 2, outcome: "applied" }]);
  });
});

describe("an observed effect", () => {
  const observe = hostWith.bind(undefined, { state: "observe", attempt: 1 });

  it("that is found is not repeated", async () => {
    const { runs, workflow } = acting(seen({ applied: true, output: "found" }));
    const { end, host } = await execute(workflow, { host: observe() });
    expect([runs(), host.calls.slice(2, 3)]).toEqual([0, ["settle:applied"]]);
    expect(end).toMatchObject({ output: "found" });
  });

  it("that is not found is done as another attempt", async () => {
    const { runs, workflow } = acting(seen({ applied: false }));
    const { host } = await execute(workflow, { host: observe() });
    expect(runs()).toBe(1);
    expect(host.settlements.map(({ attempt, outcome }) => [outcome, attempt])).toEqual([
      ["notApplied", 1],
      ["applied", 2],
    ]);
  });

  it.each<[string, EffectContract]>([
    ["that cannot be told", seen({ applied: "unknown", reason: "no access" })],
    ["whose look throws", observedEffect("x", { observe: throws(new Error("no access")) })],
    ["whose look returns nonsense", observedEffect("x", { observe: () => ({}) as never })],
  ])("%s waits for a person", async (_sentence, effect) => {
    const { runs, workflow } = acting(effect);
    const { end, host } = await execute(workflow, { host: observe() });
    expect(end).toEqual({ kind: "parked", reason: "effectAmbiguous" });
    expect([runs(), host.settlements.map(({ outcome }) => outcome)]).toEqual([0, ["ambiguous"]]);
  });

  it("looks after a failure: what is there counts as done", async () => {
    const { workflow } = acting(seen({ applied: true, output: "there" }), throws(new Error("connection lost")));
    expect((await execute(workflow)).end).toMatchObject({ end: { status: "completed" }, output: "there" });
  });

  it("looks after a failure: what is not there failed", async () => {
    const { workflow } = acting(seen({ applied: false }), throws(new Error("refused")));
    const { end, host } = await execute(workflow);
    expect(end).toMatchObject({ end: { status: "failed", error: { message: 'Node "act" failed: refused' } } });
    expect(host.settlements).toMatchObject([{ outcome: "rejected" }]);
  });

  it("looks after its time is over, with a signal that is not aborted", async () => {
    const aborted: boolean[] = [];
    const effect = observedEffect("x", {
      observe: ({ signal }) => {
        aborted.push(signal.aborted);
        return { applied: false };
      },
    });
    const { workflow } = acting(effect, () => new Promise(() => undefined), 5);
    expect((await execute(workflow)).end).toMatchObject({ end: { status: "timed_out" } });
    expect(aborted).toEqual([false]);
  });
});

describe("failures of an action", () => {
  const hangs = (): Promise<never> => new Promise(() => undefined);

  it.each<[string, EffectContract, () => unknown, object, string[]]>([
    [
      "a throw of an idempotent effect fails the node",
      idempotentEffect("x"),
      throws(new Error("no")),
      { end: { status: "failed" } },
      ["rejected"],
    ],
    [
      "a throw of a manual effect fails the node",
      manualEffect("x"),
      throws(new Error("no")),
      { end: { status: "failed" } },
      ["rejected"],
    ],
    [
      "an unknown outcome of a manual effect waits for a person",
      manualEffect("x"),
      throws(outcomeUnknown("?")),
      { kind: "parked", reason: "effectAmbiguous" },
      ["ambiguous"],
    ],
    [
      "an unknown outcome of an idempotent effect fails the node",
      idempotentEffect("x"),
      throws(outcomeUnknown("?")),
      { end: { status: "failed" } },
      ["rejected"],
    ],
    [
      "an idempotent effect out of time has timed out",
      idempotentEffect("x"),
      hangs,
      { end: { status: "timed_out" } },
      ["rejected"],
    ],
    [
      "a manual effect out of time waits for a person",
      manualEffect("x"),
      hangs,
      { kind: "parked", reason: "effectAmbiguous" },
      ["ambiguous"],
    ],
    [
      "an output that cannot be stored fails the node, but the effect was applied",
      manualEffect("x"),
      () => () => 1,
      { end: { status: "failed", error: { kind: "notCanonical" } } },
      ["applied"],
    ],
  ])("%s", async (_sentence, effect, run, expected, outcomes) => {
    const { runs, workflow } = acting(effect, run, 20);
    const { end, host } = await execute(workflow);
    expect(end).toMatchObject(expected);
    expect(host.settlements.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(runs()).toBe(1);
  });
});
