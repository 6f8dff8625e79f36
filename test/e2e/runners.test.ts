// Runners that serve several launches, and the commands they start: what is reused, what is ended, and that no two writers
// ever overlap, whoever is killed.
import { appendFileSync, copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { ROOT, Scope } from "../harness/index.ts";
import { Stage, isAlive, linesOf, until } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope, { clock: true });
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

/** The pids that worked on a run, in order of the launches. */
const pidsOf = async (run: string): Promise<number[]> => (await stage.view(run)).processes.map(({ pid }) => pid);
/** The launches of a run as the database has them. */
const launchesOf = (run: string): { status: string; child: string }[] =>
  stage.rows(
    "SELECT run_runners.status, child_id AS child FROM run_runners JOIN runs USING (run_no) WHERE run_id = ? ORDER BY generation",
    run,
  );
/** Waits until the answered run's process is idle again: another launch of the same sources takes it. */
const ended = (pid: number): Promise<boolean> => until(() => !isAlive(pid), `the end of process ${pid}`);

describe("a runner whose run has ended or waits", () => {
  test("takes the next launch of the same sources, each with an epoch of its own", async () => {
    const first = await stage.ask("Reused");
    const [pid = 0] = await pidsOf(first.run);
    await stage.ann.tap(first.card, "Approve");
    await stage.finished(first.run);
    const second = await stage.ask("Reused too");
    await stage.ann.tap(second.card, "Stop");
    await stage.finished(second.run);
    expect(new Set([...(await pidsOf(first.run)), ...(await pidsOf(second.run))])).toEqual(new Set([pid]));
    expect(isAlive(pid)).toBe(true);
    const launches = [...launchesOf(first.run), ...launchesOf(second.run)];
    expect(launches.map(({ status }) => status)).toEqual(["exited", "exited", "exited", "exited"]);
    expect(new Set(launches.map(({ child }) => child)).size).toBe(1);
  });

  test("is ended when it had nothing to do for a minute, and no process is left", async () => {
    const { run } = await stage.ask("Idle");
    const [pid = 0] = await pidsOf(run);
    await stage.clock?.advance(59_000);
    expect(isAlive(pid)).toBe(true);
    await stage.clock?.advance(2_000);
    await ended(pid);
    await until(
      () => stage.rows("SELECT 1 FROM child_processes WHERE kind = 'runner' AND ended_at IS NULL").length === 0,
      "the end of every runner",
    );
    await stage.client.call("run.cancel", { run, reason: null });
  });

  test("is not used when the file was changed meanwhile, and is ended then", async () => {
    const path = join(folder("project"), "hello.workflow.ts");
    const start = async (): Promise<number> => {
      const input = { name: "you" };
      const { runId } = await stage.client.call("run.start", {
        workflow: "hello",
        workflowPath: path,
        projectPath: stage.home.dir,
        input,
      });
      expect((await stage.finished(runId)).run.status).toBe("completed");
      return (await pidsOf(runId))[0] as number;
    };
    copyFileSync(join(ROOT, "test/fixtures/workflows/hello.workflow.ts"), path);
    const first = await start();
    expect(await start()).toBe(first);
    appendFileSync(path, "// changed");
    expect(await start()).not.toBe(first);
    await ended(first);
  });

  test.each(["long before", "in the moment of"])(
    "is killed %s the next launch: the run goes on in another process and is not parked",
    async (when) => {
      const { card, file, run } = await stage.ask("Killed while idle");
      const [pid = 0] = await pidsOf(run);
      process.kill(pid, "SIGKILL");
      if (when === "long before") {
        await until(
          async () => (await stage.client.call("server.status", {})).crashes.some(({ kind }) => kind.includes("idle")),
          "the crash in the status",
        );
      }
      await stage.ann.tap(card, "Approve");
      const view = await stage.finished(run);
      expect(view.run.status).toBe("completed");
      expect(view.timeline.filter(({ type }) => type === "run.parked")).toEqual([]);
      expect(new Set(await pidsOf(run)).size).toBe(2);
      expect(linesOf(file)).toHaveLength(1);
    },
  );
});

