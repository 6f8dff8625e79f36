/** Managed resources: who changes what, and when the next pass is. */
import { describe, expect, it } from "vitest";
import { RESOURCE } from "../../../src/contracts/limits.ts";
import type { ConditionInput } from "../../../src/contracts/resource/model.ts";
import { sha256Hex } from "../../../src/state/hash.ts";
import { actor, LANE, openShop, ref, type Shop } from "./fixture.ts";

const READY: ConditionInput = { type: "Ready", status: true, reason: "Done" };

async function settle(shop: Shop, conditions: ConditionInput[] = [READY]): Promise<void> {
  const { claim, resource } = await shop.due();
  const end = { outcome: "settled", resourceManagerStatus: { phase: "done" }, conditions } as const;
  await shop.store.managed.finish({ claim, generation: resource.metadata.generation, durationMs: 3, end });
}

describe("applying", () => {
  it("makes a resource once; only another spec makes another generation, and each asks for a pass", async () => {
    const shop = await openShop();
    const first = await shop.apply("a");
    expect(first).toMatchObject({ generation: 1, outcome: "created" });
    await settle(shop);
    expect(await shop.claim()).toBeNull();
    expect(await shop.apply("a")).toMatchObject({ uid: first.uid, generation: 1, outcome: "unchanged" });
    await settle(shop);
    const changed = await shop.apply("a", { other: true });
    expect(changed).toMatchObject({ uid: first.uid, generation: 2, outcome: "changed" });
    expect(changed.resourceVersion).toBeGreaterThan(first.resourceVersion);
    // What was found for the first spec says nothing about the second.
    const [summary] = shop.store.read.managed.list({
      projectPath: "/project",
      manager: null,
      after: null,
      limit: 9,
    }).resources;
    expect(summary).toMatchObject({ ready: "unknown", readyReason: "NotObserved", observedGeneration: 1 });
  });

  it("for a version that is not the present one is refused", async () => {
    const shop = await openShop();
    const changed = { kind: "resourceChanged" };
    await expect(shop.apply("a", {}, { expectedVersion: 3 })).rejects.toMatchObject(changed);
    const { resourceVersion } = await shop.apply("a", {}, { expectedVersion: 0 });
    await expect(shop.apply("a", { b: 1 }, { expectedVersion: 0 })).rejects.toMatchObject(changed);
    expect(await shop.apply("a", { b: 1 }, { expectedVersion: resourceVersion })).toMatchObject({ generation: 2 });
  });

  it("refuses names, keys and specs beyond their limits, and names the limit and what it saw", async () => {
    const shop = await openShop();
    const invalid = { kind: "resourceInvalid" };
    await expect(shop.apply("a", {}, { manager: "Upper" })).rejects.toMatchObject(invalid);
    await expect(shop.apply(" a")).rejects.toMatchObject(invalid);
    await expect(shop.apply("k".repeat(RESOURCE.keyChars + 1))).rejects.toMatchObject({
      details: { limit: RESOURCE.keyChars, seen: RESOURCE.keyChars + 1 },
    });
    const large = "x".repeat(RESOURCE.valueBytes);
    await expect(shop.apply("a", large)).rejects.toMatchObject({ details: { seen: RESOURCE.valueBytes + 2 } });
    expect(await shop.apply("a", large.slice(2))).toMatchObject({ outcome: "created" });
  });

  it("stores what the manager consists of by its bytes, and no other bytes under its hash", async () => {
    const shop = await openShop();
    const content = Buffer.from("export default 1");
    const source = { path: "/m.ts", sha256: sha256Hex(content), content };
    await shop.apply("a", {}, { sources: [source] });
    expect((await shop.due()).sources).toEqual([{ path: "/m.ts", sha256: source.sha256 }]);
    const other = { ...source, content: Buffer.from("another") };
    await expect(shop.apply("b", {}, { sources: [other] })).rejects.toMatchObject({ kind: "managerSourceChanged" });
  });
});

describe("D7: two projects with a manager and a key of the same name", () => {
  it("never see each other's resources", async () => {
    const shop = await openShop();
    const here = await shop.apply("a", { n: 1 });
    const there = await shop.apply("a", { n: 2 }, { projectPath: "/other" });
    expect(there).toMatchObject({ outcome: "created" });
    expect(there.uid).not.toBe(here.uid);
    const list = (projectPath: string): string[] =>
      shop.store.read.managed
        .list({ projectPath, manager: null, after: null, limit: 9 })
        .resources.map(({ uid }) => uid);
    expect([list("/project"), list("/other"), list("/third")]).toEqual([[here.uid], [there.uid], []]);
    await shop.store.managed.remove({ ...ref("a", "/other"), receipt: null, actor });
    expect(shop.store.read.managed.detail(ref("a")).resource).toMatchObject({ spec: { n: 1 } });
    await expect(shop.store.managed.enqueue({ ...ref("a", "/other"), reason: "x" })).rejects.toMatchObject({
      kind: "resourceNotFound",
    });
  });
});

