// Changes of settings that the workflow's own functions judge, over real processes.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { Scope } from "../harness/index.ts";
import { Stage, isAlive } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope);
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

const patch = (how: string): string => JSON.stringify([{ op: "replace", path: "/how", value: how }]);

async function waiting(): Promise<string> {
  const run = await stage.start("judged");
  await stage.waitForRun(run, (view) => view.run.status === "waiting", "its checkpoint");
  return run;
}

/** Every process that was started for the run, oldest first. */
function processes(run: string): number[] {
  const rows = stage.rows<{ pid: number }>("SELECT pid FROM child_processes WHERE name = ? ORDER BY started_at", run);
  return rows.map(({ pid }) => pid);
}

test("the author's words reach the person who made the change; an accepted one is seen by the next step", async () => {
  const run = await waiting();
  const runners = new Set(processes(run));
  const refused = await stage.cli(["change-settings", run, patch("never")]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("that was tried before, and it hurt");
  const stored = await stage.cli(["change-settings", run, patch("better"), "--expect", "0"]);
  expect(stored.code, stored.stderr).toBe(0);
  const judges = processes(run).filter((pid) => !runners.has(pid));
  expect(judges.map((pid) => isAlive(pid))).toEqual([false, false]);
  expect((await stage.cli(["answer", run, "null"])).code).toBe(0);
  expect((await stage.finished(run)).finalOutput).toEqual({ how: "better" });
});

test.each([
  ["endless", /no answer within 10\s+s/],
  // On a busy machine its time may be over before its memory is.
  ["hungry", /heap|memory|SIGABRT|no answer within/i],
  ["leaving", /code 3/],
])("one whose judge is %s is refused, its process is gone, and the run waits as before", async (how, why) => {
  const run = await waiting();
  const runners = new Set(processes(run));
  const refused = await stage.cli(["change-settings", run, patch(how)]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(why);
  const judges = processes(run).filter((pid) => !runners.has(pid));
  expect(judges.map((pid) => isAlive(pid))).toEqual([false]);
  const { scopes } = await stage.client.call("run.settings", { run });
  expect(scopes).toMatchObject([{ changeNumber: 0, value: { how: "first" } }]);
  expect((await stage.view(run)).run.status).toBe("waiting");
  await stage.client.call("run.cancel", { run, reason: null });
});
