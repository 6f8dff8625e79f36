/** `sessions.reached`: a session is open and idle, so what waits for it goes out at once; and `sessions.clear`: its ended run is out of sight. */
import { PI } from "../../contracts/config.ts";
import { defineCommand } from "../command.ts";
import { runByNo } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";

export const reached = defineCommand("sessions.reached", (tx: Tx, input: { session: string }): { waiting: number } => ({
  waiting: tx.run(
    "UPDATE effects SET next_attempt_at = ?, failures = 0 WHERE status = 'pending' AND channel_id = ? AND place = ? AND next_attempt_at > ?",
    tx.now,
    PI,
    input.session,
    tx.now,
  ).changes,
}));

/** A person does not want to see the session's ended run any longer. */
export const clear = defineCommand(
  "sessions.clear",
  (tx: Tx, input: { session: string }): { cleared: string | null } => {
    const row = tx.get<{ runNo: number }>(
      "SELECT max(run_no) AS runNo FROM run_bindings WHERE session_id = ? AND open IS NULL HAVING max(run_no) IS NOT NULL",
      input.session,
    );
    if (row === undefined) return { cleared: null };
    tx.run(
      `INSERT INTO session_terminal_views (session_id, cleared_run_no, cleared_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (session_id) DO UPDATE SET cleared_run_no = ?2, cleared_at = ?3`,
      input.session,
      row.runNo,
      tx.now,
    );
    return { cleared: runByNo(tx, row.runNo).runId };
  },
);
