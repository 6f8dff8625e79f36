// The commands that work on the whole database: beside a server that works, on copies, and on old runs.
import { copyFileSync, existsSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import { Scope } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope);
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

/** The one document of a command that worked. */
async function result<T>(args: string[]): Promise<T> {
  const { code, stdout, stderr } = await stage.cli([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return (JSON.parse(stdout) as { result: T }).result;
}

/** A run that was approved and is over, with nothing of it under way. */
async function ended(what: string): Promise<string> {
  const { card, run } = await stage.ask(what);
  await stage.ann.tap(card, "Approve");
  await stage.finished(run);
  await stage.quiet(run);
  return run;
}

test("verify finds the database in use whole, and a changed event in a copy", async () => {
  await ended("Verified");
  const report = await result<{ events: number; problems: string[] }>(["state", "verify"]);
  expect(report.events).toBeGreaterThan(5);
  expect(report.problems).toEqual([]);

  const copy = join(stage.home.dir, "copy.sqlite");
  await result(["state", "backup", copy]);
  const database = new Database(copy);
  const sql = "UPDATE events SET recorded_at = recorded_at + 1 WHERE event_type = 'run.queued'";
  expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
  database.close();
  const spoiled = await stage.cli(["state", "verify", copy]);
  expect(spoiled.code).toBe(EXIT.storage.code);
  expect(spoiled.stdout).toMatch(/not whole[\s\S]*- run \S+: event 0 does not fit the chain/);
});

test("backup makes a copy for its owner only, while runs go on, and never writes over a file", async () => {
  const { card, run } = await stage.ask("While it is copied");
  const target = join(stage.home.dir, "backup.sqlite");
  const report = await result<{ bytes: number; problems: string[] }>(["state", "backup", target]);
  expect(report.problems).toEqual([]);
  expect(statSync(target).mode & 0o777).toBe(0o600);
  expect((await stage.cli(["state", "verify", target])).code).toBe(0);
  await stage.ann.tap(card, "Approve");
  expect((await stage.finished(run)).run.status).toBe("completed");

  const again = await stage.cli(["state", "backup", target]);
  expect(again.code).toBe(EXIT.storage.code);
  expect(again.stderr).toContain("exists already");
  expect(statSync(target).size).toBe(report.bytes);
});

test("verify of a file refuses the one in use, by whatever path, and files that are none of ours", async () => {
  const link = join(stage.home.dir, "link.sqlite");
  symlinkSync(stage.home.database, link);
  const active = await stage.cli(["state", "verify", link]);
  expect([active.code, active.stderr]).toEqual([EXIT.usage.code, expect.stringContaining("in use")]);
  const foreign = join(stage.home.dir, "foreign.sqlite");
  copyFileSync(join(stage.home.dir, "config.json"), foreign);
  expect((await stage.cli(["state", "verify", foreign])).code).toBe(EXIT.storage.code);
  const none = await stage.cli(["state", "verify", join(stage.home.dir, "none.sqlite")]);
  expect([none.code, none.stderr]).toEqual([EXIT.config.code, expect.stringContaining("Check the path")]);
  expect(existsSync(join(stage.home.dir, "none.sqlite"))).toBe(false);
});

test("prune tells what it would delete, refuses to beside a server, and then deletes old runs and nothing else", async () => {
  const old = await ended("Old");
  const waiting = await stage.ask("Waiting");
  const conversation = join(stage.home.dir, "agents", old);
  mkdirSync(conversation, { recursive: true });
  await stage.barrier();
  const before = new Date().toISOString();
  const young = await ended("Young");

  const preview = await result<{ total: number; runs: { runId: string }[] }>(["state", "prune", "--before", before]);
  const named = preview.runs.map(({ runId }) => runId);
  expect(named).toContain(old);
  expect(named).not.toContain(waiting.run);
  expect(named).not.toContain(young);
  const backup = join(stage.home.dir, "before-prune.sqlite");
  const apply = ["state", "prune", "--before", before, "--apply", "--backup", backup];
  const refused = await stage.cli(apply);
  expect([refused.code, refused.stderr]).toEqual([EXIT.unavailable.code, expect.stringContaining("server")]);
  expect(existsSync(backup)).toBe(false);

  await stage.server.stop();
  const done = await result<{ applied: boolean; total: number }>(apply);
  expect(done).toMatchObject({ applied: true, total: preview.total });
  expect(existsSync(conversation)).toBe(false);
  expect((await stage.cli(["state", "verify"])).code).toBe(0);
  const saved = new Database(backup, { readonly: true });
  expect(saved.prepare("SELECT count(*) FROM runs WHERE run_id = ?").pluck().get(old)).toBe(1);
  saved.close();

  await stage.restart();
  expect((await stage.cli(["show", old])).code).toBe(EXIT.notFound.code);
  await stage.ann.tap(waiting.card, "Approve");
  expect((await stage.finished(waiting.run)).run.status).toBe("completed");
  expect((await stage.view(young)).run.status).toBe("completed");
});

test.each([
  ["without a time", [], /--before/],
  ["with a time that is none", ["--before", "yesterday"], /is no date/],
  ["with a time to come", ["--before", "2999-01-01"], /not in the past/],
  ["that deletes without a copy", ["--before", "2026-01-01", "--apply"], /needs --backup/],
  ["that copies without deleting", ["--before", "2026-01-01", "--backup", "x"], /--apply/],
])("prune %s is refused", async (_what, args, message) => {
  const { code, stderr } = await stage.cli(["state", "prune", ...args]);
  expect(code).toBe(EXIT.usage.code);
  expect(stderr.replace(/\s+/g, " ")).toMatch(message);
});
