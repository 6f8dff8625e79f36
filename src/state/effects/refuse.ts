/**
 * A message that will not be sent: refused by the service, or its chat cannot be reached or is not allowed any more. When it was the last
 * card that could have shown a decision, the decision's chain says so, once: it stays answerable, and its deadline runs.
 */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { Tx } from "../tx.ts";
import { EFFECT_COLUMNS, moveEffect, type EffectRow } from "./rows.ts";

/** Messages of one chat that one command refuses. */
const AT_A_TIME = 256;

export function refuse(tx: Tx, effect: EffectRow, error: ErrorRecord | null): void {
  moveEffect(tx, effect, "rejected", { error });
  if (effect.purpose === "delivery" && effect.decisionNo !== null) noteLost(tx, effect.decisionNo);
}

/** What waits for a chat is refused with the same reason, at most a page at a time. */
export function refuseAll(tx: Tx, channelId: string, place: string, error: ErrorRecord | null): void {
  const waiting = tx.all<EffectRow>(
    `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.status = 'pending' AND e.channel_id = ? AND e.place = ? ORDER BY e.effect_no LIMIT ${AT_A_TIME}`,
    channelId,
    place,
  );
  for (const effect of waiting) refuse(tx, effect, error);
}

function noteLost(tx: Tx, decisionNo: number): void {
  const decision = tx.get<{ decisionId: string; resourceNo: number; open: number }>(
    `SELECT d.decision_id AS decisionId, d.resource_no AS resourceNo,
       (SELECT count(*) FROM effects e WHERE e.decision_no = d.decision_no AND e.purpose = 'delivery' AND e.status NOT IN ('rejected', 'cancelled')) AS open
     FROM human_decisions d WHERE d.decision_no = ? AND d.status = 'pending'`,
    decisionNo,
  );
  if (decision === undefined || decision.open > 0) return;
  tx.event(decision.resourceNo, {
    type: "decision.undeliverable",
    actor: { type: "server", id: "delivery" },
    payload: { decisionId: decision.decisionId },
  });
}
