/**
 * The process groups that this runner started and that may still live. Whatever ends the runner ends them; the server ends
 * those that outlive it, since they are registered there.
 */
import { SHELL, WIRE } from "../../contracts/limits.ts";
import { startIdentity } from "../../contracts/process-identity.ts";
import { endTree, type Child } from "../../contracts/process-tree.ts";
import { beforeLeaving } from "../leaving.ts";

export type Group = Child & { readonly pid: number; readonly startIdentity: string };

const live = new Set<Group>();
/** The rest of the time within which a child ends after its pipe has closed. */
const EXIT_MARGIN_MS = 150;

/** The group that this process leads, with what carries the mark; call while it waits for its go byte. Undefined when it has ended already. */
export function groupOf(pid: number, mark?: string): Group | undefined {
  const identity = startIdentity(pid);
  if (identity === null) return undefined;
  const group: Group = { pid, startIdentity: identity, mark };
  live.add(group);
  return group;
}

/**
 * Ends a group: TERM, after a grace KILL. Resolves when it is gone.
 *
 * @throws Error when the kernel holds a process of it beyond all patience.
 */
export async function endGroup(group: Group): Promise<void> {
  // What left the group (setsid, a daemon) is known by its mark only.
  if (group.mark !== undefined || !isGone(group)) {
    const left = await endTree(group, SHELL.killGraceMs, SHELL.abortGraceMs);
    if (left.length > 0) throw new Error(`Processes ${left.join(", ")} do not end, though they were killed.`);
  }
  live.delete(group);
}

/** Quickly: the process is leaving. */
async function endAll(): Promise<void> {
  const graceMs = WIRE.childExitMs - EXIT_MARGIN_MS;
  await Promise.all([...live].map((group) => endTree(group, graceMs, EXIT_MARGIN_MS / 2)));
}

/** Without waiting; the server ends what is left. */
function signalAll(): void {
  for (const { pid } of live) {
    try {
      process.kill(-pid, "SIGTERM");
    } catch {
      // Gone.
    }
  }
}

beforeLeaving({ tidy: () => (live.size === 0 ? undefined : endAll()), atOnce: signalAll });

/** Cheap, and certain only when true: nobody of this group exists, not even a zombie. */
function isGone({ pid }: Group): boolean {
  try {
    process.kill(-pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
