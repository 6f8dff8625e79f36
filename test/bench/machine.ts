/** The machine under the measurement: its load, what others take of it, and a folder on a real disk. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, statfsSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";

/** File systems in memory, where a sync costs nothing (statfs(2), f_type). */
const IN_MEMORY = new Set([0x01021994, 0x858458f6]);

/** A new folder on a disk that must be synced: in the folder for temporary files, or in the repository where that is in memory. */
export function diskFolder(root: string): string {
  for (const base of [tmpdir(), join(root, "node_modules", ".cache")]) {
    mkdirSync(base, { recursive: true });
    if (!IN_MEMORY.has(statfsSync(base).type)) return mkdtempSync(join(base, "hp-bench-"));
  }
  throw new Error("no folder on a real disk was found; set TMPDIR");
}

export const load = (): number => loadavg()[0] ?? 0;
export const cores = cpus().length;

interface Ticks {
  readonly busy: number;
  readonly all: number;
  readonly own: number;
}

/** Clock ticks of all processors since boot, and those of this process with every child of it (proc(5)). */
function ticks(): Ticks {
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = (
    readFileSync("/proc/stat", "utf8").split("\n")[0] ?? ""
  )
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + irq + soft + steal;
  const known = new Map<number, { parent: number; own: number }>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // utime, stime, and those of ended children: fields 14 to 17, counted from the state as the third.
      known.set(Number(name), {
        parent: Number(fields[1]),
        own: fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
      });
    } catch {
      // It ended meanwhile.
    }
  }
  let own = 0;
  for (const [pid, { own: mine }] of known) {
    let at: number | undefined = pid;
    while (at !== undefined && at !== process.pid) at = known.get(at)?.parent;
    if (at === process.pid) own += mine;
  }
  return { busy, all: busy + idle + wait, own };
}

/** Watches how much of the processors others used; the answer is a share of all of them, 0 to 1. */
export function watchOthers(): () => number {
  const before = ticks();
  return () => {
    const after = ticks();
    const others = after.busy - before.busy - (after.own - before.own);
    return Math.max(0, others / Math.max(1, after.all - before.all));
  };
}
