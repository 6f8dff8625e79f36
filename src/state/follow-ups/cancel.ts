/** What the end of a run means for its unsent follow-ups. */
import { next } from "../../contracts/states.ts";
import type { Tx } from "../tx.ts";

/** Cancels what was not sent. `reason` is shown to people. */
export function cancelFollowUpsOf(tx: Tx, runNo: number, reason: string): void {
  tx.run(
    "UPDATE workflow_follow_ups SET status = ?, reason = ?, settled_at = ? WHERE run_no = ? AND status = 'queued'",
    next("followUp", "queued", "cancelled"),
    reason,
    tx.now,
    runNo,
  );
}
