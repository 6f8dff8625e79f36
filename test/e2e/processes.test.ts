// Processes that die, hang or are stopped: what becomes of the work, and what an operator is shown.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { ROOT, Scope } from "../harness/index.ts";
import { Stage, isAlive, linesOf, until } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope);
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

/** Starts a workflow that notes its process in a file, and waits for the note. */
async function working(workflow: string): Promise<{ run: string; file: string; pid: number }> {
  const file = stage.file();
  const run = await stage.start(workflow, { file });
  const pid = Number((await until(() => linesOf(file)[0], `the first line of ${workflow}`)).split(" ").at(-1));
  expect(isAlive(pid)).toBe(true);
  return { run, file, pid };
}

const launches = async (run: string): Promise<number> => (await stage.view(run)).processes.length;

describe("an adapter that is killed", () => {
  test("is started again after a pause, is shown in the status, and the card that waits is sent once", async () => {
    const before = await stage.channelWhen(({ state }) => state === "ready", "a ready channel");
    process.kill(before.pid as number, "SIGKILL");
    const down = await stage.channelWhen(({ state }) => state === "down", "a channel that is down");
    expect(down).toMatchObject({ pid: null, error: { message: expect.stringContaining("SIGKILL") } });
    const title = stage.unique("While the adapter is down");
    const run = await stage.start("ask", { title, file: stage.file() });
    const card = await stage.ann.waitForCard(title);
    const after = await stage.channelWhen(({ state }) => state === "ready", "a channel that is ready again");
    expect(after).toMatchObject({ restarts: before.restarts + 1, error: null });
    expect(after.pid).not.toBe(before.pid);
    const status = await stage.cli(["server", "status", "--plain"]);
    expect(status.stdout).toMatch(/adapter telegram:default[^]*SIGKILL/);
    expect(await stage.copies(title)).toBe(1);
    await stage.ann.tap(card.id, "Stop");
    await stage.finished(run);
  });

  test("while it sends: that card is in doubt and is not sent again", async () => {
    const fault = await stage.standIn.control.faults.add({ kind: "slow", what: "answer", method: "sendMessage" });
    const asked = await stage.ask("Killed while it sends");
    const { pid } = await stage.channelWhen(({ state }) => state === "ready", "a ready channel");
    process.kill(pid as number, "SIGKILL");
    const { attemptList } = await stage.delivery(asked.run, "ambiguous");
    expect(attemptList).toMatchObject([{ state: "ambiguous" }]);
    await stage.standIn.control.faults.remove(fault);
    await stage.barrier();
    expect(await stage.sends(asked.title)).toBe(1);
    await stage.ann.tap(asked.card, "Stop");
    await stage.finished(asked.run);
    await stage.waitForText(asked.card, "Stopped by Ann");
  });
});

describe("a runner that is killed", () => {
  test("in the middle of a step: the run goes on by itself with that step, and no step counts twice", async () => {
    const { run, file, pid } = await working("slow-step");
    process.kill(pid, "SIGKILL");
    const view = await stage.finished(run);
    expect(view).toMatchObject({ run: { status: "completed", steps: 3 }, finalOutput: [1, 2, 3] });
    expect(linesOf(file)).toHaveLength(2);
    expect(view.processes).toHaveLength(2);
    expect(view.processes[0]).toMatchObject({ kind: "runner", pid, outcome: "SIGKILL" });
    const finished = view.timeline.filter(({ type }) => type === "node.finished");
    expect(finished.map(({ detail }) => (detail as { nodeId: string }).nodeId)).toEqual(["first", "second", "third"]);
    const { crashes } = await stage.client.call("server.status", {});
    expect(crashes).toContainEqual(expect.objectContaining({ kind: `runner ${run}`, outcome: "SIGKILL" }));
  });

  test("one that leaves as soon as it is ready is launched exactly once, until somebody resumes the run", async () => {
    const file = stage.file();
    const run = await stage.start("exits", { file });
    const view = await stage.waitForRun(run, ({ nextStep }) => nextStep !== null, "a run that cannot go on");
    expect(view.run.status).toBe("parked");
    expect(view.timeline.at(-1)).toMatchObject({ type: "run.parked", detail: { reason: "runnerNoProgress" } });
    expect(view.run.reason).toMatch(/leaving on purpose/);
    expect(view.nextStep).toContain("holdpoint resume");
    // Another run was claimed, executed and finished: this one had its chance.
    await stage.finished(await stage.start("hello"));
    expect(linesOf(file)).toHaveLength(1);
    expect(await launches(run)).toBe(1);
    const resumed = await stage.cli(["resume", run]);
    expect(resumed.code, resumed.stderr).toBe(0);
    await until(
      async () => (await launches(run)) === 2 && (await stage.view(run)).nextStep !== null,
      "the second launch",
    );
    expect(linesOf(file)).toHaveLength(2);
    await stage.client.call("run.cancel", { run, reason: null });
  });
});

