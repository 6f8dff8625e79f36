/** What becomes of a run whose runner or server died, and of one that is paused, resumed or cancelled. */
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { isFinal } from "../../src/contracts/states.ts";
import type { Store } from "../../src/state/store.ts";
import {
  ASKING,
  becomeReady,
  claimNext,
  loopEntries,
  LOOP,
  openTemp,
  running,
  SOURCE,
  startRun,
  takeEpoch,
} from "./fixture.ts";

const actor = { type: "control", id: "me" } as const;
const control = (run: string): Parameters<Store["runs"]["pause"]>[0] => ({
  run,
  expectedRevision: null,
  receipt: null,
  actor,
});
const crash = { code: "HP412", kind: "runnerCrashed", message: "signal 9", remedy: "none" };

describe("a runner that ends", () => {
  it("is followed by another at once when it had made steps, which goes on where they end", async () => {
    const { store, clock } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 4) });
    expect(await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome: "crashed", error: crash })).toEqual({
      runId: claim.runId,
      queue: "queued",
      delayMs: 0,
    });
    await expect(store.runs.advance({ claim, first: 4, entries: loopEntries(4, 1) })).rejects.toMatchObject({
      kind: "claimLost",
    });

    const second = await claimNext(store, epoch);
    expect(second.command).toBe("resume");
    expect(second.sources).toEqual([
      { path: "/w/loop.workflow.ts", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    ]);
    const state = await becomeReady(store, second);
    expect(state.position).toEqual({ nodeId: "b", step: 4, visit: 2, interrupted: true });
    expect(state.steps).toEqual([
      ["a", "ok"],
      ["b", "ok"],
      ["c", "ok"],
      ["a", "ok"],
    ]);
    expect(state.results).toContainEqual({ nodeId: "c", outcome: "ok", output: { go: "again", step: 2 } });
    expect(state.visits).toEqual({ a: 2, b: 2, c: 1 });
    const { runNo } = store.read.runs.get(claim.runId);
    expect(store.read.runs.attempts(runNo).slice(-2)).toMatchObject([
      { nodeId: "b", visit: 2, attemptNumber: 1, status: "interrupted", step: null },
      { nodeId: "b", visit: 2, attemptNumber: 2, status: "running" },
    ]);
    expect(store.read.runs.runners(runNo)).toMatchObject([{ status: "crashed", error: crash }, { status: "ready" }]);

    // Again with a step made: the errors before are forgotten.
    await store.runs.advance({ claim: second.claim, first: 4, entries: loopEntries(4, 1) });
    const again = await store.runs.runnerEnded({
      runnerEpoch: second.claim.runnerEpoch,
      outcome: "crashed",
      error: crash,
    });
    expect(again.delayMs).toBe(0);
    expect(clock.now()).toBeGreaterThan(0);
  });

  it.each(["crashed", "exited"] as const)("is launched exactly once when it %s without progress", async (outcome) => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    expect(await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome, error: crash })).toMatchObject({
      queue: "parked",
    });
    expect(await store.runs.claim({ serverEpoch: epoch, runnerEpoch: "second" })).toBeNull();
    const run = store.read.runs.get(claim.runId);
    expect(run).toMatchObject({
      status: "running",
      parkReason: "runnerNoProgress",
      queueError: { kind: "runnerNoProgress" },
    });
    await store.runs.resume(control(claim.runId));
    expect((await claimNext(store, epoch)).claim.generation).toBe(2);
  });

  it("parks a run whose runner died before it was ready, unless the server stopped it", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    const first = await claimNext(store, epoch);
    expect(
      await store.runs.runnerEnded({ runnerEpoch: first.claim.runnerEpoch, outcome: "stopped", error: null }),
    ).toMatchObject({ queue: "queued", delayMs: 0 });
    const second = await claimNext(store, epoch);
    expect(
      await store.runs.runnerEnded({ runnerEpoch: second.claim.runnerEpoch, outcome: "crashed", error: crash }),
    ).toMatchObject({ queue: "parked" });
  });

  it("waits longer after each crash that only began an effect", async () => {
    const { store, path, clock } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    const delays: (number | null)[] = [];
    for (let i = 0; i < 8; i += 1) {
      const launch = await claimNext(store, epoch);
      await becomeReady(store, launch);
      raiseRevision(path, launch.claim.resourceNo);
      const { delayMs } = await store.runs.runnerEnded({
        runnerEpoch: launch.claim.runnerEpoch,
        outcome: "crashed",
        error: null,
      });
      delays.push(delayMs);
      if (delayMs !== null && delayMs > 0) {
        expect(await store.runs.claim({ serverEpoch: epoch, runnerEpoch: `early-${i}` })).toBeNull();
        expect(store.read.runs.nextDueAt()).toBe(clock.now() + delayMs);
      }
      clock.advance(delayMs ?? 0);
    }
    expect(delays).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
  });

  it("starts a runner again that was killed from outside without progress, twice, and then parks the run", async () => {
    const { store, clock } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    const after: (string | null)[] = [];
    for (let i = 0; i < 3; i += 1) {
      const launch = await claimNext(store, epoch);
      await becomeReady(store, launch);
      const { queue, delayMs } = await store.runs.runnerEnded({
        runnerEpoch: launch.claim.runnerEpoch,
        outcome: "crashed",
        error: crash,
        bySignal: true,
      });
      after.push(queue);
      clock.advance(delayMs ?? 0);
    }
    expect(after).toEqual(["queued", "queued", "parked"]);
  });

  it("changes nothing when it had let go before, and is not known when it never was", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    await store.runs.park({ claim, reason: "workflowSourceChanged", error: null });
    const ended = { runnerEpoch: claim.runnerEpoch, outcome: "crashed", error: crash } as const;
    expect(await store.runs.runnerEnded(ended)).toEqual({ runId: claim.runId, queue: "parked", delayMs: null });
    expect(store.read.runs.get(claim.runId).parkReason).toBe("workflowSourceChanged");
    expect(await store.runs.runnerEnded({ ...ended, runnerEpoch: "nobody" })).toEqual({
      runId: null,
      queue: null,
      delayMs: null,
    });
  });
});

