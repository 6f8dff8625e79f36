// Two installations and two projects do not see each other, and a server that is told to stop brings to an end what it began.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import { Scope, logsOf } from "../harness/index.ts";
import { Stage, isAlive, linesOf, until } from "./stage.ts";

const scope = new Scope();
afterEach(() => scope.close());

test("two homes with the same names share no runs, cards or answers", async () => {
  const [one, two] = await Promise.all([Stage.open(scope), Stage.open(scope)]);
  const [asked, other] = await Promise.all([one.ask("In the first home"), two.ask("In the second home")]);
  expect(await one.copies(other.title)).toBe(0);
  expect(await two.copies(asked.title)).toBe(0);
  const shown = await two.cli(["show", asked.run]);
  expect(shown.code).toBe(EXIT.notFound.code);
  const listed = JSON.parse((await two.cli(["runs", "--json"])).stdout) as { result: { runs: { runId: string }[] } };
  expect(listed.result.runs.map(({ runId }) => runId)).toEqual([other.run]);

  // What a button of the first home carries means nothing in the second.
  const state = await one.standIn.control.state();
  const data = state.chats.flatMap(({ messages }) => messages).flatMap(({ buttons }) => buttons.flat())[0]?.data ?? "";
  const tapped = await two.standIn.control.people.tapRaw(1_001, 1_001, other.card, data);
  expect(await two.ann.waitForToast(tapped)).toMatch(/does not belong to a decision/);
  await one.ann.tap(asked.card, "Stop");
  await one.finished(asked.run);
  expect((await two.view(other.run)).decisions[0]?.status).toBe("pending");
  await one.server.kill();
  await two.ann.tap(other.card, "Approve");
  expect((await two.finished(other.run)).run.status).toBe("completed");
});

test("two projects in one home each run their own workflow of the same name", async () => {
  const stage = await Stage.open(scope);
  const projects = ["first", "second"].map((word) => {
    const dir = join(stage.home.dir, "projects", word);
    mkdirSync(join(dir, ".pi", "workflows"), { recursive: true });
    writeFileSync(
      join(dir, ".pi", "workflows", "who.workflow.ts"),
      `import { compute, defineWorkflow } from "holdpoint";
       export default defineWorkflow({
         name: "who",
         startAt: "say",
         nodes: { say: compute({ run: () => ({ project: ${JSON.stringify(word)}, folder: process.cwd() }) }) },
       });`,
    );
    return dir;
  });
  const ran = await Promise.all(projects.map((cwd) => stage.cli(["run", "who", "--json"], { cwd })));
  const outputs = ran.map(
    ({ stdout }) => (JSON.parse(stdout) as { result: { finalOutput: unknown } }).result.finalOutput,
  );
  expect(outputs).toEqual([
    { project: "first", folder: projects[0] },
    { project: "second", folder: projects[1] },
  ]);
});

describe("a server that is told to stop", () => {
  test("gives out nothing new and waits for the card that is on its way; nothing is in doubt afterwards", async () => {
    const stage = await Stage.open(scope);
    const fault = await stage.standIn.control.faults.add({ kind: "slow", what: "answer", method: "sendMessage" });
    const asked = await stage.ask("On its way");
    const queued = stage.unique("Not begun");
    const second = await stage.start("ask", { title: queued, file: stage.file() });
    await stage.waitForRun(second, ({ decisions }) => decisions.length === 1, "its question");
    const { pid: adapter } = await stage.channelWhen(({ state }) => state === "ready", "a ready channel");

    const stopping = stage.cli(["server", "stop"]);
    await until(() => logsOf(stage.home).includes('"stopping"'), "the beginning of the stop");
    expect(isAlive(stage.server.pid)).toBe(true);
    await stage.standIn.control.faults.remove(fault);
    expect((await stopping).code).toBe(0);
    expect(await stage.server.exited).toEqual({ code: 0, signal: null });
    expect(isAlive(adapter as number)).toBe(false);
    expect(await stage.sends(queued)).toBe(0);
    const states = stage.rows<{ state: string }>("SELECT state FROM effect_attempts");
    expect(states).toEqual([{ state: "accepted" }]);

    await stage.restart();
    await stage.ann.waitForCard(queued);
    expect([await stage.copies(asked.title), await stage.sends(asked.title)]).toEqual([1, 1]);
    expect((await stage.client.call("server.status", {})).ambiguousEffects).toBe(0);
    expect(await stage.leaks()).toEqual([]);
  });

  test("in the moment it became ready ends like any other, with all its children", async () => {
    const stage = await Stage.open(scope);
    for (let round = 0; round < 3; round += 1) {
      expect(await stage.server.stop()).toEqual({ code: 0, signal: null });
      const alive = stage.rows<{ pid: number }>("SELECT pid FROM child_processes").filter(({ pid }) => isAlive(pid));
      expect(alive).toEqual([]);
      await stage.restart();
    }
    const asked = await stage.ask("After hasty stops");
    await stage.ann.tap(asked.card, "Approve");
    expect((await stage.finished(asked.run)).run.status).toBe("completed");
  });

  test("while a step runs: the step is interrupted, and the next server goes on with it", async () => {
    const stage = await Stage.open(scope);
    const file = stage.file();
    const run = await stage.start("slow-step", { file });
    const pid = Number((await until(() => linesOf(file)[0], "its step")).split(" ").at(-1));
    expect(isAlive(pid)).toBe(true);
    expect(await stage.server.stop()).toEqual({ code: 0, signal: null });
    expect(isAlive(pid)).toBe(false);
    await stage.restart();
    expect(await stage.finished(run)).toMatchObject({ run: { status: "completed", steps: 3 }, finalOutput: [1, 2, 3] });
  });
});
