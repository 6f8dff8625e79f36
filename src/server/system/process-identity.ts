/**
 * Which process is this? A pid alone is reused; pid and start time together are not. A process group is killed only
 * when both match.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * The start identity of a live process, or null if there is none (a zombie counts as gone).
 * Linux: `linux-proc-start:<ticks>` from field 22 of /proc/<pid>/stat (proc(5)); macOS: `ps -o lstart`.
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (process.platform === "linux") {
    try {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8");
      // The command name in parentheses may hold spaces; fields are counted after the last parenthesis.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "Z" || fields[0] === "X") return null;
      return `linux-proc-start:${fields[19]}`;
    } catch {
      return null;
    }
  }
  try {
    const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)]);
    const text = stdout.trim();
    return text === "" ? null : `ps-lstart:${text}`;
  } catch {
    return null;
  }
}

/** The pid of the parent of this very process; null when it is gone or another one has its pid. */
export async function parentOf(pid: number, startIdentity: string): Promise<number | null> {
  if (!(await isSameProcess(pid, startIdentity))) return null;
  try {
    if (process.platform !== "linux") {
      const { stdout } = await run("ps", ["-o", "ppid=", "-p", String(pid)]);
      return Number(stdout.trim());
    }
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}

/** True if the very process that was registered is still alive. */
export async function isSameProcess(pid: number, startIdentity: string): Promise<boolean> {
  return (await processIdentity(pid)) === startIdentity;
}

/** Signals the group and the leader; a missing process is not an error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, signal);
    } catch {
      // Already gone, or the platform refuses group signals: the leader is signalled as well.
    }
  }
}

/** True while any process of the group is alive (zombies that nobody reaped do not count where /proc tells). */
export async function groupAlive(pid: number): Promise<boolean> {
  try {
    process.kill(-pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  const { readdir } = await import("node:fs/promises");
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = await readFile(`/proc/${name}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(fields[2]) === pid && fields[0] !== "Z" && fields[0] !== "X") return true;
    } catch {
      // Ended between the listing and the look.
    }
  }
  return false;
}
