import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { Log } from "../../src/server/ports.ts";
import { systemLauncher } from "../../src/server/system/launcher.ts";
import { reapOrphans } from "../../src/server/system/orphans.ts";
import { groupAlive, isSameProcess, processIdentity } from "../../src/server/system/process-identity.ts";

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
  const identity = await processIdentity(pid);
  expect(identity).not.toBeNull();
  expect(await isSameProcess(pid, identity as string)).toBe(true);
  expect(await isSameProcess(pid, "linux-proc-start:1")).toBe(false);
});

test("a registered pid that belongs to another process by now is left alone", async () => {
  const pid = await stranger();
  await reapOrphans([{ pid, startIdentity: "linux-proc-start:1" }], silent);
  expect(await groupAlive(pid)).toBe(true);
});

test("an orphan is ended with its whole group, and is gone when reaping returns", async () => {
  const pid = await stranger(
    'require("child_process").spawn("sleep", ["60"], {stdio: "ignore"}); process.on("SIGTERM", () => {}); process.stdout.write("up"); setInterval(() => {}, 1000)',
  );
  await reapOrphans([{ pid, startIdentity: (await processIdentity(pid)) as string }], silent);
  expect(await groupAlive(pid)).toBe(false);
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
  expect(await groupAlive(child.pid)).toBe(false);
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
