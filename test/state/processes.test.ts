// Process groups of nodes, and launches that reuse a process: what the store takes and what it refuses.
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../src/state/hash.ts";
import type { Launch } from "../../src/state/runs/claim.ts";
import type { Store } from "../../src/state/store.ts";
import { definitionDigest } from "../../src/workflow/rules/index.ts";
import {
  becomeReady,
  claimNext,
  LOOP,
  loopEntries,
  openTemp,
  running,
  SOURCE,
  startRun,
  takeEpoch,
} from "./fixture.ts";

const identity = "linux-proc-start:1";
const register = (
  store: Store,
  { claim }: Launch,
  more: { step?: number; nodeId?: string; pid?: number } = {},
): ReturnType<Store["processes"]["register"]> =>
  store.processes.register({
    claim,
    kind: "shell",
    step: 0,
    nodeId: "a",
    pid: 4_711,
    startIdentity: identity,
    ...more,
  });

describe("a group that a runner registers", () => {
  it("is known until its end is reported, once, by the launch that started it", async () => {
    const { store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    const { runnerEpoch } = launch.claim;
    const { processId } = await register(store, launch);
    expect(await register(store, launch)).toEqual({ processId });
    expect(store.read.processes.alive(runnerEpoch)).toMatchObject([
      { processId, kind: "shell", pid: 4_711, startIdentity: identity, outcome: null },
    ]);
    await store.processes.ended({ processId, runnerEpoch: "another", outcome: "code 1" });
    expect(store.read.processes.alive()).toHaveLength(1);
    await store.processes.ended({ processId, runnerEpoch, outcome: "code 0" });
    await store.processes.ended({ processId, runnerEpoch, outcome: "SIGKILL" });
    expect(store.read.processes.alive()).toEqual([]);
    expect(store.read.processes.of(launch.claim.runNo)).toMatchObject([{ outcome: "code 0" }]);
  });

  it("must work for the node that is being executed", async () => {
    const { store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    await expect(register(store, launch, { nodeId: "b" })).rejects.toMatchObject({ kind: "protocolRejected" });
    await expect(register(store, launch, { step: 1 })).rejects.toMatchObject({ kind: "protocolRejected" });
    await store.runs.advance({ claim: launch.claim, first: 0, entries: loopEntries(0, 1) });
    await expect(register(store, launch)).rejects.toMatchObject({ kind: "protocolRejected" });
    await register(store, launch, { nodeId: "b", step: 1 });
  });

  it("is refused when the claim is lost, and its end is still taken then", async () => {
    const { store } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    const { processId } = await register(store, launch);
    const run = launch.claim.runId;
    await store.runs.pause({ run, expectedRevision: null, receipt: null, actor: { type: "control", id: "me" } });
    await expect(register(store, launch, { pid: 5 })).rejects.toMatchObject({ kind: "claimLost" });
    await store.processes.ended({ processId, runnerEpoch: launch.claim.runnerEpoch, outcome: "ended" });
    expect(store.read.processes.alive()).toEqual([]);
  });
});

describe("a launch in a process that served others", () => {
  it("needs neither definition nor contents once they are approved, but their digests", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    const first = await running(store, epoch);
    await store.runs.runnerEnded({ runnerEpoch: first.claim.runnerEpoch, outcome: "stopped", error: null });
    const again = await claimNext(store, epoch);
    const sources = again.sources ?? [];
    const ready = { claim: again.claim, childId: "child", definitionDigest: definitionDigest(LOOP), title: null };
    await expect(
      store.runs.ready({ ...ready, sources: sources.map((source) => ({ ...source, sha256: "0".repeat(64) })) }),
    ).rejects.toMatchObject({ kind: "workflowSourceChanged" });
    await expect(store.runs.ready({ ...ready, definitionDigest: "sha256:other", sources })).rejects.toMatchObject({
      kind: "workflowSourceChanged",
    });
    expect(await store.runs.ready({ ...ready, sources })).toMatchObject({
      position: { nodeId: "a", interrupted: true },
    });
    expect(store.read.runs.source(sources[0]?.sha256 ?? "")).toEqual(SOURCE);
  });

  it("needs them at the first start", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    const { claim } = await claimNext(store, epoch);
    const ready = { claim, childId: "child", definitionDigest: definitionDigest(LOOP), title: null };
    const [path, sha256] = ["/w/loop.workflow.ts", "0".repeat(64)];
    await expect(store.runs.ready({ ...ready, sources: [] })).rejects.toMatchObject({ kind: "protocolRejected" });
    await expect(store.runs.ready({ ...ready, definition: LOOP, sources: [{ path, sha256 }] })).rejects.toMatchObject({
      kind: "protocolRejected",
    });
    await expect(becomeReady(store, { claim } as Launch)).resolves.toMatchObject({ position: { nodeId: "a" } });
  });

  it("whose process was gone before it began is due again at once, and is not counted against the run", async () => {
    const { store, clock } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    for (let round = 0; round < 3; round += 1) {
      const { claim } = await claimNext(store, epoch);
      const ended = await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome: "absent", error: null });
      expect(ended).toMatchObject({ queue: "queued", delayMs: 0 });
      expect(store.read.runs.dueAt(clock.now(), 5)).toEqual({ count: 1, next: null });
    }
  });

  it("of a run that was started through a link loads the file itself from then on", async () => {
    const { store } = openTemp();
    const epoch = await takeEpoch(store);
    await startRun(store);
    const { claim } = await claimNext(store, epoch);
    const digest = definitionDigest(LOOP);
    const source = { path: "/real/loop.workflow.ts", content: SOURCE };
    const sources = [{ ...source, sha256: sha256Hex(SOURCE) }];
    const workflowPath = source.path;
    await store.runs.ready({
      claim,
      childId: "c",
      definition: LOOP,
      definitionDigest: digest,
      sources,
      workflowPath,
      title: null,
    });
    await store.runs.runnerEnded({ runnerEpoch: claim.runnerEpoch, outcome: "stopped", error: null });
    expect((await claimNext(store, epoch)).workflowPath).toBe(workflowPath);
  });
});