describe("a runner that cannot be heard", () => {
  test("rule 3, L1: keeps its claim through a busy loop longer than any lease", async () => {
    const file = stage.file();
    const run = await stage.start("busy", { file });
    const pid = Number(await until(() => linesOf(file)[0], "the busy step"));
    for (let minute = 0; minute < 5; minute += 1) await stage.clock?.advance(60_000);
    const view = await stage.view(run);
    expect([view.run.status, isAlive(pid), launchesOf(run).length]).toEqual(["running", true, 1]);
    const [lease] = stage.rows<{ expires: number }>(
      "SELECT expires_at AS expires FROM leases JOIN runs USING (resource_no) WHERE run_id = ?",
      run,
    );
    expect(lease?.expires).toBeGreaterThan(stage.clock?.now() ?? Infinity);
    await stage.client.call("run.cancel", { run, reason: null });
    expect(isAlive(pid)).toBe(false);
  });

  test("loses no claim while the machine sleeps: nothing is launched twice, and the work goes on", async () => {
    const dir = folder("asleep");
    // A command takes far longer than a restart: one that was left would meet the next.
    const run = await stage.start("counter", { dir, times: 3, pause: "0.05" });
    await until(() => linesOf(join(dir, "log")).length > 2, "the first command");
    const [pid = 0] = await pidsOf(run);
    const all = [stage.server.pid, pid];
    for (const process_ of all) process.kill(process_, "SIGSTOP");
    // A moment in which the command goes on alone, as it does when only these two are stopped.
    await until(() => linesOf(join(dir, "log")).length >= 8, "the rest of the command");
    for (const process_ of all.reverse()) process.kill(process_, "SIGCONT");
    await stage.clock?.jump(3_600_000);
    const view = await stage.finished(run);
    expect([view.run.status, view.finalOutput, launchesOf(run).length]).toEqual(["completed", 3, 1]);
    expect(readFileSync(join(dir, "counter"), "utf8")).toBe("3\n");
  });
});

function folder(name: string): string {
  const dir = join(stage.home.dir, stage.unique(name).replaceAll(" ", "-"));
  mkdirSync(dir);
  return dir;
}

describe("a command that writes", () => {
  /** The writers of a log, one entry for each unbroken stretch of lines. */
  const writersOf = (dir: string): string[] =>
    linesOf(join(dir, "log"))
      .map((line) => line.split(" ")[0] as string)
      .filter((writer, index, all) => writer !== all[index - 1]);

  test("is gone before another one begins, whether the server or the runner is killed", async () => {
    const dir = folder("counter");
    const log = join(dir, "log");
    // A command takes far longer than a restart: one that was left would meet the next.
    const run = await stage.start("counter", { dir, times: 3, pause: "0.4" });
    const victims = ["server", "runner", "runner", "server"] as const;
    for (const [round, victim] of victims.entries()) {
      const seen = linesOf(log).length;
      // Somewhere in the middle of a command, at a place that differs from round to round.
      // A run that crashed again waits a while before its next launch.
      await stage.advanceUntil(
        () => Promise.resolve(linesOf(log).length > seen + 1 + round),
        `more of the log in round ${round}`,
      );
      if (victim === "server") await stage.killAndRestart();
      else {
        const pid = (await pidsOf(run)).at(-1) as number;
        process.kill(pid, "SIGKILL");
        await ended(pid);
      }
    }
    const view = await stage.advanceUntil(async () => {
      const seen = await stage.view(run);
      return seen.run.finishedAt !== null && seen;
    }, "the end of the run");
    expect([view.run.status, view.finalOutput]).toEqual(["completed", 3]);
    expect(linesOf(join(dir, "overlaps"))).toEqual([]);
    const writers = writersOf(dir);
    expect(new Set(writers).size).toBe(writers.length);
    expect(writers.length).toBeGreaterThan(3);
    expect(Number(readFileSync(join(dir, "counter"), "utf8"))).toBeGreaterThanOrEqual(3);
    const open = stage.rows("SELECT 1 FROM run_processes WHERE ended_at IS NULL");
    expect(open).toEqual([]);
  });

  test("ends with a cancelled run, before the cancellation is answered", async () => {
    const dir = folder("cancelled");
    const run = await stage.start("counter", { dir, times: 2, pause: "5" });
    const writer = Number(await until(() => linesOf(join(dir, "log"))[0]?.split(" ")[0], "the writer"));
    await stage.client.call("run.cancel", { run, reason: null });
    expect(isAlive(writer)).toBe(false);
  });
});
