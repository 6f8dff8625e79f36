/** Control of runs by an operator, and runs that a resource manager asks for. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ResourceClaim } from "../../../src/state/store.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

const IMPORT = `import * as h from "holdpoint";\n`;

/** Fails or completes as its input says; its parser doubles what it gets. */
const ONE = `${IMPORT}export default h.defineWorkflow({ name: "one", startAt: "a",
  input: (given) => ({ n: (given.n ?? 0) * 2, fail: given.fail }),
  nodes: { a: h.compute({ run: ({ input }) => { if (input.fail) throw new Error(input.fail); return input.n; } }) } });`;

/** An action of which nobody knows whether it happened, when its runner dies. */
const RISKY = `${IMPORT}export default h.defineWorkflow({ name: "risky", startAt: "act", nodes: {
  act: h.action({ effect: h.manualEffect("act"), run: () => new Promise(() => {}) }) } });`;

/** Waits for its operator. */
const HOLD = `${IMPORT}export default h.defineWorkflow({ name: "hold", startAt: "hold", nodes: {
  hold: h.checkpoint(), end: h.compute({ run: () => "end" }) }, edges: [{ from: "hold", to: "end" }] });`;

async function acting(run: string): Promise<void> {
  await world.until(run, (view) => view.effects.some(({ status }) => status === "applying"), "the action");
}

describe("restart", () => {
  it("makes one new run with the input that was given, linked both ways, however often it is asked for", async () => {
    world.put("one.workflow.ts", ONE);
    const run = await world.start("one", { n: 3 });
    await world.until(run, (view) => view.run.status === "completed");
    const { revision } = (await world.view(run)).run;
    const [first, second] = await Promise.all([
      world.call("run.restart", { run, reason: null }, { expectedRevision: revision, key: "a" }),
      world.call("run.restart", { run, reason: null }, { expectedRevision: revision, key: "b" }),
    ]);
    expect(second.result.runId).toBe(first.result.runId);
    expect([first.outcome, second.outcome]).toEqual(["accepted", "adopted"]);
    expect(first.result.runId).toMatch(/^restart-[0-9a-f]{40}-[0-9a-hjkmnp-tv-z]{8}$/);
    const again = await world.until(first.result.runId, (view) => view.run.status === "completed");
    // 6, not 12: the parser gets what was given, not what it made of it before.
    expect(again).toMatchObject({ finalOutput: 6, lineage: { restartOf: run, restartNumber: 1, restartedAs: null } });
    expect((await world.view(run)).lineage.restartedAs).toBe(first.result.runId);
    expect((await world.call("run.list", { limit: 10, before: null })).result.runs).toHaveLength(2);
  });

  it("is refused for a run that goes on, for another revision, and for one that failed exactly as before", async () => {
    world.put("hold.workflow.ts", HOLD);
    const open = await world.start("hold");
    await world.until(open, (view) => view.run.status === "waiting");
    expect(await world.refusal(world.call("run.restart", { run: open, reason: null }))).toBe("restartRefused");

    world.put("one.workflow.ts", ONE);
    const run = await world.start("one", { fail: "out of coffee" });
    const failed = await world.until(run, (view) => view.run.status === "failed");
    const other = { expectedRevision: failed.run.revision - 1 };
    expect(await world.refusal(world.call("run.restart", { run, reason: null }, other))).toBe("revisionConflict");
    const { result } = await world.call("run.restart", { run, reason: null });
    await world.until(result.runId, (view) => view.run.status === "failed");
    expect(await world.refusal(world.call("run.restart", { run: result.runId, reason: null }))).toBe("restartRefused");
  });

  it("waits until a person has settled what the old run did", async () => {
    world.put("risky.workflow.ts", RISKY);
    const run = await world.start("risky");
    await acting(run);
    await world.call("run.cancel", { run, reason: null });
    expect(await world.refusal(world.call("run.restart", { run, reason: null }))).toBe("restartRefused");
    const { effects } = await world.view(run);
    await world.call("effect.settle", { effect: effects[0]?.effectId ?? "", outcome: "notApplied", result: null });
    expect((await world.call("run.restart", { run, reason: null })).result.status).toBe("queued");
  });
});