describe("changed sources", () => {
  it("are refused when a started run goes on, and nothing is executed", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    await store.runs.pause(control(claim.runId));
    await store.runs.resume(control(claim.runId));
    const second = await claimNext(store, epoch);
    const changed = { kind: "workflowSourceChanged" };
    await expect(becomeReady(store, second, { ...LOOP, maxSteps: 5 })).rejects.toMatchObject(changed);
    const { definitionDigest } = second;
    const ready = {
      claim: second.claim,
      childId: "c",
      definition: LOOP,
      definitionDigest: definitionDigest as string,
      title: null,
    };
    const other = { path: "/w/loop.workflow.ts", content: Buffer.from("other"), sha256: "0".repeat(64) };
    await expect(store.runs.ready({ ...ready, sources: [other] })).rejects.toMatchObject(changed);
    const lying = {
      path: "/w/loop.workflow.ts",
      content: Buffer.from("other"),
      sha256: second.sources?.[0]?.sha256 as string,
    };
    await expect(store.runs.ready({ ...ready, sources: [lying] })).rejects.toMatchObject(changed);
    const more = { path: "/w/more.ts", content: SOURCE, sha256: lying.sha256 };
    await expect(store.runs.ready({ ...ready, sources: [more] })).rejects.toMatchObject(changed);
    expect(store.read.runs.get(claim.runId)).toMatchObject({ queueStatus: "starting", steps: 0 });
    // The claim still stands, so the server can park the run.
    await store.runs.park({ claim: second.claim, reason: "workflowSourceChanged", error: null });
    expect(store.read.runs.get(claim.runId)).toMatchObject({
      queueStatus: "parked",
      parkReason: "workflowSourceChanged",
    });
  });
});

