/** Rows of the times that sleeping runs wait for. */
import type { Reader } from "../statements.ts";

export interface TimerRow {
  readonly timerId: string;
  readonly runNo: number;
  readonly nodeId: string;
  readonly visit: number;
  readonly status: "pending" | "fired" | "cancelled";
  readonly wakeAt: number;
}

const SELECT = `SELECT timer_id AS timerId, run_no AS runNo, node_id AS nodeId, visit, status, wake_at AS wakeAt FROM run_timers`;

/** The time that a run waits for, if it does. */
export function pendingTimer(db: Reader, runNo: number): TimerRow | undefined {
  return db.get<TimerRow>(`${SELECT} WHERE run_no = ? AND status = 'pending'`, runNo);
}

export function timerById(db: Reader, timerId: string): TimerRow | undefined {
  return db.get<TimerRow>(`${SELECT} WHERE timer_id = ?`, timerId);
}
