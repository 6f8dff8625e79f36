/** Reads of notifications for views. */
import { PAGE } from "../../contracts/limits.ts";
import type { ReadDb } from "../reading.ts";

export interface NotificationReadRow {
  readonly index: number;
  readonly nodeId: string;
  readonly kind: "progress" | "final";
  readonly message: string;
  readonly audience: string | null;
  readonly createdAt: number;
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** The newest messages of a run, oldest of them first. */
  byRun: (runNo: number, limit: number = PAGE.rows): NotificationReadRow[] =>
    db
      .all<NotificationReadRow>(
        `SELECT notification_index AS "index", node_id AS nodeId, kind, message, audience, created_at AS createdAt FROM notifications
         WHERE run_no = ? ORDER BY notification_index DESC LIMIT ?`,
        runNo,
        Math.min(limit, PAGE.rows),
      )
      .map((row) => ({ ...row, message: db.unpack(row.message) as string }))
      .reverse(),
});
