/** Ending what an earlier server left running, before anything of it is touched again. */
import { PROCESS } from "../../contracts/limits.ts";
import { groupAlive, isOfThisBoot, signalGroup, startIdentity } from "../../contracts/process-identity.ts";
import type { Log, RegisteredProcess } from "../ports.ts";
import { groupGone, killGroup } from "./groups.ts";

/** Ends what is left of an earlier server's children; a pid with another start identity is somebody else's and is left alone. */
export async function reapOrphans(rows: readonly RegisteredProcess[], log: Log): Promise<void> {
  await Promise.all(
    rows.map(async ({ pid, startIdentity: registered }) => {
      // The machine was started since: whatever has these numbers now has nothing to do with us.
      if (!isOfThisBoot(registered)) return;
      const present = startIdentity(pid);
      // With the leader gone its pid cannot be taken while the group lives, so a live group without leader is still ours;
      // a live process under that pid with another identity proves that the group is gone.
      if (present !== null && present !== registered) return;
      if (!groupAlive(pid)) return;
      log.warn({ pid }, "ending an orphan of the previous server");
      signalGroup(pid, "SIGTERM");
      if (!(await groupGone(pid, PROCESS.killGraceMs))) await killGroup(pid, "orphan", log);
    }),
  );
}
