// Deleting old runs: what keeps a run, and that what goes takes everything of its own and nothing of others with it.
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";

import { previewPrune, pruneFile } from "../../src/state/maintenance/index.ts";
import type { Store } from "../../src/state/store.ts";
import { actor as person, openShop, ref } from "./managed/fixture.ts";
import { afterTest } from "../harness/cleanups.ts";
import { openTemp, running, startRun, takeEpoch, tempFolder, LOOP } from "./fixture.ts";

const DAY_MS = 86_400_000;
const actor = { type: "human", id: "ann" } as const;
const onRun = (run: string) => ({ run, expectedRevision: null, receipt: null, actor, reason: null });

/** A run that was cancelled before it began. */
async function ended(store: Store, input: unknown = { n: 1 }): Promise<string> {
  const run = await startRun(store, LOOP, input);
  await store.runs.cancel(onRun(run));
  return run;
}

async function named(path: string, before: number): Promise<string[]> {
  return (await previewPrune(path, before)).runs.map(({ runId }) => runId);
}

/** Prunes with a copy in a folder of its own. */
function prune(path: string, before: number): ReturnType<typeof pruneFile> {
  return pruneFile(path, before, join(tempFolder(), "backup.sqlite"));
}

/** Rows by table, of the tables that have any. */
function rowsOf(path: string): Record<string, number> {
  const db = new Database(path, { readonly: true });
  afterTest(() => db.close());
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .pluck()
    .all() as string[];
  const counts = tables.map(
    (name) => [name, db.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number] as const,
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

describe("what can go", () => {
  it("is a run that ended before the time, not one that ended later or goes on", async () => {
    const { clock, path, store } = openTemp();
    const old = await ended(store);
    await startRun(store);
    clock.advance(DAY_MS);
    const before = clock.now();
    await ended(store);
    expect(await named(path, before)).toEqual([old]);
    expect(await named(path, before - DAY_MS)).toEqual([]);
    expect(await previewPrune(path, before)).toMatchObject({ applied: false, total: 1, kept: 2 });
  });

  it("is a run with all runs that it was restarted as, and none of them while one goes on or is young", async () => {
    const { clock, path, store } = openTemp();
    const first = await ended(store);
    const { result } = await store.runs.restart(onRun(first));
    const single = await ended(store);
    clock.advance(DAY_MS);
    expect(await named(path, clock.now())).toEqual([single]);
    await store.runs.cancel(onRun(result.runId));
    expect(await named(path, clock.now())).toEqual([single]);
    clock.advance(1);
    expect(await named(path, clock.now())).toEqual([first, result.runId, single]);
  });

  it.each([
    [
      "a resource manager asked for",
      "INSERT INTO managed_resource_workflows VALUES ('m', 'o', 'k', 'w', 'f', 1, 'succeeded', NULL, 0, 1)",
    ],
    [
      "has a follow-up that was not sent",
      "INSERT INTO workflow_follow_ups VALUES ('f', 1, 'r', 1, 'human', 'ann', '\"x\"', 'queued', NULL, 0, NULL)",
    ],
    [
      "has an effect in doubt",
      `INSERT INTO effects (effect_id, short_id, resource_no, purpose, effect_type, idempotency_key, request, request_digest,
        run_no, recovery, status, next_attempt_at, created_at) SELECT 'e', 'e-1', resource_no, 'action', 't', 'k', '{}', 'd', 1, 'manual', 'ambiguous', 0, 0 FROM runs WHERE run_no = 1`,
    ],
    [
      "has a lease",
      "UPDATE leases SET owner_id = 'x', token_hash = x'00', expires_at = 1 WHERE resource_no = (SELECT resource_no FROM runs WHERE run_no = 1)",
    ],
    ["has a process that was not seen to end", "UPDATE run_processes SET ended_at = NULL, outcome = NULL"],
  ])("is no run that %s", async (_what, sql) => {
    const { clock, path, store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    await store.runs.cancel(onRun(claim.runId));
    clock.advance(DAY_MS);
    const db = new Database(path);
    afterTest(() => db.close());
    if (sql.includes("run_processes"))
      db.prepare("INSERT INTO run_processes VALUES ('p', 1, ?, 1, 'shell', 1, 'i', 0, 1, 'exited')").run(
        claim.runnerEpoch,
      );
    expect(await named(path, clock.now())).toEqual([claim.runId]);
    expect(db.prepare(sql).run().changes).toBe(1);
    expect(await named(path, clock.now())).toEqual([]);
  });
});

describe("deleting", () => {
  it("leaves the database as if the run had never been, but for what the server keeps of itself", async () => {
    const { clock, path, store } = openTemp();
    const epoch = await takeEpoch(store);
    const before = rowsOf(path);
    const { claim } = await running(store, epoch);
    await store.runs.cancel(onRun(claim.runId));
    store.close();
    clock.advance(DAY_MS);
    expect(await prune(path, clock.now())).toMatchObject({ applied: true, total: 1, kept: 0, runIds: [claim.runId] });
    const after = rowsOf(path);
    delete after["child_processes"];
    expect(after).toEqual(before);
  });

  it("takes large values and files that nobody else has, and leaves those that are shared", async () => {
    const { clock, path, store } = openTemp();
    const shared = { text: "s".repeat(10_000) };
    await ended(store, shared);
    await ended(store, { text: "o".repeat(10_000) });
    await startRun(store, LOOP, shared);
    store.close();
    clock.advance(DAY_MS);
    expect(rowsOf(path)["blobs"]).toBe(2);
    await prune(path, clock.now());
    expect(rowsOf(path)).toMatchObject({ blobs: 1, runs: 1 });
    const again = openTemp({ path, clock });
    expect((await again.store.verify()).problems).toEqual([]);
  });

  it("takes what is left of a deleted resource with its effects and the runs that it asked for", async () => {
    const { apply, clock, due, path, store } = await openShop();
    const before = rowsOf(path);
    await apply("gone", { text: "g".repeat(10_000) });
    const { claim } = await due();
    const wish = { requestKey: "r", workflow: "loop", workflowPath: "/project/loop.workflow.ts", input: { n: 1 } };
    const { runId } = await store.managed.ensure({ claim, ...wish });
    const reserved = await store.managed.reserve({ claim, key: "e", kind: "file", request: {} });
    const { effectId } = reserved.record;
    await store.managed.settle({ claim, effectId, attempt: 1, outcome: "applied", externalRef: "x" });
    await store.managed.finish({ claim, generation: 1, durationMs: 1, end: { outcome: "settled" } });
    await store.managed.remove({ ...ref("gone"), receipt: null, actor: person });
    await apply("stays");
    await store.managed.finish({
      claim: (await due()).claim,
      generation: 1,
      durationMs: 1,
      end: { outcome: "settled" },
    });
    clock.advance(DAY_MS);
    const day = clock.now();
    // Its run goes on.
    expect(await previewPrune(path, day)).toMatchObject({ total: 0, resources: 0 });
    await store.runs.cancel(onRun(runId));
    for (const one of store.read.managed.due()) await store.managed.complete(one);
    // A resource that is there keeps its rows, and one that was deleted keeps them until its time has come.
    expect(await previewPrune(path, day - DAY_MS)).toMatchObject({ total: 0, resources: 0 });
    clock.advance(1);
    expect(await previewPrune(path, clock.now())).toMatchObject({ total: 1, resources: 1 });
    await store.managed.remove({ ...ref("stays"), receipt: null, actor: person });
    store.close();
    expect(await prune(path, clock.now())).toMatchObject({ applied: true, total: 1, resources: 1, runIds: [runId] });
    expect(rowsOf(path)).toMatchObject({ managed_resources: 1, resources: (before["resources"] ?? 0) + 1 });
    for (const table of ["effects", "managed_resource_workflows", "runs", "blobs"])
      expect(rowsOf(path)[table]).toBeUndefined();
    const again = openTemp({ path, clock });
    expect((await again.store.verify()).problems).toEqual([]);
  });

  it("deletes nothing when the copy cannot be made, or the database is not whole", async () => {
    const { clock, path, store } = openTemp();
    await ended(store);
    store.close();
    clock.advance(DAY_MS);
    const rows = rowsOf(path);
    await expect(pruneFile(path, clock.now(), join(tempFolder(), "none", "b"))).rejects.toMatchObject({
      kind: "backupFailed",
    });
    const db = new Database(path);
    db.prepare("UPDATE events SET recorded_at = 1").run();
    db.close();
    await expect(prune(path, clock.now())).rejects.toMatchObject({ kind: "storageBroken" });
    expect(rowsOf(path)).toEqual(rows);
  });
});
