/**
 * Which process is this? A pid alone is reused. Pid and start time are not, within one boot of the machine; so a start
 * identity names both the start and the boot. Nothing of an earlier boot is alive, whatever has its pid now.
 *
 * Linux reads /proc (proc(5)): `linux-proc-start:<ticks since boot>@<boot id>`. Other systems ask ps(1), where the boot is named
 * by the start of process 1: `ps-lstart:<text>@<text>`. A boot that cannot be told is `@unknown`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

/** A live process. Zombies do not count. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly identity: string;
}

const LINUX = process.platform === "linux";
const PS_FIELDS = "pid=,ppid=,pgid=,stat=,lstart=";

let boot: string | undefined;

/** Names the boot of this machine; no process sees another one. */
export function bootId(): string {
  return (boot ??= readBootId() ?? "unknown");
}

/** A live process, or null. */
export function processEntry(pid: number): ProcessEntry | null {
  if (LINUX) return readEntry(String(pid));
  return ps("-p", String(pid))[0] ?? null;
}

/** Every live process. A look at some hundred takes about 10 ms. */
export function allProcesses(): ProcessEntry[] {
  if (!LINUX) return ps("-ax");
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readEntry(name) ?? []) : []));
}

/** The start identity of a live process, or null. */
export function startIdentity(pid: number): string | null {
  return processEntry(pid)?.identity ?? null;
}

/** Whether the very process that was registered is still alive. */
export function isSameProcess(pid: number, identity: string): boolean {
  return startIdentity(pid) === identity;
}

/** Whether a process with this identity was started since the machine was: the pids of others say nothing any more. */
export function isOfThisBoot(identity: string): boolean {
  return identity.endsWith(`@${bootId()}`);
}

/** The pid of the parent of this very process; null when it is gone or another one has its pid. */
export function parentOf(pid: number, identity: string): number | null {
  const entry = processEntry(pid);
  return entry?.identity === identity ? entry.parent : null;
}

/** True while any process of the group is alive. */
export function groupAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  return processEntry(group)?.group === group || allProcesses().some((entry) => entry.group === group);
}

/** Signals the group and its leader; a missing process is not an error. */
export function signalGroup(group: number, name: NodeJS.Signals): void {
  for (const target of [-group, group]) {
    try {
      process.kill(target, name);
    } catch {
      // Already gone, or the platform refuses group signals: the leader is signalled as well.
    }
  }
}

function readBootId(): string | null {
  if (!LINUX) return psLines("-o", "lstart=", "-p", "1")[0]?.trim() ?? null;
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || null;
  } catch {
    return null;
  }
}

function readEntry(pid: string): ProcessEntry | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command name in parentheses may hold spaces; fields are counted after the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    const identity = `linux-proc-start:${fields[19]}@${bootId()}`;
    return { pid: Number(pid), parent: Number(fields[1]), group: Number(fields[2]), identity };
  } catch {
    return null;
  }
}

function ps(...which: string[]): ProcessEntry[] {
  return psLines(...which, "-o", PS_FIELDS).flatMap((line) => entryOf(line, bootId()) ?? []);
}

/** A line of `ps -o pid=,ppid=,pgid=,stat=,lstart=`. */
export function entryOf(line: string, ofBoot: string): ProcessEntry | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
  if (match === null || match[4]?.startsWith("Z") === true) return null;
  const [pid, parent, group] = [match[1], match[2], match[3]].map(Number) as [number, number, number];
  return { pid, parent, group, identity: `ps-lstart:${match[5]}@${ofBoot}` };
}

/** No lines when there is no such process: ps says so with its exit code. */
function psLines(...args: string[]): string[] {
  try {
    const text = execFileSync("ps", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return text.split("\n").filter((line) => line.trim() !== "");
  } catch {
    return [];
  }
}