describe("a run that works", () => {
  test("is paused: its process is gone; resumed, it goes on at the same step", async () => {
    const { run, file, pid } = await working("slow-step");
    const paused = await stage.cli(["pause", run, "--json"]);
    expect(JSON.parse(paused.stdout)).toMatchObject({ ok: true, result: { runId: run } });
    expect(isAlive(pid)).toBe(false);
    expect(await stage.view(run)).toMatchObject({ run: { status: "paused", steps: 1 } });
    expect((await stage.cli(["resume", run])).code).toBe(0);
    expect(await stage.finished(run)).toMatchObject({ run: { status: "completed", steps: 3 }, finalOutput: [1, 2, 3] });
    expect(linesOf(file)).toHaveLength(2);
  });

  test("is cancelled: its process is gone, and an action that had begun is in doubt", async () => {
    const { run, file, pid } = await working("letter");
    const cancelled = await stage.cli(["cancel", run]);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    const view = await stage.finished(run);
    expect(view.run.status).toBe("cancelled");
    expect(view.effects).toMatchObject([{ purpose: "action", status: "ambiguous" }]);
    expect(isAlive(pid)).toBe(false);
    expect(linesOf(file)).toHaveLength(1);
  });

  test("and never lets go of its event loop: others complete meanwhile, and it can be cancelled", async () => {
    const { run, pid } = await working("busy");
    const other = await stage.finished(await stage.start("hello", { name: "neighbour" }));
    expect(other).toMatchObject({ run: { status: "completed" }, finalOutput: "Hello neighbour" });
    const asked = await stage.ask("Beside a busy runner");
    await stage.ann.tap(asked.card, "Approve");
    expect((await stage.finished(asked.run)).run.status).toBe("completed");
    expect(await stage.view(run)).toMatchObject({ run: { status: "running" } });
    expect(isAlive(pid)).toBe(true);
    await stage.client.call("run.cancel", { run, reason: null });
    expect(isAlive(pid)).toBe(false);
    expect((await stage.view(run)).run.status).toBe("cancelled");
  });
});

describe("a server that is killed", () => {
  test("leaves no runner behind, not even one that never lets go of its event loop, though no server follows", async () => {
    const { run, pid } = await working("busy");
    await stage.server.kill("SIGKILL");
    await until(() => !isAlive(pid), "the end of the blocked runner");
    await stage.restart();
    await stage.client.call("run.cancel", { run, reason: null });
    expect((await stage.view(run)).run.status).toBe("cancelled");
  });
});

