/**
 * The processes that belong to a child, and their end. A process group is not enough: a program may put its own children
 * into groups of theirs (Pi's shell tool does) and leave them behind. A process belongs to a child if it is in its group,
 * descends from it, carries its mark in the environment (Linux), or is in a group of one of these.
 *
 * What has neither group, descent nor mark left (its parent died and it was started with another environment) is not found.
 *
 * Systems other than Linux know no marks.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { allProcesses, isOfThisBoot, type ProcessEntry } from "./process-identity.ts";

/**
 * The variable that marks everything an agent or a command of a run starts. Its value begins with the run: `<run>/<node>/<visit>`
 * for agents, `<run>/<node>/<step>/<which>` for commands.
 */
export const MARK_VARIABLE = "HOLDPOINT_AGENT";

/** The mark that stands for all agents and commands of a run. */
export function runMark(runId: string): string {
  return `${runId}/`;
}

/** The run that a mark names. */
export function runOfMark(mark: string): string {
  return mark.slice(0, mark.indexOf("/"));
}

export interface Child {
  /** Null: only what carries the mark. */
  readonly pid: number | null;
  /** As `startIdentity` gave it; a pid with another identity is somebody else's. */
  readonly startIdentity: string | null;
  /** Value of the mark variable; one that ends with a slash stands for all that begin with it. */
  readonly mark?: string | undefined;
}

/** Between two looks; a look at some hundred processes takes about 10 ms, so the later ones are rarer. */
const LOOK_MS = { first: 5, longest: 50 };

/** The live processes of a child, itself included, never the caller. */
export function membersOf(child: Child): number[] {
  return members(child, allProcesses());
}

/** The marks of live processes, that of the caller left out; empty where the system does not tell. */
export function marksAlive(): string[] {
  if (process.platform !== "linux") return [];
  return allProcesses().flatMap(({ pid }) => (pid === process.pid ? [] : (markOf(pid) ?? [])));
}

/**
 * Ends a child with everything that belongs to it: TERM to each once, after `graceMs` KILL until none is left.
 * Resolves with the processes that even `goneMs` later were there: none, unless the kernel holds one.
 */
export async function endTree(child: Child, graceMs: number, goneMs: number): Promise<number[]> {
  const told = new Set<number>();
  const start = performance.now();
  for (let pause = LOOK_MS.first; ; pause = Math.min(2 * pause, LOOK_MS.longest)) {
    const left = membersOf(child);
    if (left.length === 0) return [];
    const spent = performance.now() - start;
    if (spent > graceMs + goneMs) return left;
    const kill = spent >= graceMs;
    for (const pid of left) {
      if (kill) signal(pid, "SIGKILL");
      else if (!told.has(pid)) {
        // Once only: Pi takes a second TERM as a request to skip its tidying up.
        told.add(pid);
        signal(pid, "SIGTERM");
      }
    }
    await sleep(pause);
  }
}

/** Kills at once, in one go, what belongs to the child except the caller; for a process that is about to end itself. */
export function killMembers(child: Child): void {
  for (const pid of membersOf(child)) signal(pid, "SIGKILL");
}

function members({ mark, pid: root, startIdentity: identity }: Child, all: readonly ProcessEntry[]): number[] {
  const self = all.find(({ pid }) => pid === process.pid);
  const found = new Set<number>();
  const groups = new Set<number>();
  const leader = all.find(({ pid }) => pid === root);
  // With the leader gone its pid cannot be taken while its group lives; a live stranger under it proves the group gone.
  const bootedSince = identity !== null && !isOfThisBoot(identity);
  if (root !== null && !bootedSince && (leader === undefined || leader.identity === identity)) groups.add(root);
  if (root !== null && leader?.identity === identity) found.add(root);
  if (mark !== undefined && process.platform === "linux") {
    const fits = (value: string): boolean => (mark.endsWith("/") ? value.startsWith(mark) : value === mark);
    for (const { pid } of all) {
      const value = pid === process.pid ? null : markOf(pid);
      if (value !== null && fits(value)) found.add(pid);
    }
  }
  for (let size = -1; size !== found.size + groups.size;) {
    size = found.size + groups.size;
    for (const { group, parent, pid } of all) {
      if (pid === process.pid) continue;
      if (found.has(parent) || groups.has(group)) found.add(pid);
      // Only groups that a member leads: a member may still stand in a group of ours.
      if (found.has(pid) && group === pid && group !== self?.group) groups.add(group);
    }
  }
  found.delete(process.pid);
  return [...found];
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone meanwhile.
  }
}

/** The mark of a process as it was started; null without one, or if it is another user's. */
function markOf(pid: number): string | null {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
    const prefix = `${MARK_VARIABLE}=`;
    const variable = environment.split("\0").find((text) => text.startsWith(prefix));
    return variable === undefined ? null : variable.slice(prefix.length);
  } catch {
    return null;
  }
}
