// Built-in workflows of an installed package: known by id and revision, so that neither another place nor another version of the
// package changes what a waiting run goes on with.
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { sha256Hex } from "../../src/contracts/ids.ts";
import { ROOT, Scope } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
const FILE = "plan-approval.workflow.js";
const before = process.env["HOLDPOINT_TEST_DIST"];
let folder = "";
let stage: Stage;

/** From now on this installation is what runs. */
function use(name: string): void {
  process.env["HOLDPOINT_TEST_DIST"] = join(folder, name, "dist");
}
const builtin = (installation: string, ...path: string[]): string =>
  join(folder, installation, "dist", "src", "builtins", ...path);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hp-installed-"));
  scope.add(() => rmSync(folder, { recursive: true, force: true }));
  const first = join(folder, "first");
  cpSync(before ?? join(ROOT, "dist"), join(first, "dist"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(first, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(first, "node_modules"));
  use("first");
  stage = await Stage.open(scope);
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(async () => {
  await scope.close();
  if (before === undefined) delete process.env["HOLDPOINT_TEST_DIST"];
  else process.env["HOLDPOINT_TEST_DIST"] = before;
});

/** Starts the built-in by its name and waits for the card. */
async function ask(): Promise<{ run: string; card: number }> {
  const title = stage.unique("Approve plan");
  const input = JSON.stringify({ title, summary: "Move the shop" });
  const started = await stage.cli(["run", "plan-approval", "--input", input, "--detach", "--json"]);
  expect(started.stderr).toBe("");
  const { result } = JSON.parse(started.stdout) as { result: { runId: string } };
  return { run: result.runId, card: (await stage.ann.waitForCard(title)).id };
}

function sourcesOf(run: string): string[] {
  const sql = "SELECT path FROM run_sources JOIN runs USING (run_no) WHERE run_id = ?";
  return stage.rows<{ path: string }>(sql, run).map(({ path }) => path);
}

test("a waiting run goes on after the package was moved", async () => {
  expect((await stage.cli(["workflows"])).stdout).toMatch(/^plan-approval +builtin +builtin:plan-approval@2$/m);
  const { card, run } = await ask();
  expect((await stage.view(run)).workflowPath).toBe("builtin:plan-approval@2");
  expect(sourcesOf(run)).toEqual(["builtin:plan-approval@2"]);
  await stage.server.stop();
  renameSync(join(folder, "first"), join(folder, "moved"));
  use("moved");
  await stage.restart();
  await stage.ann.tap(card, "Continue");
  const { outputs, run: ended } = await stage.finished(run);
  expect(ended.status).toBe("completed");
  expect(outputs["continued"]).toEqual({ approvedBy: "person", because: "answer", revision: 1 });
});

test("with another revision a waiting run goes on from what was approved, new runs have the new one, and a restart of the old is refused with the way out", async () => {
  const old = await ask();
  const lost = await ask();
  await stage.server.stop();
  const text = readFileSync(builtin("moved", "plan-approval@2", FILE), "utf8");
  renameSync(builtin("moved", "plan-approval@2"), builtin("moved", "plan-approval@3"));
  writeFileSync(builtin("moved", "plan-approval@3", FILE), text.replace('"Continue"', '"Go on"'));
  await stage.restart();

  await stage.ann.tap(old.card, "Continue");
  expect((await stage.finished(old.run)).run.status).toBe("completed");
  const next = await ask();
  expect((await stage.view(next.run)).workflowPath).toBe("builtin:plan-approval@3");
  await stage.ann.tap(next.card, "Go on");
  expect((await stage.finished(next.run)).run.status).toBe("completed");

  const { runId } = await stage.client.call("run.restart", { run: old.run, reason: null });
  const { error, run } = await stage.finished(runId);
  expect([run.status, error?.message, error?.remedy]).toEqual([
    "failed",
    "builtin:plan-approval@2 is not in this version of the product.",
    "Start the revision that this version has: `holdpoint run plan-approval`.",
  ]);

  // Without the stored bytes only a version with that revision can go on; that is said before anybody answers.
  await stage.server.stop();
  const database = new Database(stage.home.database);
  const hash = Buffer.from(sha256Hex(text), "hex");
  expect(
    database.prepare("UPDATE blobs SET content = zeroblob(byte_length) WHERE blob_hash = ?").run(hash).changes,
  ).toBe(1);
  database.close();
  await stage.restart();
  await stage.waitForText(lost.card, "run will wait until they are restored");
  const decisions = await stage.cli(["decisions"]);
  expect(decisions.stdout.replace(/\s+/g, " ")).toMatch(
    /builtin:plan-approval@2 is neither.*A version of the product that has this revision can continue it\..*cancel the run/,
  );
  await stage.ann.tap(lost.card, "Continue");
  await stage.waitForText(lost.card, "Run waits since");
  cpSync(builtin("moved", "plan-approval@3"), builtin("moved", "plan-approval@2"), { recursive: true });
  writeFileSync(builtin("moved", "plan-approval@2", FILE), text);
  expect((await stage.cli(["resume", lost.run])).code).toBe(0);
  expect((await stage.finished(lost.run)).run.status).toBe("completed");
});
