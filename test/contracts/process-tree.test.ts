/** Which processes belong to a child, and that all of them end with it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { bootId, startIdentity } from "../../src/contracts/process-identity.ts";
import { endTree, MARK_VARIABLE, marksAlive, membersOf, runMark } from "../../src/contracts/process-tree.ts";

const mark = `test-${process.pid}`;
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  expect(await endTree({ pid: null, startIdentity: null, mark }, 0, 5_000)).toEqual([]);
});

/** Starts a shell in a group of its own; resolves with the pids that it prints. */
async function shell(
  script: string,
  value = mark,
): Promise<{ pid: number; printed: number[]; startIdentity: string | null }> {
  const env = { ...process.env, [MARK_VARIABLE]: value };
  const child = spawn("sh", ["-c", script], { detached: true, env, stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  const pid = child.pid ?? 0;
  return { pid, printed: String(chunk).trim().split(/\s+/).map(Number), startIdentity: startIdentity(pid) };
}

const linux = process.platform === "linux";

test("a child in its own session, left behind by its parent, still belongs to the tree", { skip: !linux }, async () => {
  const tree = await shell("setsid sleep 600 & echo $!; sleep 600");
  const orphaned = await shell("(setsid sleep 600 & echo $!)");
  await once(children.at(-1) as ChildProcess, "exit");
  for (const { pid, printed, startIdentity } of [tree, orphaned]) {
    expect(membersOf({ pid, startIdentity, mark })).toEqual(expect.arrayContaining(printed));
  }
  expect(await endTree({ ...tree, mark }, 2_000, 5_000)).toEqual([]);
  expect(membersOf({ pid: null, startIdentity: null, mark })).toEqual([]);
});

test(
  "everything of a run is known by its mark, and nothing of a run whose name only begins like it",
  {
    skip: !linux,
  },
  async () => {
    const plan = await shell("setsid sleep 600 & echo $!; sleep 600", `${mark}/plan/1`);
    const other = await shell("echo $$; exec sleep 600", `${mark}0/plan/1`);
    expect(marksAlive()).toEqual(expect.arrayContaining([`${mark}/plan/1`, `${mark}0/plan/1`]));
    const left = { pid: null, startIdentity: null, mark: runMark(mark) };
    expect(membersOf(left)).toEqual(expect.arrayContaining([plan.pid, ...plan.printed]));
    expect(await endTree(left, 2_000, 5_000)).toEqual([]);
    expect(startIdentity(other.pid)).toBe(other.startIdentity);
  },
);

test("what ignores TERM is killed after the grace", { skip: !linux }, async () => {
  const tree = await shell("trap '' TERM; sh -c \"trap '' TERM; echo \\$\\$; while :; do sleep 1; done\"; :");
  expect(startIdentity(tree.printed[0] ?? 0)).not.toBeNull();
  expect(await endTree({ ...tree, mark }, 50, 5_000)).toEqual([]);
  expect(startIdentity(tree.printed[0] ?? 0)).toBeNull();
});

test("a pid that belongs to somebody else now is left alone", async () => {
  const stranger = await shell("echo $$; exec sleep 600");
  expect(await endTree({ pid: stranger.pid, startIdentity: `linux-proc-start:1@${bootId()}` }, 10, 100)).toEqual([]);
  expect(startIdentity(stranger.pid)).toBe(stranger.startIdentity);
});

test("the caller never belongs to a tree, not even to its own", () => {
  expect(membersOf({ pid: process.pid, startIdentity: startIdentity(process.pid) })).not.toContain(process.pid);
});

test(
  "a process that has ended and was not collected by its parent is no member any more",
  { skip: !linux },
  async () => {
    // `exec` leaves the first child to a parent that never waits for it.
    const tree = await shell("sleep 0.01 & echo $!; exec sleep 600");
    const [ended = 0] = tree.printed;
    while (!readFileSync(`/proc/${ended}/stat`, "utf8").includes(") Z ")) await pause(5);
    expect(startIdentity(ended)).toBeNull();
    expect(membersOf({ ...tree, mark })).toEqual([tree.pid]);
    expect(await endTree({ ...tree, mark }, 2_000, 5_000)).toEqual([]);
  },
);
