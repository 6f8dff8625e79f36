/**
 * The conformance suite of the store's commands: what any engine behind `Store` must do, said without SQL. It uses nothing
 * but the interface, and opens a fresh store for each rule.
 */
import { describe, expect, it } from "vitest";
import type { StepEntry } from "../../src/contracts/protocol/runner.ts";
import type { AnswerSource } from "../../src/state/decisions/access.ts";
import type { Store } from "../../src/state/store.ts";
import { ACCESS, ANN, authored, BEA, DEPLOY, MAIN } from "./decisions/fixture.ts";
import { becomeReady, claimNext, loopEntries, LOOP, running, startRun, takeEpoch } from "./fixture.ts";

const actor = { type: "control", id: "me" } as const;
const control = (run: string): Parameters<Store["runs"]["pause"]>[0] => ({
  run,
  expectedRevision: null,
  receipt: null,
  actor,
});
const last = (step: number): StepEntry => ({
  step,
  nodeId: "end",
  outcome: "ok",
  output: "done",
  durationMs: 1,
  next: null,
});
const fingerprint = Buffer.alloc(32, 7);

/** `open` gives an empty store; the caller closes it after the test. */
export function storeConformance(open: () => Promise<Store>): void {
  describe("commands", () => {
    it("settle in order of arrival, and what they wrote can be read as soon as they have", async () => {
      const store = await open();
      const order: number[] = [];
      await Promise.all([1, 2, 3].map((n) => startRun(store, LOOP, n).then(() => void order.push(n))));
      expect(order).toEqual([1, 2, 3]);
      expect(store.read.runs.list({ limit: 10, before: null })).toHaveLength(3);
    });

    it("fail alone", async () => {
      const store = await open();
      const results = await Promise.allSettled([
        startRun(store),
        store.runs.cancel(control("nobody")),
        startRun(store),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(store.read.runs.counts()).toEqual({ queued: 2 });
    });

    it("execute once per idempotency key", async () => {
      const store = await open();
      const receipt = { clientId: "c", idempotencyKey: "k", operation: "run.start", fingerprint, serverEpoch: 1 };
      const input = { workflow: "w", workflowPath: "/w.ts", projectPath: "/", input: null, receipt };
      const [first, second] = await Promise.all([store.runs.start(input), store.runs.start(input)]);
      expect([first.outcome, second.outcome]).toEqual(["accepted", "adopted"]);
      expect(second.result).toEqual(first.result);
      const other = { ...input, receipt: { ...receipt, fingerprint: Buffer.alloc(32, 8) } };
      await expect(store.runs.start(other)).rejects.toMatchObject({ kind: "idempotencyConflict" });
      expect(store.read.runs.counts()).toEqual({ queued: 1 });
    });

    it("leave a chain that verifies", async () => {
      const store = await open();
      const { claim } = await running(store, await takeEpoch(store));
      await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 64) });
      const report = await store.verify();
      expect(report.problems).toEqual([]);
      expect(report.events).toBeGreaterThan(64);
    });
  });

  describe("epochs", () => {
    it("grow with every server, and fence the one before", async () => {
      const store = await open();
      const first = await takeEpoch(store);
      const second = await takeEpoch(store, "server-2");
      expect(second).toBe(first + 1);
      await expect(store.server.heartbeat({ epoch: first })).rejects.toMatchObject({ kind: "claimLost" });
      await expect(store.runs.claim({ serverEpoch: first, runnerEpoch: "r" })).rejects.toMatchObject({
        kind: "claimLost",
      });
      expect(await store.server.heartbeat({ epoch: second })).toBeNull();
    });

    it("make the work of the last server claimable under a higher generation", async () => {
      const store = await open();
      const { claim } = await running(store, await takeEpoch(store));
      await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 2) });
      const epoch = await takeEpoch(store, "server-2");
      expect(await store.server.recover({ epoch })).toMatchObject({ runnersOrphaned: 1, runsRequeued: 1 });
      const again = await claimNext(store, epoch);
      expect(again).toMatchObject({
        command: "resume",
        claim: { runId: claim.runId, generation: claim.generation + 1 },
      });
      expect((await becomeReady(store, again)).position).toEqual({ nodeId: "c", step: 2, visit: 1, interrupted: true });
      await expect(store.runs.advance({ claim, first: 2, entries: loopEntries(2, 1) })).rejects.toMatchObject({
        kind: "claimLost",
      });
    });
  });

  describe("claims", () => {
    it("go to one runner each, continuations before new starts", async () => {
      const store = await open();
      const epoch = await takeEpoch(store);
      const first = await running(store, epoch);
      await store.runs.advance({ claim: first.claim, first: 0, entries: loopEntries(0, 1) });
      await startRun(store);
      await store.runs.runnerEnded({ runnerEpoch: first.claim.runnerEpoch, outcome: "crashed", error: null });
      const order = [await claimNext(store, epoch), await claimNext(store, epoch)];
      expect(order.map(({ command }) => command)).toEqual(["resume", "start"]);
      expect(await store.runs.claim({ serverEpoch: epoch, runnerEpoch: "more" })).toBeNull();
    });
  });

  describe("a run", () => {
    it("is executed from start to end, each step once", async () => {
      const store = await open();
      const { claim } = await running(store, await takeEpoch(store));
      await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 2) });
      const stop: StepEntry = {
        step: 2,
        nodeId: "c",
        outcome: "ok",
        output: { go: "stop" },
        durationMs: 1,
        next: "end",
      };
      expect(await store.runs.advance({ claim, first: 2, entries: [stop] })).toEqual({ through: 2 });
      expect(await store.runs.finish({ claim, entry: last(3) })).toEqual({ status: "completed" });
      expect(store.read.runs.get(claim.runId)).toMatchObject({
        status: "completed",
        steps: 4,
        finalOutput: "done",
        queueStatus: "done",
      });
    });

    it("answers a frame that does not fit with a rewind, and takes the right one after it", async () => {
      const store = await open();
      const { claim } = await running(store, await takeEpoch(store));
      expect(await store.runs.advance({ claim, first: 1, entries: loopEntries(1, 1) })).toMatchObject({
        rewind: { from: 0, position: { nodeId: "a" } },
      });
      expect(await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 2) })).toEqual({ through: 1 });
    });

    it("is paused and resumed where it stood", async () => {
      const store = await open();
      const epoch = await takeEpoch(store);
      const { claim } = await running(store, epoch);
      expect((await store.runs.pause(control(claim.runId))).stop).toEqual({ runnerEpoch: claim.runnerEpoch });
      expect(await store.runs.claim({ serverEpoch: epoch, runnerEpoch: "r" })).toBeNull();
      await store.runs.resume(control(claim.runId));
      expect((await claimNext(store, epoch)).claim.runId).toBe(claim.runId);
    });

    it("ends once: of cancel and the last step at one instant the first wins", async () => {
      const store = await open();
      const { claim } = await running(store, await takeEpoch(store));
      const failed: StepEntry = { step: 0, nodeId: "a", outcome: "failed", durationMs: 1, next: null };
      const results = await Promise.allSettled([
        store.runs.cancel(control(claim.runId)),
        store.runs.finish({ claim, entry: failed }),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
      expect(store.read.runs.get(claim.runId).status).toBe("cancelled");
    });

    it("is not launched again when its runner achieved nothing", async () => {
      const store = await open();
      const epoch = await takeEpoch(store);
      const { claim } = await running(store, epoch);
      await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome: "crashed", error: null });
      expect(await store.runs.claim({ serverEpoch: epoch, runnerEpoch: "r" })).toBeNull();
      expect(store.read.runs.get(claim.runId)).toMatchObject({ queueStatus: "parked", parkReason: "runnerNoProgress" });
    });
  });

  describe("a decision", () => {
    const source = (actorId: string): AnswerSource => ({
      type: "channel",
      channel: MAIN,
      actorId,
      personId: null,
      eventId: `tap-${actorId}`,
      assurance: "remote",
    });

    it("of two answers at one instant takes the first, and continues its run once", async () => {
      const store = await open();
      const epoch = await takeEpoch(store);
      const { claim } = await running(store, epoch, DEPLOY);
      const { decisionId } = await store.decisions.request({
        claim,
        step: 0,
        nodeId: "ask",
        request: authored(),
        access: ACCESS,
      });
      expect(store.read.runs.get(claim.runId)).toMatchObject({ status: "waiting", queueStatus: "parked" });
      const answer = { decision: decisionId, requestDigest: null, access: ACCESS, receipt: null };
      const answers = await Promise.all([
        store.decisions.answer({ ...answer, choice: "approve", source: source(ANN) }),
        store.decisions.answer({ ...answer, choice: "stop", source: source(BEA) }),
      ]);
      expect(answers.map(({ result }) => result.kind)).toEqual(["accepted", "alreadyDecided"]);
      const next = await claimNext(store, epoch);
      expect(next).toMatchObject({ command: "continue", claim: { runId: claim.runId } });
      expect((await becomeReady(store, next, DEPLOY)).position).toMatchObject({ nodeId: "act", step: 1 });
      expect(store.read.runs.get(claim.runId).continuations).toBe(1);
      expect(await store.runs.claim({ serverEpoch: epoch, runnerEpoch: "r" })).toBeNull();
    });

    it("that is refused leaves nothing behind, and its run goes on executing", async () => {
      const store = await open();
      const { claim } = await running(store, await takeEpoch(store), DEPLOY);
      const request = authored({ audience: "nobody" });
      const asked = store.decisions.request({ claim, step: 0, nodeId: "ask", request, access: ACCESS });
      await expect(asked).rejects.toMatchObject({ kind: "audienceUnknown" });
      expect(store.read.runs.get(claim.runId)).toMatchObject({ status: "running", pendingDecision: null });
      expect(store.read.decisions.list({ all: true })).toEqual([]);
    });
  });

  describe("a child", () => {
    it("is alive from its registration until its end is recorded", async () => {
      const store = await open();
      const epoch = await takeEpoch(store);
      await store.children.register({
        childId: "c",
        kind: "adapter",
        name: "telegram:a",
        pid: 5,
        startIdentity: "s",
        epoch,
      });
      expect(store.read.children.alive()).toMatchObject([{ childId: "c", pid: 5, startIdentity: "s" }]);
      await store.children.ended({ childId: "c", outcome: "crashed", diagnostic: "boom" });
      await store.children.ended({ childId: "c", outcome: "stopped", diagnostic: null });
      expect(store.read.children.alive()).toEqual([]);
      expect(store.read.children.crashes(10)).toMatchObject([{ childId: "c", outcome: "crashed", diagnostic: "boom" }]);
    });
  });
}
