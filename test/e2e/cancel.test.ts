// Cancelling work that does not want to end: its processes are gone when the cancellation is answered, within their grace, and of what
// was being done nobody claims to know the outcome.
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { membersOf } from "../../src/contracts/process-tree.ts";
import { ROOT, Scope } from "../harness/index.ts";
import { Stage, isAlive, linesOf, until } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  const pi = { command: ["/bin/sh", join(ROOT, "test/fixtures/pi/pi.sh")] };
  stage = await Stage.open(scope, { home: { config: { pi } }, env: { HP_FAKE_PI: "deaf" } });
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

interface Group {
  readonly pid: number;
  readonly startIdentity: string;
  readonly endedAt: number | null;
}
const groupsOf = (run: string): Group[] =>
  stage.rows(
    `SELECT pid, start_identity AS startIdentity, ended_at AS endedAt FROM run_processes JOIN runs USING (run_no) WHERE run_id = ?`,
    run,
  );
const start = (kind: string, file: string, message = ""): Promise<string> =>
  stage.start("stubborn", { kind, file, message });
const cancel = (run: string): Promise<unknown> => stage.client.call("run.cancel", { run, reason: null });

async function expectOver(run: string): Promise<void> {
  const view = await stage.view(run);
  expect(view.run.status).toBe("cancelled");
  expect(view.processes.every(({ endedAt }) => endedAt !== null)).toBe(true);
  expect(
    stage.rows(
      "SELECT 1 FROM node_attempts JOIN runs USING (run_no) WHERE run_id = ? AND node_attempts.status = 'running'",
      run,
    ),
  ).toEqual([]);
  for (const group of groupsOf(run)) {
    expect(group.endedAt).not.toBeNull();
    expect(membersOf(group)).toEqual([]);
  }
}

test("a command that ignores signals, and what it started, are gone; its effect is in doubt", async () => {
  const file = stage.file();
  const run = await start("shell", file);
  const pids = await until(
    () => (linesOf(file).length === 2 ? linesOf(file).map(Number) : undefined),
    "both processes",
  );
  expect(pids.map(isAlive)).toEqual([true, true]);
  expect(groupsOf(run)).toHaveLength(1);
  await cancel(run);
  expect(pids.map(isAlive)).toEqual([false, false]);
  await expectOver(run);
  const { effects } = await stage.view(run);
  expect(effects).toMatchObject([{ purpose: "action", status: "ambiguous" }]);
  const { attemptList } = await stage.client.call("effect.show", { effect: effects[0]?.effectId ?? "" });
  expect(attemptList.map(({ state }) => state)).toEqual(["ambiguous"]);
});

test("an action in the middle of its work is in doubt, and its process is gone", async () => {
  const file = stage.file();
  const run = await start("action", file);
  const pid = Number(await until(() => linesOf(file)[0], "the action"));
  await cancel(run);
  expect(isAlive(pid)).toBe(false);
  await expectOver(run);
  expect((await stage.view(run)).effects).toMatchObject([{ purpose: "action", status: "ambiguous" }]);
});

test("an agent that does not listen is gone with all it started", async () => {
  const run = await start("agent", stage.file());
  const group = await until(() => groupsOf(run)[0], "the agent's process");
  await until(async () => (await stage.view(run)).run.currentNode === "agent", "the agent's turn");
  expect(isAlive(group.pid)).toBe(true);
  await cancel(run);
  expect(isAlive(group.pid)).toBe(false);
  await expectOver(run);
});

test("a message that was on its way is told by who sent it; one that was not begun is not sent any more", async () => {
  const { faults } = stage.standIn.control;
  const message = stage.unique("of a run that is cancelled");
  const held = await faults.add({ kind: "slow", what: "answer", method: "sendMessage" });
  const file = stage.file();
  const run = await start("notify", file, message);
  await stage.ann.waitForMessage(`First ${message}`);
  await until(() => linesOf(file)[0], "the step after the messages");
  await cancel(run);
  await expectOver(run);
  const states = async (): Promise<string[]> => (await stage.view(run)).effects.map(({ status }) => status);
  expect(await states()).toEqual(["applying", "cancelled"]);
  await faults.remove(held);
  await until(async () => (await states())[0] === "applied", "the receipt of the first message");
  await stage.barrier();
  expect([await stage.copies(`First ${message}`), await stage.copies(`Second ${message}`)]).toEqual([1, 0]);
});

test("a message whose sending nobody confirmed is in doubt, also when its run was cancelled meanwhile", async () => {
  const { faults } = stage.standIn.control;
  const message = stage.unique("lost with its answer");
  const held = await faults.add({ kind: "hang", when: "after", method: "sendMessage" });
  const file = stage.file();
  const run = await start("notify", file, message);
  await stage.ann.waitForMessage(`First ${message}`);
  await until(() => linesOf(file)[0], "the step after the messages");
  await cancel(run);
  await faults.remove(held);
  const view = await stage.waitForRun(run, ({ effects }) => effects[0]?.status === "ambiguous", "the doubt");
  expect(view.effects.map(({ status }) => status)).toEqual(["ambiguous", "cancelled"]);
  expect(view.effects[0]?.settleWith).toContain("channel recover");
  await stage.barrier();
  expect(await stage.sends(`First ${message}`)).toBe(1);
});
