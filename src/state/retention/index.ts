/** Retention: rows that only serve deduplication go after their time. Whole runs follow in a later version. */
import { defineCommand } from "../command.ts";

/** At most this many rows per command, so that answers do not wait behind a sweep. */
const SWEEP_ROWS = 1_000;

/**
 * Deletes verdicts of updates received before `before`. Call again while `more` is true. There is no index by time, which every answer
 * would pay for: once a day the table is read, oldest ids first.
 */
const sweep = defineCommand("retention.sweep", (tx, input: { before: number }): { deleted: number; more: boolean } => {
  const { changes } = tx.run(
    `DELETE FROM channel_inbox WHERE (channel_id, channel_epoch, update_id) IN
       (SELECT channel_id, channel_epoch, update_id FROM channel_inbox WHERE received_at < ? LIMIT ${SWEEP_ROWS})`,
    input.before,
  );
  return { deleted: changes, more: changes === SWEEP_ROWS };
});

export const commands = { sweep };
