/** What a server that is killed leaves behind is ended without it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { startIdentity } from "../../src/contracts/process-identity.ts";
import { Watchman } from "../../src/server/system/watchman.ts";

const children: ChildProcess[] = [];
const warnings: unknown[] = [];
const log = { debug: () => {}, info: () => {}, error: () => {}, warn: (fields: object) => void warnings.push(fields) };
afterEach(() => {
  warnings.length = 0;
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** A group of its own that ignores TERM: the shell, and a child of it whose pid it prints. */
async function group(): Promise<{ pid: number; below: number; exited: Promise<unknown> }> {
  const child = spawn("sh", ["-c", "trap '' TERM; sleep 600 & echo $!; wait"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  const exited = once(child, "exit");
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return { pid: child.pid ?? 0, below: Number(String(chunk)), exited };
}

const gone = async (pid: number): Promise<void> => {
  while (startIdentity(pid) !== null) await new Promise((resolve) => setTimeout(resolve, 5));
};

test("groups that are watched when the pipe closes are killed as a whole, others stay", async () => {
  const watchman = new Watchman(log);
  const [watched, released, stranger] = [await group(), await group(), await group()];
  watchman.watch(watched.pid, "child");
  watchman.watch(released.pid, "group");
  watchman.unwatch(released.pid);
  watchman.close();
  await watched.exited;
  await gone(watched.below);
  for (const { below, pid } of [released, stranger]) {
    expect(startIdentity(pid)).not.toBeNull();
    expect(startIdentity(below)).not.toBeNull();
  }
});

test("what a group's leader left in it is killed", async () => {
  const watchman = new Watchman(log);
  const left = await group();
  watchman.watch(left.pid, "child");
  process.kill(left.pid, "SIGKILL");
  await left.exited;
  watchman.close();
  await gone(left.below);
});

test("a watchman that was killed is replaced with the next group, and the new one knows the earlier groups", async () => {
  const watchman = new Watchman(log);
  const [first, second] = [await group(), await group()];
  watchman.watch(first.pid, "child");
  process.kill(watchman.pid ?? expect.fail("no watchman"), "SIGKILL");
  while (watchman.pid !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(warnings).toHaveLength(1);
  watchman.watch(second.pid, "group");
  watchman.close();
  await Promise.all([first.exited, second.exited]);
});
