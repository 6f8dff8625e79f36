// The command line over real processes: a server started on demand, a second one, bad input, and the bin as npm links it.

import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import type { RunView } from "../../src/client/index.ts";
import {
  ROOT,
  Scope,
  builtEntry,
  makeHome,
  runCli,
  startServer,
  startStandIn,
  type TestHome,
} from "../harness/index.ts";
import { childEnv } from "../harness/paths.ts";

const scope = new Scope();
afterEach(() => scope.close());

const DEPLOY = join(ROOT, "docs/examples/deploy.workflow.ts");

function on(home: TestHome, ...args: string[]): ReturnType<typeof runCli> {
  return runCli(scope, [...args, "--home", home.dir]);
}

/** A home whose server, if one was started on demand, is stopped at the end. */
function homeWithServerOnDemand(
  ...given: Parameters<typeof makeHome> extends [unknown, ...infer Rest] ? Rest : never
): TestHome {
  const home = makeHome(scope, ...given);
  scope.add(() => runCli(new Scope(), ["server", "stop", "--home", home.dir]));
  return home;
}

function resultOf<T>({ stdout }: { stdout: string }): T {
  return (JSON.parse(stdout) as { result: T }).result;
}

test("the bin works through a link, from another folder", () => {
  const home = makeHome(scope);
  const link = join(home.dir, "holdpoint");
  symlinkSync(builtEntry("src/cli/main.js"), link);
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const ran = spawnSync(process.execPath, [link, "--version"], { cwd: "/", env: childEnv(), encoding: "utf8" });
  expect(ran).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
});

test("three commands at once start one server, and stop ends it", async () => {
  const home = homeWithServerOnDemand();
  const ran = await Promise.all([on(home, "runs"), on(home, "decisions"), on(home, "effect", "list")]);
  for (const { code, stderr } of ran) expect(code, stderr).toBe(0);
  const status = resultOf<{ running: boolean; pid: number; home: string }>(
    await on(home, "server", "status", "--json"),
  );
  expect(status).toMatchObject({ running: true, home: home.dir });
  expect(resultOf(await on(home, "server", "stop", "--json"))).toMatchObject({ stopped: true, pid: status.pid });
  expect(existsSync(`/proc/${status.pid}`)).toBe(false);
  expect((await on(home, "server", "status")).code).toBe(EXIT.unavailable.code);
});

test("a second server of a home refuses, and the first one does not notice", async () => {
  const home = makeHome(scope);
  const first = await startServer(scope, home);
  const second = await on(home, "server", "run");
  expect(second.code).not.toBe(0);
  expect(second.stderr).toContain("HP801");
  expect(resultOf(await on(home, "server", "status", "--json"))).toMatchObject({ pid: first.pid, epoch: first.epoch });
});

test("a broken config is one message with the cause and the next step, and nothing is left", async () => {
  const home = makeHome(scope);
  home.writeConfig({ schema: "holdpoint.config.v1", audience: {} });
  const { code, stderr } = await on(home, "runs");
  expect(code).toBe(EXIT.config.code);
  expect(stderr).toContain("(HP201)");
  expect(stderr).toContain('"audience"');
  expect(stderr).toContain("To do:");
  expect(existsSync(home.database)).toBe(false);
});

test("a token file that others can read keeps the channel down and is named in the status", async () => {
  const standIn = await startStandIn(scope);
  const home = makeHome(scope, { profiles: { default: standIn.profile() } });
  chmodSync(home.tokenFiles["default"] as string, 0o644);
  expect((await on(home, "config", "check")).code).toBe(EXIT.config.code);
  await startServer(scope, home);
  const codes = async (): Promise<unknown> => {
    const { channels } = resultOf<{ channels: { error: { code: string } | null }[] }>(
      await on(home, "channel", "status", "--json"),
    );
    return channels[0]?.error?.code;
  };
  await expect.poll(codes, { timeout: 30_000, interval: 50 }).toBe("HP203");
});

test("an unknown audience fails the run before anything is pending, and show tells what to do", async () => {
  const home = homeWithServerOnDemand();
  const ran = await on(home, "run", DEPLOY, "--json");
  expect(ran.code, ran.stderr).toBe(EXIT.runFailed.code);
  const view = resultOf<RunView>(ran);
  expect(view.error?.code).toBe("HP202");
  expect(view.decisions).toEqual([]);
  const { stdout } = await on(home, "show", view.run.shortId);
  expect(stdout).toContain("(HP202)");
  expect(stdout).toContain("To do: Add the audience");
});

test("a workflow that throws on load fails its run with the message and the place", async () => {
  const home = homeWithServerOnDemand();
  const file = join(home.dir, "broken.workflow.ts");
  writeFileSync(file, `throw new Error("no such module in the cellar");\n`);
  const { code, stdout } = await on(home, "run", file);
  expect(code).toBe(EXIT.workflow.code);
  expect(stdout.replace(/\s+/g, " ")).toMatch(/no such module in the cellar.*\(HP302\).*To do:/);
});

test("an unknown run is told by code and by the next step", async () => {
  const home = homeWithServerOnDemand();
  const { code, stderr } = await on(home, "show", "zzzz");
  expect(code).toBe(EXIT.notFound.code);
  expect(stderr).toContain("(HP406)");
});
