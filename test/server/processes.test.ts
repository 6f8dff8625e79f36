import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { bootId, entryOf, groupAlive, isSameProcess, startIdentity } from "../../src/contracts/process-identity.ts";
import { ERRORS } from "../../src/contracts/errors.ts";
import { TEST_SEAMS } from "../../src/contracts/test-seams.ts";
import type { Log } from "../../src/server/ports.ts";
import { killGroup } from "../../src/server/system/groups.ts";
import { systemLauncher } from "../../src/server/system/launcher.ts";
import { reapOrphans } from "../../src/server/system/orphans.ts";

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const unwatched = { watch: () => undefined, unwatch: () => undefined };
let dir: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdpoint-proc-"));
});
afterEach(() => {
  for (const child of children.splice(0)) {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // Ended by the test.
    }
  }
  rmSync(dir, { recursive: true, force: true });
});

/** A process in a group of its own that says "up" and then stays. */
async function stranger(script = 'process.stdout.write("up"); setInterval(() => {}, 1000)'): Promise<number> {
  const child = spawn(process.execPath, ["-e", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  await once(child.stdout as NodeJS.ReadableStream, "data");
  return child.pid as number;
}

test("a process is known by pid and start time together", async () => {
  const pid = await stranger();
  const identity = startIdentity(pid);
  expect(identity).not.toBeNull();
  expect(isSameProcess(pid, identity as string)).toBe(true);
  expect(isSameProcess(pid, `linux-proc-start:1@${bootId()}`)).toBe(false);
});

test("a registered pid that belongs to another process by now is left alone", async () => {
  const pid = await stranger();
  await reapOrphans([{ pid, startIdentity: `linux-proc-start:1@${bootId()}` }], silent);
  expect(groupAlive(pid)).toBe(true);
});

test("a group that was registered before the machine was started again is somebody else's, also when its leader is gone", async () => {
  const leader = await stranger(
    'require("child_process").spawn("sleep", ["60"], {stdio: "ignore"}); process.stdout.write("up", () => process.exit(0))',
  );
  await once(children.at(-1) as ChildProcess, "exit");
  expect(groupAlive(leader)).toBe(true);
  await reapOrphans(
    [{ pid: leader, startIdentity: "linux-proc-start:1@11111111-2222-3333-4444-555555555555" }],
    silent,
  );
  expect(groupAlive(leader)).toBe(true);
  // Of this boot it can only be ours.
  await reapOrphans([{ pid: leader, startIdentity: `linux-proc-start:1@${bootId()}` }], silent);
  expect(groupAlive(leader)).toBe(false);
});

test("an identity names the boot, where /proc tells and where ps does", () => {
  expect(startIdentity(process.pid)).toMatch(/@.+$/);
  if (process.platform === "linux")
    expect(bootId()).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  expect(entryOf("  412   1   412 Ss   Mon Nov 30 17:11:13 2026", "boot")).toEqual({
    pid: 412,
    parent: 1,
    group: 412,
    identity: "ps-lstart:Mon Nov 30 17:11:13 2026@boot",
  });
  expect(entryOf("412 1 412 Z Mon Nov 30 17:11:13 2026", "boot")).toBeNull();
});

test("a group that outlives SIGKILL is killed again and told in the log, until it is gone", async () => {
  const pid = await stranger();
  const told: string[] = [];
  const log: Log = { ...silent, error: (_, text) => told.push(text), warn: (_, text) => told.push(text) };
  let sent = 0;
  await killGroup(pid, "runner", log, {
    againMs: 1,
    send: (group, signal) => {
      sent += 1;
      if (sent === 2) process.kill(-group, signal);
    },
  });
  expect(groupAlive(pid)).toBe(false);
  expect(sent).toBeGreaterThanOrEqual(2);
  expect(told[0]).toContain("still there after SIGKILL");
  expect(told.at(-1)).toContain("gone at last");
});

test("a child gets none of the variables by which tests reach into the server", async () => {
  const entry = join(dir, "env.cjs");
  writeFileSync(
    entry,
    `const pipe = new (require("net").Socket)({ fd: 3 });
     pipe.write(JSON.stringify({ names: Object.keys(process.env).filter((name) => name.startsWith("HOLDPOINT_")) }) + "\\n", () => process.exit(0));`,
  );
  const seams = [...TEST_SEAMS, "HOLDPOINT_KEPT"];
  for (const name of seams) process.env[name] = "x";
  try {
    const launcher = systemLauncher(silent, unwatched, { test: entry });
    const schema = z.strictObject({ names: z.array(z.string()) });
    const child = await launcher.launch<{ names: string[] }, never>({ kind: "adapter", name: "test:c", schema });
    const heard = new Promise<string[]>((resolve) => child.port.onFrame(({ names }) => resolve(names)));
    const names = await heard;
    await child.exited;
    expect(names).toContain("HOLDPOINT_KEPT");
    for (const name of TEST_SEAMS) expect(names).not.toContain(name);
    for (const name of TEST_SEAMS) expect(ERRORS.testSeamRefused.remedy).toContain(name);
  } finally {
    for (const name of seams) delete process.env[name];
  }
});

test("an orphan is ended with its whole group, and is gone when reaping returns", async () => {
  const pid = await stranger(
    'require("child_process").spawn("sleep", ["60"], {stdio: "ignore"}); process.on("SIGTERM", () => {}); process.stdout.write("up"); setInterval(() => {}, 1000)',
  );
  await reapOrphans([{ pid, startIdentity: startIdentity(pid) as string }], silent);
  expect(groupAlive(pid)).toBe(false);
});

test("a child that tidies up on SIGTERM gets its grace", async () => {
  const marker = join(dir, "marker");
  const entry = join(dir, "tidy.cjs");
  writeFileSync(
    entry,
    `const fs = require("fs"); const pipe = new (require("net").Socket)({ fd: 3 });
     process.on("SIGTERM", () => setTimeout(() => { fs.writeFileSync(${JSON.stringify(marker)}, "tidied"); process.exit(0); }, 200));
     pipe.on("error", () => {}); pipe.write(JSON.stringify({ type: "up" }) + "\\n"); setInterval(() => {}, 1000);`,
  );
  const launcher = systemLauncher(silent, unwatched, { test: entry });
  const child = await launcher.launch({
    kind: "adapter",
    name: "test:a",
    schema: z.strictObject({ type: z.literal("up") }),
  });
  await new Promise<void>((resolve) => child.port.onFrame(() => resolve()));
  const exit = await child.stop(5_000);
  expect(exit.code).toBe(0);
  expect(readFileSync(marker, "utf8")).toBe("tidied");
  expect(groupAlive(child.pid)).toBe(false);
});

test("frames that a child sent just before its end are still heard, and its last words are kept", async () => {
  const entry = join(dir, "brief.cjs");
  writeFileSync(
    entry,
    `process.stderr.write("last words"); const pipe = new (require("net").Socket)({ fd: 3 });
     pipe.write(JSON.stringify({ type: "n", n: 1 }) + "\\n" + JSON.stringify({ type: "n", n: 2 }) + "\\n", () => process.exit(7));`,
  );
  const launcher = systemLauncher(silent, unwatched, { test: entry });
  const child = await launcher.launch<{ n: number }, never>({
    kind: "adapter",
    name: "test:b",
    schema: z.strictObject({ type: z.literal("n"), n: z.number() }),
  });
  const heard: number[] = [];
  child.port.onFrame((frame) => heard.push(frame.n));
  const exit = await child.exited;
  expect(exit).toMatchObject({ code: 7, signal: null, diagnostic: "last words" });
  expect(heard).toEqual([1, 2]);
});
