// Agent nodes where no Pi, or a wrong one, is there; and what an agent of a dead server leaves. Real Pi is in test/pi.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, expect, test } from "vitest";

import type { RunView } from "../../src/client/index.ts";
import { MARK_VARIABLE } from "../../src/contracts/process-tree.ts";
import {
  client,
  makeHome,
  Scope,
  startRun,
  startServer,
  waitForRun,
  type ServerProcess,
  type TestHome,
} from "../harness/index.ts";
import { isAlive, until } from "./stage.ts";

const scope = new Scope();
afterEach(() => scope.close());

const WORKFLOW = "test/fixtures/workflows/agent.workflow.ts";
const finished = ({ run }: RunView): boolean => run.finishedAt !== null;

/** A folder with a program `pi` that says it is of this version. */
function piFolder(home: TestHome, version: string): string {
  const folder = join(home.dir, `bin-${version}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "pi"), `#!/bin/sh\necho ${version}\n`, { mode: 0o700 });
  return folder;
}

/** Starts the workflow on a service whose PATH begins with a folder; resolves with its last view. */
async function start(home: TestHome, folder?: string): Promise<RunView> {
  const path = folder === undefined ? "/no/such/folder" : `${folder}${delimiter}/usr/bin${delimiter}/bin`;
  await startServer(scope, home, { env: { PATH: path } });
  const from = await client(scope, home);
  const { runId } = await startRun(from, WORKFLOW);
  return waitForRun(from, runId, finished, "its end");
}

function expectRefused({ error, run, steps }: RunView & { steps?: unknown }, found: RegExp): void {
  expect(run.status).toBe("failed");
  expect(steps ?? 0).toBe(0);
  expect(error).toMatchObject({ kind: "piUnavailable", code: "HP441" });
  expect(error?.message).toMatch(found);
  expect(error?.message).toMatch(/"think".* need Pi 1\.2\.0 or newer on Node 22\.19\.0 or newer/);
  expect(error?.remedy).toContain("pi.command");
}

test("a workflow with agent nodes is refused at its start where PATH has no Pi", async () => {
  expectRefused(await start(makeHome(scope)), /found: no program "pi"/);
});

test("a Pi in PATH that is too old is named with its version", async () => {
  const home = makeHome(scope);
  expectRefused(await start(home, piFolder(home, "1.1.9")), /found: Pi 1\.1\.9 \(pi\)/);
});

test("the Pi of the configuration counts, not that of PATH", async () => {
  const home = makeHome(scope, { config: { pi: { command: "/no/such/pi" } } });
  expectRefused(await start(home, piFolder(home, "1.6.0")), /found: no program "\/no\/such\/pi"/);
});

test("what agents of a killed server left is gone when the next one is ready, and nothing of another home", async () => {
  const home = makeHome(scope);
  const server: ServerProcess = await startServer(scope, home);
  const from = await client(scope, home);
  const { runId } = await startRun(from, "test/fixtures/workflows/hello.workflow.ts", { name: "orphan" });
  await waitForRun(from, runId, finished, "its end");
  await server.kill("SIGKILL");
  const marked = (run: string): ChildProcess => {
    const child = spawn("sh", ["-c", "trap '' TERM; sleep 600 & wait"], {
      detached: true,
      stdio: "ignore",
      env: { ...process.env, [MARK_VARIABLE]: `${run}/plan/1` },
    });
    scope.add(() => void child.kill("SIGKILL"));
    return child;
  };
  const [ours, other] = [marked(runId), marked(`${runId}0`)];
  await server.restart();
  await until(() => !isAlive(ours.pid ?? 0), "the end of the orphan");
  expect(isAlive(other.pid ?? 0)).toBe(true);
});