describe("a new server", () => {
  it("makes what the last one had in hand claimable again, under a higher generation", async () => {
    const { store, path, clock } = openTemp();
    const first = await takeEpoch(store);
    const { claim } = await running(store, first);
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 2) });
    await startRun(store);
    const starting = await claimNext(store, first);
    const parked = await running(store, first);
    await store.runs.park({ claim: parked.claim, reason: "runnerNoProgress", error: null });
    await store.children.register({
      childId: "c1",
      kind: "runner",
      name: claim.runId,
      pid: 99,
      startIdentity: "x",
      epoch: first,
    });
    await store.idle();
    store.close();

    const again = openTemp({ path, clock }).store;
    const claimed = await again.server.claimEpoch({ serverId: "s2", pid: 2, startIdentity: "y" });
    const started = { epoch: first, pid: 4_711, startIdentity: "boot-1" };
    const previous = { ...started, released: false, heardAt: clock.now(), install: null };
    expect(claimed).toEqual({ epoch: first + 1, previous });
    expect(again.read.children.alive()).toMatchObject([{ childId: "c1", pid: 99, epoch: first }]);
    expect(await again.server.recover({ epoch: claimed.epoch })).toEqual({
      runnersOrphaned: 2,
      runsRequeued: 2,
      attemptsNotSent: 0,
      attemptsAmbiguous: 0,
    });
    expect(again.read.children.alive()).toEqual([]);
    // The one that had been executing goes first.
    const second = await claimNext(again, claimed.epoch);
    expect(second).toMatchObject({ command: "resume", claim: { runId: claim.runId, generation: 2 } });
    expect((await becomeReady(again, second)).position).toMatchObject({ nodeId: "c", step: 2 });
    expect(await claimNext(again, claimed.epoch)).toMatchObject({
      command: "start",
      claim: { runId: starting.claim.runId, generation: 2 },
    });
    expect(await again.runs.claim({ serverEpoch: claimed.epoch, runnerEpoch: "more" })).toBeNull();
    expect(again.read.runs.get(parked.claim.runId).parkReason).toBe("runnerNoProgress");
    // A second recovery of the same epoch leaves the living alone.
    expect(await again.server.recover({ epoch: claimed.epoch })).toMatchObject({ runnersOrphaned: 0, runsRequeued: 0 });
    expect(await again.runs.renew({ claims: [second.claim] })).toEqual({ lost: [] });
    expect((await again.verify()).problems).toEqual([]);
  });

  it("is told whether the last one ended in order", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    await store.server.heartbeat({ epoch });
    await store.server.release({ epoch });
    expect(store.read.server.state()).toMatchObject({
      epoch,
      serverId: "server-1",
      releasedAt: expect.any(Number) as number,
    });
    const next = await store.server.claimEpoch({ serverId: "s2", pid: 2, startIdentity: "y" });
    expect(next.previous).toMatchObject({ epoch, released: true });
    await expect(store.server.release({ epoch })).rejects.toMatchObject({ kind: "claimLost" });
    await expect(store.server.recover({ epoch })).rejects.toMatchObject({ kind: "claimLost" });
  });
});

