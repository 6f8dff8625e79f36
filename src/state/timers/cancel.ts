/** What the end of a run means for the time that it waits for. */
import { next } from "../../contracts/states.ts";
import type { Tx } from "../tx.ts";
import { pendingTimer } from "./rows.ts";

/** The run ends: nothing wakes it any more. Nothing happens when it does not sleep. */
export function cancelTimerOf(tx: Tx, runNo: number): void {
  const row = pendingTimer(tx, runNo);
  if (row === undefined) return;
  tx.run(
    "UPDATE run_timers SET status = ?, settled_at = ? WHERE timer_id = ?",
    next("timer", row.status, "cancelled"),
    tx.now,
    row.timerId,
  );
}
