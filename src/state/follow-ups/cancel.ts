/** What the end of a run means for its unsent follow-ups. */
import { next } from "../../contracts/states.ts";
import { endCancelsFollowUps } from "../../workflow/rules/index.ts";
import type { Tx } from "../tx.ts";

/** Every end but success cancels what was not sent. */
export function cancelFollowUpsOf(
  tx: Tx,
  runNo: number,
  ending: "completed" | "failed" | "timed_out" | "cancelled",
): void {
  if (!endCancelsFollowUps(ending)) return;
  tx.run(
    "UPDATE workflow_follow_ups SET status = ?, reason = ?, settled_at = ? WHERE run_no = ? AND status = 'queued'",
    next("followUp", "queued", "cancelled"),
    `the run ended as ${ending}`,
    tx.now,
    runNo,
  );
}
