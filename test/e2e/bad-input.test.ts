// Bad input: one clear message with the cause and the next step, an exit code that is not 0, nothing half-written.

import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import { Scope, makeHome, runCli, startServer } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope);
});
afterAll(() => scope.close());

/** Runs a workflow of the fixtures to its end with the command line. */
async function follow(workflow: string, input: object = {}): ReturnType<Stage["cli"]> {
  return stage.cli([
    "run",
    join("test/fixtures/workflows", `${workflow}.workflow.ts`),
    "--input",
    JSON.stringify(input),
  ]);
}

/** The newest run, as `show --json` tells it. */
async function newest(): ReturnType<Stage["view"]> {
  const { runs } = await stage.client.call("run.list", { limit: 1, before: null });
  return stage.view(runs[0]?.runId ?? "");
}

describe("a home that cannot be served", () => {
  test.each([
    ["no JSON", "{ not json", /is not valid JSON/],
    ["an unknown field", JSON.stringify({ schema: "holdpoint.config.v1", peoples: {} }), /peoples/],
    [
      "a destination of an unknown profile",
      JSON.stringify({ schema: "holdpoint.config.v1", audiences: { ops: { destinations: ["telegram:nope/1"] } } }),
      /profile "nope"/,
    ],
  ])("a configuration with %s stops check and server, and leaves no database behind", async (_what, text, told) => {
    const home = makeHome(scope);
    writeFileSync(join(home.dir, "config.json"), text, { mode: 0o600 });
    const [check, run] = await Promise.all([
      runCli(scope, ["--home", home.dir, "config", "check"]),
      runCli(scope, ["--home", home.dir, "server", "run"]),
    ]);
    expect(check.code).toBe(EXIT.config.code);
    expect(check.stderr).toMatch(told);
    expect(check.stderr).toMatch(/HP2\d\d[^]*To do: /);
    expect(run.code).not.toBe(0);
    expect(run.stderr).toMatch(told);
    expect(readdirSync(home.dir).filter((name) => /sqlite|sock$/.test(name))).toEqual([]);
  });

  test("a database of another program is refused and left as it is", async () => {
    const home = makeHome(scope);
    writeFileSync(home.database, "somebody's precious notes\n".repeat(100));
    await expect(startServer(scope, home)).rejects.toMatchObject({ kind: "notOurDatabase" });
    expect(readFileSync(home.database, "utf8")).toBe("somebody's precious notes\n".repeat(100));
    expect(readdirSync(home.dir).filter((name) => name.startsWith("state.sqlite"))).toEqual(["state.sqlite"]);
  });

  test("a second server is refused, says so, and changes nothing about the first", async () => {
    const before = await stage.client.call("server.status", {});
    const second = await stage.cli(["server", "run"]);
    expect(second.code).toBe(3);
    expect(second.stderr).toMatch(/HP801[^]*holdpoint server (status|stop)/);
    await expect(startServer(scope, stage.home)).rejects.toMatchObject({ kind: "serverRunning" });
    const after = await stage.client.call("server.status", {});
    expect(after).toMatchObject({ pid: before.pid, epoch: before.epoch });
    expect(stage.rows<{ epoch: number }>("SELECT max(epoch) AS epoch FROM server_state")).toEqual([
      { epoch: before.epoch },
    ]);
    expect(existsSync(stage.home.socket)).toBe(true);
  });

  test("a configuration that breaks while the server runs is named, and the last good one stays in use", async () => {
    writeFileSync(join(stage.home.dir, "config.json"), "{}");
    const reloaded = await stage.client.call("server.reload", {});
    expect(reloaded).toMatchObject({ loaded: false, error: { kind: "configInvalid" } });
    const status = await stage.cli(["server", "status", "--plain"]);
    expect(status.stdout).toMatch(/The last good configuration is used: [^]*config\.json is invalid:/);
    const asked = await stage.ask("With the last good configuration");
    await stage.ann.tap(asked.card, "Stop");
    expect((await stage.finished(asked.run)).run.status).toBe("completed");
    stage.home.writeConfig(stage.home.config);
    expect(await stage.client.call("server.reload", {})).toMatchObject({ loaded: true, error: null });
  });
});

