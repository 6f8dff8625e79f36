/** Ending what an earlier server left running, before anything of it is touched again. */
import { setTimeout as sleep } from "node:timers/promises";
import { PROCESS } from "../../contracts/limits.ts";
import type { Log } from "../ports.ts";
import { groupAlive, isSameProcess, processIdentity, signalGroup } from "./process-identity.ts";

/** Real time between two looks at a group that was told to end. */
const LOOK_MS = 20;

/** Ends what is left of an earlier server's children; a pid with another start identity is somebody else's and is left alone. */
export async function reapOrphans(
  rows: readonly { readonly pid: number; readonly startIdentity: string }[],
  log: Log,
): Promise<void> {
  await Promise.all(
    rows.map(async ({ pid, startIdentity }) => {
      const leaderAlive = await isSameProcess(pid, startIdentity);
      // With the leader gone its pid cannot be taken while the group lives, so a live group without leader is still ours;
      // a live process under that pid with another identity proves that the group is gone.
      if (!leaderAlive && (await processIdentity(pid)) !== null) return;
      if (!(await groupAlive(pid))) return;
      log.warn({ pid }, "ending an orphan of the previous server");
      const deadline = performance.now() + PROCESS.killGraceMs;
      signalGroup(pid, "SIGTERM");
      while (performance.now() < deadline && (await groupAlive(pid))) await sleep(LOOK_MS);
      if (await groupAlive(pid)) signalGroup(pid, "SIGKILL");
      while (await groupAlive(pid)) await sleep(LOOK_MS);
    }),
  );
}
