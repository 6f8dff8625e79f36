/** Claims and receipts: who may write, and that a repeated request is executed once. */
import { describe, expect, it } from "vitest";
import { LEASE } from "../../src/contracts/limits.ts";
import type { Receipt } from "../../src/state/receipts.ts";
import { sha256 } from "../../src/state/hash.ts";
import { becomeReady, claimNext, loopEntries, openTemp, running, startRun, takeEpoch } from "./fixture.ts";

const actor = { type: "control", id: "me" } as const;

describe("a claim", () => {
  it("renews after its expiry while nobody took over", async () => {
    const { store, clock } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    clock.advance(LEASE.claimMs * 10);
    expect(await store.runs.renew({ claims: [claim] })).toEqual({ lost: [] });
    clock.advance(LEASE.claimMs * 10);
    expect(await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 1) })).toEqual({ through: 0 });
  });

  it("rule 2: can never write again once a higher generation exists", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    await store.runs.pause({ run: claim.runId, expectedRevision: null, receipt: null, actor });
    await store.runs.resume({ run: claim.runId, expectedRevision: null, receipt: null, actor });
    const second = await claimNext(store, epoch);
    expect(second.claim.generation).toBe(claim.generation + 1);
    const lost = { kind: "claimLost", details: { reason: "generationChanged" } };
    await expect(store.runs.advance({ claim, first: 0, entries: loopEntries(0, 1) })).rejects.toMatchObject(lost);
    await expect(store.runs.finish({ claim, entry: loopEntries(0, 1)[0]! })).rejects.toMatchObject(lost);
    expect(await store.runs.renew({ claims: [claim, second.claim] })).toEqual({ lost: [claim.runnerEpoch] });
    expect(store.read.runs.get(claim.runId).steps).toBe(0);
  });

  it("ends when a higher server epoch exists, and when it was released", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    const other = await running(store, epoch);
    await store.runs.pause({ run: other.claim.runId, expectedRevision: null, receipt: null, actor });
    const entries = loopEntries(0, 1);
    await expect(store.runs.advance({ claim: other.claim, first: 0, entries })).rejects.toMatchObject({
      details: { reason: "missingAuthority" },
    });
    await takeEpoch(store, "server-2");
    await expect(store.runs.advance({ claim, first: 0, entries })).rejects.toMatchObject({
      details: { reason: "epochChanged" },
    });
    await expect(store.server.heartbeat({ epoch })).rejects.toMatchObject({ kind: "claimLost" });
    await expect(store.runs.claim({ serverEpoch: epoch, runnerEpoch: "late" })).rejects.toMatchObject({
      kind: "claimLost",
    });
  });

  it.each([
    ["another owner", { runnerEpoch: "somebody" }, "ownerChanged"],
    ["another token", { token: "guessed" }, "tokenChanged"],
    ["no lease at all", { resourceNo: 999 }, "missingAuthority"],
  ])("with %s is refused", async (_name, change, reason) => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    const forged = { ...claim, ...change };
    await expect(store.runs.advance({ claim: forged, first: 0, entries: loopEntries(0, 1) })).rejects.toMatchObject({
      kind: "claimLost",
      details: { reason },
    });
  });

  it("is given once: two claims at one instant get two runs or one nothing", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    const [first, second] = await Promise.all([
      store.runs.claim({ serverEpoch: epoch, runnerEpoch: "r-a" }),
      store.runs.claim({ serverEpoch: epoch, runnerEpoch: "r-b" }),
    ]);
    expect(first?.claim.runnerEpoch).toBe("r-a");
    expect(second).toBeNull();
  });
});

describe("a receipt", () => {
  const receipt = (key: string, payload: string): Receipt => ({
    clientId: "client-1",
    idempotencyKey: key,
    operation: "run.start",
    fingerprint: sha256(payload),
    serverEpoch: 1,
  });
  const request = (given: Receipt): Parameters<ReturnType<typeof openTemp>["store"]["runs"]["start"]>[0] => ({
    workflow: "w",
    workflowPath: "/w.ts",
    projectPath: "/",
    input: null,
    receipt: given,
  });

  it("lets one of two equal requests execute and gives the other its result", async () => {
    const { store } = openTemp();
    const [first, second] = await Promise.all([
      store.runs.start(request(receipt("k", "p"))),
      store.runs.start(request(receipt("k", "p"))),
    ]);
    expect([first.outcome, second.outcome]).toEqual(["accepted", "adopted"]);
    expect(second.result).toEqual(first.result);
    expect(store.read.runs.list({ limit: 10, before: null })).toHaveLength(1);
  });

  it("refuses a key with another payload or operation", async () => {
    const { store } = openTemp();
    await store.runs.start(request(receipt("k", "p")));
    await expect(store.runs.start(request(receipt("k", "other")))).rejects.toMatchObject({
      kind: "idempotencyConflict",
    });
    await expect(store.runs.start(request({ ...receipt("k", "p"), operation: "run.cancel" }))).rejects.toMatchObject({
      kind: "idempotencyConflict",
    });
    expect((await store.runs.start(request({ ...receipt("k", "other"), clientId: "client-2" }))).outcome).toBe(
      "accepted",
    );
  });

  it("survives the server and is not left by a command that failed", async () => {
    const { store, path } = openTemp();
    const { result } = await store.runs.start(request(receipt("k", "p")));
    await store.idle();
    store.close();
    const again = openTemp({ path }).store;
    expect(await again.runs.start(request(receipt("k", "p")))).toEqual({ outcome: "adopted", result });
    const cancel = {
      run: "nothing",
      expectedRevision: null,
      actor,
      receipt: { ...receipt("c", "c"), operation: "run.cancel" },
    };
    await expect(again.runs.pause(cancel)).rejects.toMatchObject({ kind: "runNotFound" });
    const paused = await again.runs.pause({ ...cancel, run: result.runId });
    expect(paused).toMatchObject({ outcome: "accepted", result: { status: "paused" } });
  });

  it("stops a runner only the first time", async () => {
    const { store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    const pause = {
      run: launch.claim.runId,
      expectedRevision: null,
      actor,
      receipt: { ...receipt("p", "p"), operation: "run.pause" },
    };
    expect((await store.runs.pause(pause)).stop).toEqual({ runnerEpoch: launch.claim.runnerEpoch });
    expect(await store.runs.pause(pause)).toMatchObject({ outcome: "adopted", stop: null });
    await expect(becomeReady(store, launch)).rejects.toMatchObject({ kind: "claimLost" });
  });
});
