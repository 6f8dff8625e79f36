/** Whether a run that waits for an answer can be continued with it; apart from the commands, as cards ask this too. */
import type { Reader } from "../statements.ts";

/** Runs `r` with queue row `q` that wait for an answer or a time and nothing else. */
export const WAITING = `r.status = 'waiting' AND q.status = 'parked' AND q.park_reason IN ('decision', 'checkpoint', 'timer')`;

const OBSTRUCTED = `SELECT 1 FROM runs r JOIN run_queue q USING (run_no) WHERE ${WAITING} AND r.run_no = ? AND q.error IS NOT NULL`;

/** Whether it is known of a waiting run that it cannot be continued. */
export function isObstructed(db: Reader, runNo: number): boolean {
  return db.get(OBSTRUCTED, runNo) !== undefined;
}