test("a token file that others can read stops the check and the channel, by name and never with its content", async () => {
  const bad = await Stage.open(scope);
  const file = bad.home.tokenFiles["default"] as string;
  await bad.server.stop();
  chmodSync(file, 0o644);
  const check = await bad.cli(["config", "check"]);
  expect(check.code).toBe(EXIT.config.code);
  expect(check.stderr).toContain(file);
  expect(check.stderr).toMatch(/mode\s+0?644/);
  await bad.restart();
  const title = bad.unique("Without a token");
  const run = await bad.start("ask", { title, file: bad.file() });
  const { error } = await bad.channelWhen(({ error: told }) => told !== null, "a channel with an error");
  expect(error).toMatchObject({
    kind: "tokenFile",
    message: expect.stringContaining(file),
    remedy: expect.stringContaining("chmod 600"),
  });
  const view = await bad.waitForRun(run, ({ decisions }) => decisions.length === 1, "its question");
  expect(view.decisions[0]?.destinations).toMatchObject([{ shown: 0 }]);
  expect(await bad.sends(title)).toBe(0);
  expect(await bad.leaks()).toEqual([]);
});

describe("a workflow that is wrong", () => {
  test("one that throws while it is loaded fails its run with the place and the words", async () => {
    const ran = await follow("throws");
    expect(ran.code).not.toBe(0);
    expect(ran.stdout + ran.stderr).toMatch(/throws\.workflow\.ts[^]*the moon is in the wrong phase/);
    const view = await newest();
    expect(view).toMatchObject({ run: { status: "failed", steps: 0 }, error: { kind: "workflowLoad" }, outputs: {} });
  });

  test("one that does not exist starts nothing", async () => {
    const before = await newest();
    const ran = await stage.cli(["run", "test/fixtures/workflows/nowhere.workflow.ts"]);
    expect(ran.code).toBe(EXIT.workflow.code);
    expect(ran.stderr).toMatch(/nowhere\.workflow\.ts/);
    expect((await newest()).run.runId).toBe(before.run.runId);
  });

  test.each([
    ["audience", "audienceUnknown", /nobody-knows-them[^]*operators/],
    ["default", "presentationInvalid", /"perhaps"; the choices are yes, no/],
    ["oversized", "presentationInvalid", /75\d\d\d UTF-16 units[^]*64000/],
  ] as const)("a question with a wrong %s is refused before anybody is asked", async (wrong, kind, told) => {
    const cards = (await stage.ann.messages()).length;
    const ran = await follow("wrong-question", { wrong });
    expect(ran.code).toBe(kind === "presentationInvalid" ? EXIT.workflow.code : EXIT.runFailed.code);
    expect((ran.stdout + ran.stderr).replaceAll(/\s+/g, " ")).toMatch(told);
    const view = await newest();
    expect(view).toMatchObject({ run: { status: "failed", steps: 2 }, decisions: [], effects: [] });
    expect(view.error?.kind).toBe(kind);
    expect(view.error?.remedy).not.toBe("");
    expect((await stage.ann.messages()).length).toBe(cards);
  });

  test("an output over 6 MiB fails its node with the limit and the size; what was before stays", async () => {
    const ran = await follow("large-output");
    expect(ran.code).toBe(EXIT.runFailed.code);
    const view = await newest();
    expect(view.run).toMatchObject({ status: "failed", steps: 2 });
    expect(view.error).toMatchObject({ kind: "outputTooLarge" });
    expect(view.error?.message).toMatch(/6,?291,?45[79]/);
    expect(view.error?.message).toMatch(/6,?291,?456/);
    expect(view.outputs).toEqual({ small: "fits" });
  });
});