describe("a pass", () => {
  it("is one at a time, keeps the time of a condition that stays as it was, and drops one that it does not name", async () => {
    const shop = await openShop();
    await shop.apply("a");
    await settle(shop, [READY, { type: "Checked", status: "unknown", reason: "Later" }]);
    const before = shop.store.read.managed.detail(ref("a")).resource.status.conditions;
    shop.clock.advance(5_000);
    await shop.apply("a", { changed: 1 });
    const { claim } = await shop.due();
    expect(await shop.claim()).toBeNull();
    await shop.store.managed.finish({
      claim,
      generation: 2,
      durationMs: 1,
      end: { outcome: "requeueAfter", delayMs: 30_000, conditions: [{ ...READY, reason: "Still" }] },
    });
    const after = shop.store.read.managed.detail(ref("a"));
    expect(after.resource.status.conditions).toEqual([{ ...before[0], reason: "Still", observedGeneration: 2 }]);
    expect(after.queue).toMatchObject({ availableAt: shop.clock.now() + 30_000, failures: 0, reconciling: false });
    shop.clock.advance(29_999);
    expect(await shop.claim()).toBeNull();
    shop.clock.advance(1);
    expect((await shop.due()).reason).toBe("requeueAfter");
  });

  it("that fails comes again after 1 s, 2 s, 4 s … 60 s, each a fifth longer or shorter, and keeps the status", async () => {
    const shop = await openShop();
    await shop.apply("a");
    await settle(shop);
    await shop.store.managed.enqueue({ ...ref("a"), reason: "asked" });
    const error = { code: "HP458", kind: "reconcileFailed", message: "no", remedy: "" };
    const waits: number[] = [];
    for (let n = 0; n < 9; n += 1) {
      const { claim } = await shop.due();
      const { nextAt } = await shop.store.managed.finish({
        claim,
        generation: 1,
        durationMs: 1,
        end: { outcome: "failed", error },
      });
      waits.push((nextAt ?? 0) - shop.clock.now());
      // Events come in storms; they do not hurry it.
      await shop.store.managed.enqueue({ ...ref("a"), reason: "webhook" });
      expect(await shop.claim()).toBeNull();
      shop.clock.at = nextAt ?? 0;
    }
    for (const [n, wait] of waits.entries()) {
      const base = Math.min(60_000, 1_000 * 2 ** n);
      expect(wait).toBeGreaterThanOrEqual(base * 0.8);
      expect(wait).toBeLessThanOrEqual(base * 1.2);
    }
    const detail = shop.store.read.managed.detail(ref("a"));
    expect(detail.resource.status.conditions).toMatchObject([READY]);
    expect(detail.lastPass).toMatchObject({ outcome: "failed", error: { message: "no" } });
    // Nine times the same is one event.
    expect(detail.events.filter(({ type }) => type === "resource.failed")).toHaveLength(1);
    await shop.store.managed.enqueue({ ...ref("a"), reason: "asked", urgent: true });
    expect((await shop.due()).failures).toBe(0);
  });

  it("is followed by another one when something asked while it went on", async () => {
    const shop = await openShop();
    await shop.apply("a");
    const { claim } = await shop.due();
    await shop.store.managed.enqueue({ ...ref("a"), reason: "webhook" });
    const { nextAt } = await shop.store.managed.finish({
      claim,
      generation: 1,
      durationMs: 1,
      end: { outcome: "settled" },
    });
    expect(nextAt).toBe(shop.clock.now());
    expect((await shop.due()).reason).toBe("webhook");
  });

  it("L6: that lost its claim writes neither a result nor a failure nor a new time", async () => {
    const shop = await openShop();
    await shop.apply("a");
    const old = await shop.due();
    shop.clock.advance(RESOURCE.leaseMs);
    // A live child is not fenced by time alone.
    expect(await shop.claim([old.claim.managedNo])).toBeNull();
    const current = await shop.due();
    expect(current.claim.generation).toBe(old.claim.generation + 1);
    const before = shop.store.read.managed.detail(ref("a"));
    const error = { code: "HP458", kind: "reconcileFailed", message: "late", remedy: "" };
    const lost = { kind: "claimLost", details: { reason: "generationChanged" } };
    const { claim } = old;
    await expect(
      shop.store.managed.finish({ claim, generation: 1, durationMs: 1, end: { outcome: "failed", error } }),
    ).rejects.toMatchObject(lost);
    await expect(
      shop.store.managed.finish({ claim, generation: 1, durationMs: 1, end: { outcome: "settled" } }),
    ).rejects.toMatchObject(lost);
    await expect(shop.store.managed.reserve({ claim, key: "k", kind: "k", request: 1 })).rejects.toMatchObject(lost);
    await expect(shop.store.managed.finalizer({ claim, finalizer: "f", present: true })).rejects.toMatchObject(lost);
    expect(await shop.store.managed.renew({ claims: [claim, current.claim] })).toEqual([claim.managedNo]);
    expect(shop.store.read.managed.detail(ref("a"))).toEqual(before);
  });

  it("that expired is due again, but not to who holds it, whose lane waits for nothing of it", async () => {
    const shop = await openShop();
    await shop.apply("a");
    const { claim } = await shop.due();
    const later = shop.clock.now() + RESOURCE.leaseMs + 1;
    const { managed } = shop.store.read;
    expect(managed.dueAt(LANE, shop.clock.now(), 10)).toEqual({ count: 0, next: later - 1 });
    expect(managed.dueAt(LANE, later, 10)).toMatchObject({ count: 1 });
    expect(managed.dueAt(LANE, later, 10, [claim.managedNo])).toEqual({ count: 0, next: null });
  });

  it("of a server that is gone is free for the next one at once", async () => {
    const shop = await openShop();
    await shop.apply("a");
    const { claim } = await shop.due();
    const { epoch } = await shop.store.server.claimEpoch({ serverId: "next", pid: 1, startIdentity: "x" });
    await shop.store.server.recover({ epoch });
    const next = await shop.store.managed.claim({ lane: LANE, reconcileId: "next", serverEpoch: epoch, held: [] });
    expect(next?.claim.generation).toBe(claim.generation + 1);
    await expect(
      shop.store.managed.finish({ claim, generation: 1, durationMs: 1, end: { outcome: "settled" } }),
    ).rejects.toMatchObject({ kind: "claimLost" });
  });
});

