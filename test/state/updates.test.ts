/** Updates of running nodes: their fence, their numbers and their room. */
import { describe, expect, it } from "vitest";
import { UPDATE } from "../../src/contracts/limits.ts";
import type { UpdateReceipt } from "../../src/contracts/update.ts";
import type { Launch } from "../../src/state/runs/claim.ts";
import type { Store } from "../../src/state/store.ts";
import { loopEntries, openTemp, running, takeEpoch } from "./fixture.ts";

const note = (key: string, data: object = {}): object => ({ type: "note", key, data });

function publish(store: Store, { claim }: Launch, change: object = {}): Promise<UpdateReceipt> {
  const input = { claim, step: 0, nodeId: "a", visit: 1, envelope: note("k") };
  return store.updates.publish({ ...input, ...change } as never);
}

describe("an update", () => {
  it("is accepted from the live attempt only: not of an earlier step, another visit, or a lost claim", async () => {
    const { store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    expect(await publish(store, launch)).toMatchObject({ seq: 0, type: "note", key: "k" });
    await expect(publish(store, launch, { visit: 2 })).rejects.toMatchObject({ kind: "updateRefused" });
    await expect(publish(store, launch, { nodeId: "b" })).rejects.toMatchObject({ kind: "updateRefused" });
    await store.runs.advance({ claim: launch.claim, first: 0, entries: loopEntries(0, 1) });
    await expect(publish(store, launch)).rejects.toMatchObject({ kind: "updateRefused" });
    const cancel = {
      run: launch.claim.runId,
      expectedRevision: null,
      receipt: null,
      actor: { type: "human", id: "x" },
    };
    await store.runs.cancel(cancel);
    await expect(publish(store, launch, { step: 1, nodeId: "b" })).rejects.toMatchObject({ kind: "claimLost" });
    expect(store.read.updates.counts(launch.claim.runNo)).toEqual({ updates: 1, current: 1 });
  });

  it("replaces the one before of its type and key, and is the same one when its source repeats it", async () => {
    const { store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    await publish(store, launch, { envelope: note("k", { n: 1 }) });
    const first = await publish(store, launch, { envelope: note("k", { n: 2 }), sourceId: "call-1" });
    expect(await publish(store, launch, { envelope: note("k", { n: 3 }), sourceId: "call-1" })).toEqual(first);
    expect(store.read.updates.current(launch.claim.runNo)).toMatchObject([
      { seq: 1, key: "k", data: { n: 2 }, nodeId: "a" },
    ]);
  });

  it("200 at once with the end of the node between them leave numbers without gaps", async () => {
    const { clock, store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    const all = Array.from({ length: 200 }, (_, n) => {
      clock.advance(60);
      if (n === 150) void store.runs.advance({ claim: launch.claim, first: 0, entries: loopEntries(0, 1) });
      return publish(store, launch, { envelope: note(`k${n}`) });
    });
    const settled = await Promise.allSettled(all);
    const numbers = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value.seq] : []));
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(settled.slice(150).every(({ status }) => status === "rejected")).toBe(true);
    expect(store.read.updates.counts(launch.claim.runNo).updates).toBe(numbers.length);
  });

  it("finds no room beside 1,024 others, and is admitted again as time passes", async () => {
    const { clock, store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    for (let n = 0; n < UPDATE.currentItems; n += 64) {
      clock.advance(10_000);
      await Promise.all(Array.from({ length: 64 }, (_, k) => publish(store, launch, { envelope: note(`k${n + k}`) })));
    }
    clock.advance(10_000);
    await expect(publish(store, launch, { envelope: note("one-more") })).rejects.toMatchObject({
      kind: "updateRefused",
      details: { limit: UPDATE.currentItems },
    });
    // A known key has its room; of a burst, a hundred and no more.
    const burst = await Promise.allSettled(
      Array.from({ length: 150 }, () => publish(store, launch, { envelope: note("k0") })),
    );
    expect(burst.filter(({ status }) => status === "fulfilled")).toHaveLength(UPDATE.burst);
    clock.advance(1_000);
    const next = await Promise.allSettled(
      Array.from({ length: 30 }, () => publish(store, launch, { envelope: note("k0") })),
    );
    expect(next.filter(({ status }) => status === "fulfilled")).toHaveLength(UPDATE.perSecond);
  });

  it("changes neither the revision nor the chain of its run", async () => {
    const { store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    const { revision } = store.read.runs.get(launch.claim.runId);
    await publish(store, launch);
    expect(store.read.runs.get(launch.claim.runId).revision).toBe(revision);
    expect((await store.verify()).problems).toEqual([]);
  });
});
