// A waiting run whose approved files are gone: announced before anybody taps, and told again after.
import { copyFileSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import type { RunView } from "../../src/client/index.ts";
import { sha256Hex } from "../../src/contracts/ids.ts";
import { ROOT, Scope, startRun } from "../harness/index.ts";
import { Stage, linesOf } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope);
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

/** Asks from a file of its own, then stops the server and spoils what it has stored of that file. */
async function askAndLose(what: string): Promise<{ run: string; card: number; path: string; file: string }> {
  const folder = join(stage.home.dir, stage.unique("project").replace(" ", "-"));
  mkdirSync(folder);
  const path = join(folder, "ask.workflow.ts");
  copyFileSync(join(ROOT, "test/fixtures/workflows/ask.workflow.ts"), path);
  const file = stage.file();
  const title = stage.unique(what);
  const { runId } = await startRun(stage.client, path, { title, file });
  const card = await stage.ann.waitForCard(title);
  await stage.server.stop();
  const database = new Database(stage.home.database);
  const hash = Buffer.from(sha256Hex(readFileSync(path)), "hex");
  const spoiled = database.prepare("UPDATE blobs SET content = zeroblob(byte_length) WHERE blob_hash = ?").run(hash);
  expect(spoiled.changes).toBe(1);
  database.close();
  return { run: runId, card: card.id, path, file };
}

/** The card was edited after it was noted that the files are back. */
function tookBack({ timeline }: RunView): boolean {
  const types = timeline.map(({ type }) => type);
  return (
    types.includes("run.sourcesBack") && types.lastIndexOf("settlement.outcome") > types.lastIndexOf("run.sourcesBack")
  );
}

test("is said by card, decisions and show before the tap; the answer is kept, and the run goes on when they are restored", async () => {
  const { card, file, path, run } = await askAndLose("Lost files");
  renameSync(path, `${path}.away`);
  await stage.restart();
  await stage.waitForText(card, "run will wait until they are restored");
  const decisions = await stage.cli(["decisions"]);
  expect(decisions.stdout.replace(/\s+/g, " ")).toMatch(
    /Note: an answer is kept, but the run will wait: .*ask\.workflow\.ts.*Restore the files/,
  );
  const show = await stage.cli(["show", run]);
  expect(show.stdout.replace(/\s+/g, " ")).toMatch(
    /but the run will wait then.*Restore the files before anybody answers/,
  );

  const tapped = await stage.ann.tap(card, "Approve");
  expect(await stage.ann.waitForToast(tapped)).toMatch(/^Recorded, but run .* waits/);
  await stage.waitForText(card, "Run waits since");
  const parked = await stage.waitForRun(run, ({ nextStep }) => nextStep !== null, "a run that cannot go on");
  expect(parked.timeline.findLast(({ type }) => type === "run.parked")?.detail).toMatchObject({
    reason: "workflowSourceChanged",
  });
  expect(linesOf(file)).toEqual([]);

  renameSync(`${path}.away`, path);
  expect((await stage.cli(["resume", run])).code).toBe(0);
  expect((await stage.finished(run)).run.status).toBe("completed");
  expect(linesOf(file)).toHaveLength(1);
});

test("is not said when the file itself is still what was approved, and is taken back when it is restored", async () => {
  const { card, path, run } = await askAndLose("Restored files");
  await stage.restart();
  const { decisions } = await stage.client.call("decision.list", { all: false });
  expect(decisions.find(({ runId }) => runId === run)?.notes).toEqual([]);

  await stage.server.stop();
  renameSync(path, `${path}.away`);
  await stage.restart();
  await stage.waitForText(card, "run will wait until they are restored");
  await stage.server.stop();
  renameSync(`${path}.away`, path);
  await stage.restart();
  const back = await stage.waitForRun(run, tookBack, "the edit of its card");
  expect(back.nextStep).toBeNull();
  expect(await stage.message(card)).not.toContain("will wait");
  const tapped = await stage.ann.tap(card, "Approve");
  expect(await stage.ann.waitForToast(tapped)).toBe("Approved.");
  expect((await stage.finished(run)).run.status).toBe("completed");
});