describe("a workflow whose files change while it waits", () => {
  /** A copy of the question with a module of its own, in a project of its own. */
  function project(): { path: string; helper: string } {
    const dir = join(stage.home.dir, stage.unique("project").replace(" ", "-"));
    mkdirSync(dir);
    copyFileSync(join(ROOT, "test/fixtures/workflows/ask.workflow.ts"), join(dir, "ask.workflow.ts"));
    const helper = join(dir, "helper.ts");
    writeFileSync(helper, "export const secretOfTheTrade = 1;\n");
    const path = join(dir, "ask.workflow.ts");
    writeFileSync(path, `import "./helper.ts";\n${readFileSync(path, "utf8")}`);
    return { path, helper };
  }

  test("goes on with what was approved, and executes nothing of the change", async () => {
    const { path, helper } = project();
    const [title, file, evil] = [stage.unique("Changed files"), stage.file(), stage.file()];
    const { runId: run } = await stage.client.call("run.start", {
      workflow: "ask",
      workflowPath: path,
      projectPath: stage.home.dir,
      input: { title, file },
    });
    const { id: card } = await stage.ann.waitForCard(title);
    writeFileSync(
      helper,
      `import { appendFileSync } from "node:fs";\nappendFileSync(${JSON.stringify(evil)}, "executed\\n");\n`,
    );
    const tapped = await stage.ann.tap(card, "Approve");
    expect(await stage.ann.waitForToast(tapped)).toBe("Approved.");
    expect((await stage.finished(run)).run.status).toBe("completed");
    expect([linesOf(file).length, linesOf(evil)]).toEqual([1, []]);
    await stage.waitForText(card, "Run completed");
  });

  test("goes on in another process when every file of it is gone, also after a restart of the server", async () => {
    const { path, helper } = project();
    const [title, file] = [stage.unique("Removed files"), stage.file()];
    const { runId: run } = await stage.client.call("run.start", {
      workflow: "ask",
      workflowPath: path,
      projectPath: stage.home.dir,
      input: { title, file },
    });
    const { id: card } = await stage.ann.waitForCard(title);
    rmSync(path);
    rmSync(helper);
    await stage.killAndRestart();
    await stage.ann.tap(card, "Approve");
    expect((await stage.finished(run)).run.status).toBe("completed");
    expect(linesOf(file)).toHaveLength(1);
  });

  test("and that makes another graph by now keeps the answer and says why it waits; restored and resumed, it goes on", async () => {
    const { path } = project();
    const name = join(path, "../name.txt");
    writeFileSync(name, "ask");
    // What a file reads besides modules is not stored with it.
    const reading = `import { readFileSync as read } from "node:fs";\nconst NAME = read(new URL("./name.txt", import.meta.url), "utf8");\n`;
    writeFileSync(path, reading + readFileSync(path, "utf8").replace(`name: "ask"`, "name: NAME"));
    const [title, file] = [stage.unique("Another graph"), stage.file()];
    const { runId: run } = await stage.client.call("run.start", {
      workflow: "ask",
      workflowPath: path,
      projectPath: stage.home.dir,
      input: { title, file },
    });
    const { id: card } = await stage.ann.waitForCard(title);
    writeFileSync(name, "other");
    const tapped = await stage.ann.tap(card, "Approve");
    expect(await stage.ann.waitForToast(tapped)).toBe("Approved.");
    const view = await stage.waitForRun(run, ({ nextStep }) => nextStep !== null, "a run that cannot go on");
    const parked = view.timeline.findLast(({ type }) => type === "run.parked");
    expect(parked?.detail).toMatchObject({ reason: "workflowSourceChanged" });
    expect(view.run.reason).toContain("another graph");
    expect(view.nextStep).toMatch(/[Rr]estore|holdpoint resume/);
    expect(view.decisions[0]?.resolution).toMatchObject({ choice: "approve" });
    await stage.waitForText(card, "Run waits since");
    expect(linesOf(file)).toEqual([]);

    writeFileSync(name, "ask");
    expect((await stage.cli(["resume", run])).code).toBe(0);
    expect((await stage.finished(run)).run.status).toBe("completed");
    expect(linesOf(file)).toHaveLength(1);
    await stage.waitForText(card, "Run completed");
  });
});
