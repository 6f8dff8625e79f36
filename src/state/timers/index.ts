/**
 * Timers: a run waits until a time has come. Owns `run_timers`. Must not: know why a workflow sleeps, or keep time itself (the
 * server's clock says what is due).
 */
import { PAGE } from "../../contracts/limits.ts";
import type { ReadDb } from "../reading.ts";
import { fire } from "./fire.ts";
import { set } from "./set.ts";

export const commands = { set, fire } as const;

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** What is due at `now`, oldest first; a page. */
  due: (now: number): { readonly timerId: string }[] =>
    db.all<{ timerId: string }>(
      `SELECT timer_id AS timerId FROM run_timers WHERE status = 'pending' AND wake_at <= ? ORDER BY wake_at LIMIT ${PAGE.rows}`,
      now,
    ),

  /** When the next run wakes (perhaps in the past), or null. */
  nextDue: (): number | null =>
    db.get<{ at: number | null }>("SELECT min(wake_at) AS at FROM run_timers WHERE status = 'pending'")?.at ?? null,
});