describe("cancel", () => {
  it("makes an action that is being done uncertain, ends its process, and is done once per key", async () => {
    world.put("risky.workflow.ts", RISKY);
    const run = await world.start("risky");
    await acting(run);
    const [first, second] = await Promise.all([
      world.call("run.cancel", { run, reason: "enough" }, { key: "k" }),
      world.call("run.cancel", { run, reason: "enough" }, { key: "k" }),
    ]);
    expect([first.outcome, second.outcome]).toEqual(["accepted", "adopted"]);
    const view = await world.view(run);
    expect(view.run.status).toBe("cancelled");
    expect(view.effects).toMatchObject([
      { status: "ambiguous", settleWith: expect.stringContaining("effect settle") as string },
    ]);
    expect(view.processes.every(({ endedAt }) => endedAt !== null)).toBe(true);
    expect(world.core.scheduler.active).toEqual([]);
    expect(await world.refusal(world.call("run.cancel", { run, reason: "other" }, { key: "k" }))).toBe(
      "idempotencyConflict",
    );
    expect(await world.refusal(world.call("run.cancel", { run, reason: null }))).toBe("runState");
  });
});

describe("follow-ups", () => {
  it("are queued once per request in order, removed while unsent, and cancelled when the run comes to nothing", async () => {
    world.put("hold.workflow.ts", HOLD);
    const run = await world.start("hold");
    await world.until(run, (view) => view.run.status === "waiting");
    const first = await world.call("followUp.queue", { run, prompt: "/summarize it" }, { key: "f" });
    const again = await world.call("followUp.queue", { run, prompt: "/summarize it" }, { key: "f" });
    expect(again.result).toEqual(first.result);
    expect(first.result.followUpId).toMatch(/^follow-up-[0-9a-f]{40}$/);
    expect(await world.refusal(world.call("followUp.queue", { run, prompt: "other" }, { key: "f" }))).toBe(
      "idempotencyConflict",
    );
    expect(await world.refusal(world.call("followUp.queue", { run, prompt: "  " }))).toBe("followUpRefused");
    await world.call("followUp.queue", { run, prompt: "second" });
    await world.call("followUp.queue", { run, prompt: "third" });
    await world.call("followUp.remove", { run, followUp: "2" });
    expect(await world.refusal(world.call("followUp.remove", { run, followUp: "2" }))).toBe("followUpRefused");
    expect(await world.refusal(world.call("followUp.remove", { run, followUp: "9" }))).toBe("followUpRefused");
    await world.call("run.cancel", { run, reason: null });
    expect(
      (await world.view(run)).followUps.map(({ orderNumber, status, prompt }) => [orderNumber, status, prompt]),
    ).toEqual([
      [1, "cancelled", "/summarize it"],
      [2, "removed", "second"],
      [3, "cancelled", "third"],
    ]);
    expect(await world.refusal(world.call("followUp.queue", { run, prompt: "late" }))).toBe("followUpRefused");
  });

  it("are removed by who queued one or by a person only, and cancelled by a success when there is no session to send them to", async () => {
    world.put("hold.workflow.ts", HOLD);
    const run = await world.start("hold");
    await world.until(run, (view) => view.run.status === "waiting");
    const session = { kind: "session", sourceId: "s-1" } as const;
    const common = { run, expectedRevision: null, receipt: null };
    const { result } = await world.store.followUps.queue({
      ...common,
      prompt: "mine",
      requestId: "r",
      source: session,
    });
    expect((await world.view(run)).followUps).toMatchObject([{ status: "queued", source: "session:s-1" }]);
    const removal = { ...common, followUp: result.followUpId };
    const other = { kind: "session", sourceId: "s-2" } as const;
    expect(await world.refusal(world.store.followUps.remove({ ...removal, source: other }))).toBe("followUpRefused");
    await world.store.followUps.remove({ ...removal, source: session });
    await world.call("followUp.queue", { run, prompt: "nobody will take it" });
    await world.call("checkpoint.answer", { request: run, answer: null });
    await world.until(run, (view) => view.run.status === "completed");
    expect((await world.view(run)).followUps).toMatchObject([
      { status: "removed" },
      { status: "cancelled", reason: "the run has no Pi session to send it to" },
    ]);
  });
});

