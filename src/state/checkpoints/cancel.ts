/** What the end of a run means for the checkpoint that it waits for. */
import { next } from "../../contracts/states.ts";
import type { Tx } from "../tx.ts";
import { pendingOf } from "./rows.ts";

/** Ends the checkpoint that a run waits for, because the run ends; nothing when it waits for none. */
export function cancelCheckpointOf(tx: Tx, runNo: number): void {
  const row = pendingOf(tx, runNo);
  if (row === undefined) return;
  tx.run(
    "UPDATE interactive_requests SET status = ?, settled_at = ? WHERE request_id = ?",
    next("request", row.status, "cancelled"),
    tx.now,
    row.requestId,
  );
}
