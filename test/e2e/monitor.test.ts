// The built-in monitor on the real service: started by its name, it sleeps on the server while nothing runs, over a stop and a restart, and
// reports to the chat of the audience `monitor`. A program in the place of Pi says what the model finds.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { RunView } from "../../src/client/index.ts";
import { ROOT, Scope } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const MINUTE = 60_000;
const scope = new Scope();
let stage: Stage;
let finding = "";
let env: NodeJS.ProcessEnv = {};
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "hp-finding-"));
  scope.add(() => rmSync(folder, { recursive: true, force: true }));
  finding = join(folder, "finding.json");
  env = { HP_FAKE_PI_OUTPUT: finding };
  const pi = ["/bin/sh", join(ROOT, "test/fixtures/pi/pi.sh")];
  stage = await Stage.open(scope, {
    clock: true,
    env,
    home: { audiences: { monitor: ["telegram:default/1001"] }, config: { pi: { command: pi } } },
  });
});
afterAll(() => scope.close());

function find(report: string, more: object = {}): void {
  const seen = { route: "wait", goalState: "incomplete", workState: "running", targetStateId: "s", observation: "o" };
  writeFileSync(finding, JSON.stringify({ ...seen, report, reason: "Because of it.", ...more }));
}
const asleep = ({ run: { wakeAt } }: RunView): boolean => wakeAt !== null;

test("holdpoint run monitor: checks, sleeps over a restart, checks again at its time, and stops", async () => {
  find("The checks run.");
  const input = JSON.stringify({ task: "Watch PR 123", everyMinutes: 30 });
  const started = await stage.cli(["run", "monitor", "--input", input, "--detach", "--json"]);
  expect(started.stderr).toBe("");
  const { runId } = (JSON.parse(started.stdout) as { result: { runId: string } }).result;
  const began = stage.clock?.now() ?? 0;
  const first = await stage.waitForRun(runId, asleep, "the first sleep");
  expect(first).toMatchObject({
    workflowPath: "builtin:monitor@1",
    run: { status: "waiting", reason: "sleeps: The next check", wakeAt: began + 30 * MINUTE },
    nextStep: null,
  });
  expect((await stage.ann.waitForMessage("The checks run.")).text).toContain("Next check: ");
  // Nobody waits: the pids of its runner and its agent are gone.
  expect((await stage.client.call("server.status", {})).runners).toEqual([]);

  await stage.server.stop();
  stage.clock?.leap(29 * MINUTE);
  await stage.restart(env);
  expect((await stage.view(runId)).run).toMatchObject({ status: "waiting", wakeAt: began + 30 * MINUTE });
  find("PR 123 was merged.", { route: "stop", goalState: "complete" });
  await stage.clock?.advance(MINUTE);
  const done = await stage.finished(runId);
  expect(done).toMatchObject({
    run: { status: "completed" },
    continuations: 1,
    finalOutput: { stoppedBy: "goal", checks: 2 },
  });
  await stage.ann.waitForMessage("The monitor stops after 2 checks.");
  expect(await stage.sends("The checks run.")).toBe(1);
});

test("a check that is due while no server runs is made when one runs again; cancelling ends the sleep", async () => {
  find("Nothing new.");
  const { runId } = await stage.client.call("run.start", {
    workflow: "monitor",
    workflowPath: "builtin:monitor@1",
    projectPath: stage.home.dir,
    input: { task: "Watch PR 124", everyMinutes: 60 },
  });
  await stage.waitForRun(runId, asleep, "the first sleep");
  await stage.server.stop();
  stage.clock?.leap(36 * 60 * MINUTE);
  await stage.restart(env);
  const again = await stage.waitForRun(runId, (view) => asleep(view) && view.continuations === 1, "the second sleep");
  expect(again.run.wakeAt).toBe((stage.clock?.now() ?? 0) + 60 * MINUTE);
  await stage.client.call("run.cancel", { run: runId, reason: null });
  await stage.clock?.advance(2 * 60 * MINUTE);
  expect(await stage.view(runId)).toMatchObject({ run: { status: "cancelled", wakeAt: null }, continuations: 1 });
});