describe("deletion", () => {
  it("takes a resource that nothing keeps at once, and a new one of its key is another", async () => {
    const shop = await openShop();
    const { uid } = await shop.apply("a");
    const done = await shop.store.managed.remove({ ...ref("a"), receipt: null, actor });
    expect(done.result).toEqual({ uid, deleted: true, finalizers: [] });
    expect(await shop.claim()).toBeNull();
    const again = await shop.apply("a");
    expect(again).toMatchObject({ outcome: "created", generation: 1 });
    expect(again.uid).not.toBe(uid);
  });

  it("waits for finalizers and for the pass that goes on, and takes no new spec meanwhile", async () => {
    const shop = await openShop();
    await shop.apply("a");
    const first = await shop.due();
    await shop.store.managed.finalizer({ claim: first.claim, finalizer: "worktree", present: true });
    await shop.store.managed.finish({ claim: first.claim, generation: 1, durationMs: 1, end: { outcome: "settled" } });
    expect((await shop.store.managed.remove({ ...ref("a"), receipt: null, actor })).result).toMatchObject({
      deleted: false,
      finalizers: ["worktree"],
    });
    await expect(shop.apply("a", { n: 2 })).rejects.toMatchObject({ kind: "resourceDeleting" });
    // What it says already only approves the manager's present files: one that cannot clean up can be mended.
    const again = { source: "builtin:things@2" };
    expect(await shop.apply("a", { key: "a" }, again)).toMatchObject({ outcome: "unchanged", generation: 1 });
    const cleaning = await shop.due();
    expect(cleaning.source).toBe("builtin:things@2");
    expect(cleaning.resource.metadata.deletionTimestamp).toBeDefined();
    const { claim } = cleaning;
    await expect(shop.store.managed.finalizer({ claim, finalizer: "more", present: true })).rejects.toMatchObject({
      kind: "resourceInvalid",
    });
    await shop.store.managed.finalizer({ claim, finalizer: "worktree", present: false });
    const done = await shop.store.managed.finish({ claim, generation: 1, durationMs: 1, end: { outcome: "requeue" } });
    expect(done).toEqual({ nextAt: null, failures: 0, deleted: true });
    expect(() => shop.store.read.managed.detail(ref("a"))).toThrow(/No resource "a"/);
  });
});