describe("a person", () => {
  it("pauses a run in one command, and resumes it where it stood", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 1) });
    const paused = await store.runs.pause({ ...control(claim.runId), reason: "lunch" });
    expect(paused).toMatchObject({
      outcome: "accepted",
      stop: { runnerEpoch: claim.runnerEpoch },
      result: { runId: claim.runId, status: "paused" },
    });
    expect(store.read.runs.get(claim.runId)).toMatchObject({
      paused: true,
      queueStatus: "parked",
      parkReason: "paused",
    });
    expect(await store.runs.claim({ serverEpoch: epoch, runnerEpoch: "r" })).toBeNull();
    expect((await store.runs.pause(control(claim.runId))).result.revision).toBe(paused.result.revision);
    await store.runs.resume(control(claim.runId));
    const second = await claimNext(store, epoch);
    expect((await becomeReady(store, second)).position).toMatchObject({ nodeId: "b", step: 1, interrupted: true });
  });

  it("pauses a run that nobody has started, and it stays a start", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const runId = await startRun(store);
    expect((await store.runs.pause(control(runId))).stop).toBeNull();
    await store.runs.resume(control(runId));
    expect((await claimNext(store, epoch)).command).toBe("start");
  });

  it("cannot resume what is not paused, what waits, what has ended, or what must be settled first", async () => {
    const { store, path } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    await expect(store.runs.resume(control(claim.runId))).rejects.toMatchObject({ kind: "runState" });
    await store.runs.park({ claim, reason: "effectAmbiguous", error: null });
    addEffect(path, claim, "ambiguous", "ambiguous");
    await expect(store.runs.resume(control(claim.runId))).rejects.toMatchObject({
      kind: "runState",
      remedy: expect.stringContaining("effect settle effect-x") as string,
    });
    // A pause over it can be taken off, but does not start it.
    await store.runs.pause(control(claim.runId));
    await store.runs.resume(control(claim.runId));
    expect(store.read.runs.get(claim.runId)).toMatchObject({
      paused: false,
      queueStatus: "parked",
      parkReason: "effectAmbiguous",
      ambiguousEffects: 1,
    });
    await store.runs.cancel(control(claim.runId));
    for (const command of [store.runs.resume, store.runs.pause, store.runs.cancel]) {
      await expect(command(control(claim.runId))).rejects.toMatchObject({ kind: "runState" });
    }
  });

  it("cancels a run with all that hangs on it, in one command", async () => {
    const { store, path } = openTemp();
    const { claim } = await running(store, await takeEpoch(store), ASKING);
    addEffect(path, claim, "applying", "dispatching");
    const cancelled = await store.runs.cancel({ ...control(claim.runId), reason: "wrong branch" });
    expect(cancelled).toMatchObject({ result: { status: "cancelled" }, stop: { runnerEpoch: claim.runnerEpoch } });
    const run = store.read.runs.get(claim.runId);
    expect(run).toMatchObject({
      status: "cancelled",
      queueStatus: "done",
      ambiguousEffects: 1,
      finishedAt: expect.any(Number) as number,
    });
    expect(isFinal("run", run.status)).toBe(true);
    expect(store.read.runs.attempts(run.runNo)).toMatchObject([{ nodeId: "plan", status: "cancelled" }]);
    expect(store.read.runs.runners(run.runNo)).toMatchObject([{ status: "cancelled" }]);
    await expect(store.runs.advance({ claim, first: 0, entries: loopEntries(0, 1) })).rejects.toMatchObject({
      kind: "claimLost",
    });
    expect((await store.verify()).problems).toEqual([]);
  });

  it("is refused when the run has moved on from the revision that was seen", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    const { revision } = store.read.runs.get(claim.runId);
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 1) });
    await expect(store.runs.cancel({ ...control(claim.runId), expectedRevision: revision })).rejects.toMatchObject({
      kind: "revisionConflict",
    });
    expect((await store.runs.cancel({ ...control(claim.runId), expectedRevision: revision + 1 })).outcome).toBe(
      "accepted",
    );
  });
});

/** What an effect's reservation does to the run's revision. */
function raiseRevision(path: string, resourceNo: number): void {
  const db = new Database(path);
  db.prepare("UPDATE resources SET revision = revision + 1 WHERE resource_no = ?").run(resourceNo);
  db.close();
}

function addEffect(path: string, claim: { runNo: number; resourceNo: number }, status: string, attempt: string): void {
  const db = new Database(path);
  db.prepare(
    `INSERT INTO effects (effect_id, short_id, effect_no, resource_no, purpose, effect_type, idempotency_key, request, request_digest, run_no, node_id, recovery,
       status, attempt_count, next_attempt_at, created_at) VALUES ('effect-x', 'e-x', 1, ?, 'action', 'act', 'k', '{}', 'd', ?, 'act', 'manual', ?, 1, 0, 0)`,
  ).run(claim.resourceNo, claim.runNo, status);
  db.prepare(
    "INSERT INTO effect_attempts (effect_no, attempt_number, owner_id, state, recorded_at) VALUES (1, 1, 'r', ?, 0)",
  ).run(attempt);
  db.close();
}
