/**
 * Conformance rules (docs/conformance.md) that no other test shows whole: over a server in this process, with real runner
 * sessions and a real database file. Rules that have a test of their own elsewhere are named there.
 */
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LEASE } from "../../src/contracts/limits.ts";
import { makeWorld, type World } from "../server/runs/world.ts";
import { loopEntries, openTemp, running, takeEpoch } from "../state/fixture.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

const IMPORT = `import * as h from "holdpoint";\n`;
/** Its action has no end at the first attempt. */
const ACTS = `${IMPORT}export default h.defineWorkflow({ name: "acts", startAt: "first", nodes: {
  first: h.compute({ run: () => 1 }),
  act: h.action({ effect: h.idempotentEffect("act"), run: ({ effect }) => effect.attempt === 1 ? new Promise(() => {}) : "done" }),
  last: h.compute({ run: ({ outputs }) => outputs.act }),
}, edges: [{ from: "first", to: "act" }, { from: "act", to: "last" }] });`;

async function acting(): Promise<string> {
  world.put("acts.workflow.ts", ACTS);
  const run = await world.start("acts");
  await world.until(run, ({ effects }) => effects.some(({ status }) => status === "applying"), "the action");
  return run;
}

async function count(run: string, type: string): Promise<number> {
  return (await world.view(run)).timeline.filter((event) => event.type === type).length;
}

interface Standing {
  readonly run: string;
  readonly queue: string;
  readonly runners: number;
  readonly claimed: number;
}

/** How each run stands in the tables that must agree (CONTRACTS 2.5). */
function standings(path: string): Standing[] {
  const db = new Database(path, { readonly: true });
  try {
    const active = "SELECT count(*) FROM run_runners w WHERE w.run_no = r.run_no AND w.status IN ('starting', 'ready')";
    return db
      .prepare<[], Standing>(
        `SELECT r.status AS run, q.status AS queue, (${active}) AS runners, coalesce(l.owner_id IS NOT NULL, 0) AS claimed
         FROM runs r JOIN run_queue q USING (run_no) LEFT JOIN leases l USING (resource_no)`,
      )
      .all();
  } finally {
    db.close();
  }
}

function isContradiction({ claimed, queue, run, runners }: Standing): boolean {
  const working = queue === "starting" || queue === "running";
  if (working !== (runners === 1) || working !== (claimed === 1)) return true;
  const ended = ["completed", "failed", "timed_out", "cancelled"].includes(run);
  return ended !== (queue === "done") || (run === "waiting" && queue !== "parked");
}

it("rule 1: a protected write renews the exact claim in the same commit, and one that is refused renews nothing", async () => {
  const { clock, path, store } = openTemp();
  const { claim } = await running(store, await takeEpoch(store));
  const expiry = (): number => {
    const db = new Database(path, { readonly: true });
    const sql = "SELECT expires_at AS at FROM leases WHERE resource_no = ?";
    const { at } = db.prepare<[number], { at: number }>(sql).get(claim.resourceNo) as { at: number };
    db.close();
    return at;
  };
  clock.advance(LEASE.renewMs / 2);
  await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 1) });
  const renewed = expiry();
  expect(renewed).toBe(clock.now() + LEASE.claimMs);
  clock.advance(LEASE.renewMs / 2);
  const forged = { ...claim, token: "guessed" };
  const lost = { kind: "claimLost", details: { reason: "tokenChanged" } };
  await expect(store.runs.advance({ claim: forged, first: 1, entries: loopEntries(1, 1) })).rejects.toMatchObject(lost);
  expect(expiry()).toBe(renewed);
  expect(store.read.runs.get(claim.runId).steps).toBe(1);
});

it("rule 6, rule 7: a server that is lost at any frame is followed by one that goes on, and no rows contradict each other", async () => {
  let lostAt = 0;
  for (let at = 0; lostAt === at; at += 1) {
    let frames = 0;
    let lost = false;
    world.onRunner = (runner) => {
      runner.filter = () => {
        if (lost || frames++ < at) return true;
        lost = true;
        for (const each of world.runners) each.cut();
        return at % 2 === 0;
      };
    };
    world.put("work.workflow.ts", ACTS.replace("effect.attempt === 1", "false"));
    const run = await world.start("work");
    await world.until(run, ({ run: { finishedAt } }) => lost || finishedAt !== null);
    if (lost) {
      lostAt = at + 1;
      await world.crash();
      expect(standings(`${world.folder}/state.sqlite`).filter(isContradiction)).toEqual([]);
    }
    const done = await world.until(run, (view) => view.run.finishedAt !== null);
    expect([done.run.status, done.finalOutput, done.run.steps]).toEqual(["completed", "done", 3]);
    expect(done.effects).toMatchObject([{ status: "applied" }]);
    await world.until(run, () => standings(`${world.folder}/state.sqlite`).every((row) => !isContradiction(row)));
  }
  // ready, advance, reserve, settle, advance, finish
  expect(lostAt).toBeGreaterThan(4);
  expect((await world.store.verify()).problems).toEqual([]);
});

it("rule 8, L4: a run whose server and runner died while it was running can be cancelled, and can be resumed", async () => {
  const [one, other] = [await acting(), await acting()];
  // The next server's runners come no further than their start.
  world.onRunner = (runner) => {
    runner.filter = () => false;
  };
  await world.crash();
  await world.call("run.cancel", { run: one, reason: null });
  await world.call("run.pause", { run: other });
  expect([(await world.view(one)).run.status, (await world.view(other)).run.status]).toEqual(["cancelled", "paused"]);
  world.onRunner = () => undefined;
  await world.call("run.resume", { run: other });
  const done = await world.until(other, (view) => view.run.status === "completed");
  expect(done.finalOutput).toBe("done");
});

it("rule 17: pausing twice is one pause, whoever asks and with whatever key", async () => {
  const run = await acting();
  const [first, second] = await Promise.all([
    world.call("run.pause", { run }, { key: "k" }),
    world.call("run.pause", { run }, { key: "k" }),
  ]);
  expect([first.outcome, second.outcome]).toEqual(["accepted", "adopted"]);
  await world.call("run.pause", { run });
  expect([(await world.view(run)).run.status, await count(run, "run.paused")]).toEqual(["paused", 1]);
  expect(world.core.scheduler.active).toEqual([]);
  await world.call("run.resume", { run });
  await world.until(run, (view) => view.run.status === "completed");
});

it("rule 22: an interrupted effect is done again under the same key where that is harmless, and is in doubt where it is not", async () => {
  const run = await acting();
  world.runners.at(-1)?.kill();
  const done = await world.until(run, (view) => view.run.status === "completed");
  expect(done.effects).toMatchObject([{ status: "applied", attempts: 2 }]);

  world.put("acts.workflow.ts", ACTS.replace("idempotentEffect", "manualEffect"));
  const risky = await world.start("acts");
  await world.until(risky, ({ effects }) => effects.some(({ status }) => status === "applying"), "the action");
  world.runners.at(-1)?.kill();
  const doubt = await world.until(risky, (view) => view.run.status === "ambiguous");
  expect(doubt.effects).toMatchObject([{ status: "ambiguous", attempts: 1 }]);
});
