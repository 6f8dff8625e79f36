/** A paused run goes on: its session gets one message about the step that waits, which starts one turn. */
import { openRequestOf } from "../interactions/rows.ts";
import type { RunRow } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import { hasUnsentStep, queueStep } from "./messages.ts";

export function resumeStep(tx: Tx, run: RunRow): void {
  const request = openRequestOf(tx, run.runNo);
  if (request?.status !== "pending" || hasUnsentStep(tx, run.runNo)) return;
  const number = nextMessage(tx, request.requestId);
  queueStep(tx, run, request, { number, reason: wasSent(tx, run.runNo) ? "resumed" : "initial" });
}

/** The number of the next message of a request; the first was 0. */
export function nextMessage(tx: Tx, requestId: string): number {
  tx.run("UPDATE agent_requests SET messages = messages + 1 WHERE request_id = ?", requestId);
  const sql = "SELECT messages FROM agent_requests WHERE request_id = ?";
  return tx.get<{ messages: number }>(sql, requestId)?.messages ?? 1;
}

function wasSent(tx: Tx, runNo: number): boolean {
  const sql =
    "SELECT 1 FROM effects WHERE run_no = ? AND effect_type = 'message.step' AND status IN ('applied', 'ambiguous')";
  return tx.get(sql, runNo) !== undefined;
}
