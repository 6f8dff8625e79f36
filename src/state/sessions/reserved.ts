/**
 * Runs that were started within a turn of a session's agent: reserved at once, they begin when that turn has ended, or when the session has
 * gone. The turn that starts a run is no attempt at its first step.
 */
import { defineCommand } from "../command.ts";
import { queueOf, requeueRun } from "../runs/queueing.ts";
import { runByNo, SERVER_ACTOR } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";

/** Lets the reserved run of a session begin. `turn` null = whatever it waits for. Returns whether one does. */
export function letBegin(tx: Tx, session: string, turn: string | null): boolean {
  const row = tx.get<{ runNo: number }>(
    "SELECT run_no AS runNo FROM run_bindings WHERE session_id = ?1 AND reserved_turn IS NOT NULL AND (?2 IS NULL OR reserved_turn = ?2)",
    session,
    turn,
  );
  if (row === undefined) return false;
  tx.run("UPDATE run_bindings SET reserved_turn = NULL WHERE run_no = ?", row.runNo);
  const run = runByNo(tx, row.runNo);
  // A person may have let it begin before, or paused it.
  if (queueOf(tx, run.runNo).parkReason !== "turn") return false;
  tx.event(run.resourceNo, { type: "run.released", actor: SERVER_ACTOR, payload: { session } });
  return requeueRun(tx, run, { priority: 0 });
}

/** A session is idle or gone: nothing that it reserved waits any longer. */
export const release = defineCommand("sessions.release", (tx, input: { session: string }): { began: boolean } => ({
  began: letBegin(tx, input.session, null),
}));
