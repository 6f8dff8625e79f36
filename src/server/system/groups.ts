/** The end of process groups: what was killed is looked at again until it is proved gone. */
import { setTimeout as sleep } from "node:timers/promises";
import { PROCESS } from "../../contracts/limits.ts";
import { groupAlive, signalGroup } from "../../contracts/process-identity.ts";
import type { Log } from "../ports.ts";

/** Between two looks; a look at all processes takes about 10 ms, so the later ones are rarer. */
const LOOK_MS = { first: 5, longest: 50 };

/** Resolves with whether the group is gone, at the latest after `limitMs` of real time. */
export async function groupGone(group: number, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  for (let wait = LOOK_MS.first; groupAlive(group); wait = Math.min(2 * wait, LOOK_MS.longest)) {
    if (performance.now() >= deadline) return false;
    await sleep(wait);
  }
  return true;
}

interface KillOptions {
  readonly againMs?: number;
  readonly send?: (group: number, signal: NodeJS.Signals) => void;
}

/**
 * SIGKILL, repeated until the group is gone: a process that was starting another one may have escaped the first. What the kernel
 * holds (a disk that does not answer) is waited for, and told in the log: nothing of it may be touched while it lives.
 */
export async function killGroup(
  group: number,
  name: string,
  log: Log,
  { againMs = PROCESS.killAgainMs, send = signalGroup }: KillOptions = {},
): Promise<void> {
  for (let times = 1; ; times += 1) {
    send(group, "SIGKILL");
    if (await groupGone(group, againMs)) {
      if (times > 1) log.warn({ pid: group, name, times }, "a process group is gone at last");
      return;
    }
    log.error(
      { pid: group, name, times },
      "a process group is still there after SIGKILL; nothing of it is started again",
    );
  }
}
