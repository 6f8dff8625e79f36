/** What agents and commands left running: known by the mark in its environment, by descent and by group. */
import { AGENT, PROCESS } from "../../contracts/limits.ts";
import { endTree, marksAlive, runMark, runOfMark } from "../../contracts/process-tree.ts";
import type { Log } from "../ports.ts";

/** As `Processes.agentRuns`. */
export function agentRuns(): string[] {
  return [...new Set(marksAlive().map(runOfMark))];
}

/** As `Processes.endAgents`. */
export async function endAgents(runIds: readonly string[], log: Log): Promise<void> {
  await Promise.all(
    runIds.map(async (run) => {
      const left = await endTree(
        { pid: null, startIdentity: null, mark: runMark(run) },
        PROCESS.killGraceMs,
        AGENT.goneMs,
      );
      if (left.length > 0) log.error({ run, left }, "processes of a run do not end, though they were killed");
    }),
  );
}