describe("a run that a manager asks for", () => {
  /** A pass of a resource, in which runs are asked for. */
  const passOf = async (): Promise<ResourceClaim> => {
    const ref = { projectPath: world.folder, manager: "deployments", key: "shop" };
    await world.store.managed.apply({
      ...ref,
      spec: {},
      initialStatus: {},
      lane: "test",
      source: "builtin:test@1",
      sources: [],
      expectedVersion: null,
      receipt: null,
      actor: { type: "human", id: "uid:1" },
    });
    const claimed = await world.store.managed.claim({
      lane: "test",
      reconcileId: "pass",
      serverEpoch: world.core.epoch,
      held: [],
    });
    if (claimed === null) throw new Error("nothing is due");
    return claimed.claim;
  };
  const request = (claim: ResourceClaim, input: object) => ({
    claim,
    requestKey: "roll-out-7",
    workflow: "one",
    workflowPath: `${world.folder}/one.workflow.ts`,
    input: input as never,
  });

  it("is one run for its key and input, observed while it goes on, and completed once it has ended", async () => {
    world.put("one.workflow.ts", ONE);
    const completed: string[] = [];
    const done = new Promise<void>((resolve) => {
      world.core.managed.onCompleted = (run) => {
        completed.push(`${run.requestKey} ${run.status}`);
        resolve();
      };
    });
    const claim = await passOf();
    const [first, second] = await Promise.all([
      world.core.managed.ensure(request(claim, { n: 1 })),
      world.core.managed.ensure(request(claim, { n: 1 })),
    ]);
    expect(second.runId).toBe(first.runId);
    expect(first).toMatchObject({ status: "pending", completedAt: null });
    expect(await world.refusal(world.core.managed.ensure(request(claim, { n: 2 })))).toBe("idempotencyConflict");
    await done;
    expect(completed).toEqual(["roll-out-7 succeeded"]);
    expect(world.core.managed.observe(claim.uid, "roll-out-7")).toMatchObject({
      runId: first.runId,
      status: "succeeded",
      attempts: 1,
      error: null,
    });
    expect(world.core.managed.observe(claim.uid, "other")).toBeNull();
    expect(world.store.read.managed.byOwner(claim.uid)).toHaveLength(1);
    expect((await world.call("run.list", { limit: 9, before: null })).result.runs).toHaveLength(1);
  });

  it("that failed says why, and one that was cancelled is interrupted; neither can be completed before its end", async () => {
    world.put("one.workflow.ts", ONE);
    const claim = await passOf();
    const failed = await world.core.managed.ensure(request(claim, { fail: "no" }));
    await world.until(failed.runId, (view) => view.run.status === "failed");
    await world.until(failed.runId, () => world.core.managed.observe(claim.uid, "roll-out-7")?.status === "failed");
    expect(world.core.managed.observe(claim.uid, "roll-out-7")?.error).toMatchObject({ kind: "nodeFailed" });

    world.put("hold.workflow.ts", HOLD);
    const asked = {
      ...request(claim, {}),
      requestKey: "k2",
      workflow: "hold",
      workflowPath: `${world.folder}/hold.workflow.ts`,
    };
    const held = await world.core.managed.ensure(asked);
    await world.until(held.runId, (view) => view.run.status === "waiting");
    expect(world.core.managed.observe(claim.uid, "k2")?.status).toBe("waiting");
    expect(await world.refusal(world.store.managed.complete({ requestId: held.requestId }))).toBe("runState");
    await world.call("run.cancel", { run: held.runId, reason: null });
    await world.until(held.runId, () => world.core.managed.observe(claim.uid, "k2")?.status === "interrupted");
  });

  it("that ended while no server ran is completed by the next one", async () => {
    world.put("one.workflow.ts", ONE);
    world.core.managed.stop();
    const claim = await passOf();
    const run = await world.core.managed.ensure(request(claim, { n: 1 }));
    await world.until(run.runId, (view) => view.run.status === "completed");
    expect(world.store.read.managed.due()).toHaveLength(1);
    await world.restart();
    await world.until(run.runId, () => world.core.managed.observe(claim.uid, "roll-out-7")?.status === "succeeded");
  });
});