describe("an effect", () => {
  it("is reserved before it is done, looked for before it is done again, and settled once", async () => {
    const shop = await openShop();
    await shop.apply("a");
    const request = { key: "merge:1", kind: "merge", request: { head: "abc" } };
    const first = await shop.due();
    expect(await shop.store.managed.reserve({ claim: first.claim, ...request })).toMatchObject({
      state: "fresh",
      attempt: 1,
      record: { state: "pending", key: "merge:1", generation: 1 },
    });
    // The runner died in the middle.
    const error = { code: "HP460", kind: "resourceRunnerCrashed", message: "gone", remedy: "" };
    await shop.store.managed.finish({
      claim: first.claim,
      generation: 1,
      durationMs: 1,
      end: { outcome: "failed", error },
    });
    shop.clock.advance(5_000);
    const second = await shop.due();
    const seen = await shop.store.managed.reserve({ claim: second.claim, ...request });
    expect(seen).toMatchObject({ state: "observe", attempt: 1, record: { state: "indeterminate" } });
    const { effectId } = seen;
    // Nobody can tell yet; it stays so.
    const unclear = await shop.store.managed.settle({
      claim: second.claim,
      effectId,
      attempt: 1,
      outcome: "uncertain",
    });
    expect(unclear.record.state).toBe("indeterminate");
    const again = await shop.store.managed.settle({ claim: second.claim, effectId, attempt: 1, outcome: "notApplied" });
    expect(again).toMatchObject({ state: "fresh", attempt: 2 });
    const settled = await shop.store.managed.settle({
      claim: second.claim,
      effectId,
      attempt: 2,
      outcome: "applied",
      externalRef: "c0ffee",
    });
    expect(settled.record).toMatchObject({ state: "applied", externalRef: "c0ffee" });
    expect(await shop.store.managed.reserve({ claim: second.claim, ...request })).toMatchObject({ state: "settled" });
    await expect(
      shop.store.managed.reserve({ claim: second.claim, ...request, request: { head: "def" } }),
    ).rejects.toMatchObject({ kind: "effectConflict" });
    expect(shop.store.read.managed.detail(ref("a")).effects).toMatchObject([{ key: "merge:1", state: "applied" }]);
  });

  it("that a person settles wakes its resource; of one that is gone it stays undone", async () => {
    const shop = await openShop();
    await shop.apply("a");
    const { claim } = await shop.due();
    const { attempt, effectId } = await shop.store.managed.reserve({ claim, key: "k", kind: "mail", request: 1 });
    await shop.store.managed.settle({ claim, effectId, attempt, outcome: "uncertain" });
    await shop.store.managed.finish({ claim, generation: 1, durationMs: 1, end: { outcome: "settled" } });
    expect(await shop.claim()).toBeNull();
    const settleBy = (outcome: "applied" | "notApplied"): Promise<unknown> =>
      shop.store.effects.settle({ effect: effectId, outcome, result: null, receipt: null, actor });
    await settleBy("notApplied");
    const next = await shop.due();
    expect(next.reason).toBe("effectSettled");
    const once = await shop.store.managed.reserve({ claim: next.claim, key: "k", kind: "mail", request: 1 });
    expect(once).toMatchObject({ state: "fresh", attempt: 2 });
    await shop.store.managed.settle({ claim: next.claim, effectId, attempt: 2, outcome: "uncertain" });
    await shop.store.managed.finish({ claim: next.claim, generation: 1, durationMs: 1, end: { outcome: "settled" } });
    await shop.store.managed.remove({ ...ref("a"), receipt: null, actor });
    await settleBy("notApplied");
    expect(shop.store.read.effects.get(effectId).status).toBe("rejected");
  });
});

describe("the queue", () => {
  it("is made again from the resources, however much of it was lost", async () => {
    const shop = await openShop();
    for (const key of ["a", "b", "c"]) await shop.apply(key);
    for (const _ of ["a", "b", "c"]) await settle(shop);
    await shop.apply("b", { again: 1 });
    expect(shop.store.read.managed.counts()).toEqual({ resources: 3, queued: 1 });
    expect(await shop.store.managed.rebuild({ after: null })).toEqual({ queued: 2, next: null });
    expect(shop.store.read.managed.counts()).toEqual({ resources: 3, queued: 3 });
    expect(shop.store.read.managed.dueAt(LANE, shop.clock.now(), 9)).toMatchObject({ count: 3 });
  });
});
