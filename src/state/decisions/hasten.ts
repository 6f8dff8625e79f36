/** Escalation that need not wait: the one thing about decisions that the end of a delivery changes. */
import type { Tx } from "../tx.ts";

/** A card was refused: when none of its copies can be shown any more, the second audience is asked at once. */
export function hastenEscalation(tx: Tx, decisionNo: number): void {
  tx.run(
    `UPDATE human_decisions SET escalate_at = min(escalate_at, ?), escalation_cause = 'undeliverable'
     WHERE decision_no = ? AND status = 'pending' AND escalate_at > ?
       AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.decision_no = human_decisions.decision_no AND e.purpose = 'delivery'
         AND e.status NOT IN ('rejected', 'cancelled'))`,
    tx.now,
    decisionNo,
    tx.now,
  );
}
