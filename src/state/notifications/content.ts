/** What a notification shows in a chat: computed from its row and its run when an attempt is given out. */
import type { Severity } from "../../contracts/alert.ts";
import type { MessageContent } from "../../contracts/protocol/channel.ts";
import { shortIdOf } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";

interface Row {
  kind: "progress" | "final";
  message: string;
  format: "markdown" | null;
  createdAt: number;
  runId: string;
  workflow: string;
  title: string | null;
  severity: Severity;
}

/** `repeatOf`: when an earlier copy may have arrived, for the note that says so. */
export function notificationContent(
  tx: Tx,
  notificationId: string,
  copy: { readonly repeatOf: number | null; readonly timeZone: string },
): MessageContent {
  const row = tx.get<Row>(
    `SELECT n.kind, n.message, n.format, n.severity, n.created_at AS createdAt, r.run_id AS runId, r.workflow_name AS workflow, r.title
     FROM notifications n JOIN runs r USING (run_no) WHERE n.notification_id = ?`,
    notificationId,
  );
  if (row === undefined) throw new Error(`notification ${notificationId} does not exist`);
  const { createdAt, format, kind, runId, severity, title, workflow } = row;
  return {
    kind: "notification",
    notification: {
      level: kind,
      ...(severity === "info" ? {} : { severity }),
      workflowName: workflow,
      title,
      runShortId: shortIdOf(tx, runId),
      message: tx.unpack(row.message) as string,
      ...(format === null ? {} : { format }),
      at: createdAt,
      ...(copy.repeatOf === null ? {} : { possibleRepeatOf: copy.repeatOf }),
    },
    timeZone: copy.timeZone,
  };
}

/** Whether its chats make no sound. */
export function isSilent(tx: Tx, notificationId: string): boolean {
  const sql = "SELECT silent FROM notifications WHERE notification_id = ?";
  return tx.get<{ silent: number }>(sql, notificationId)?.silent === 1;
}
