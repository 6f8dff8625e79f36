/** A chat that could not be reached can be written to again: cards of decisions that still wait, and alerts that still hold, are sent there after all. */
import type { ErrorRecord } from "../../contracts/errors.ts";
import { reopenAlerts } from "../alerts/shown.ts";
import type { Tx } from "../tx.ts";
import { EFFECT_COLUMNS, moveEffect, type EffectRow } from "./rows.ts";

/** None that a person gave up: other messages that were refused meanwhile are news no more. At most a page of each. */
export function reopen(tx: Tx, channelId: string, place: string): void {
  const refused = tx.all<EffectRow>(
    `SELECT ${EFFECT_COLUMNS} FROM human_decisions d CROSS JOIN effects e ON e.decision_no = d.decision_no
     WHERE d.status = 'pending' AND e.purpose = 'delivery' AND e.status = 'rejected' AND e.channel_id = ? AND e.place = ?
     ORDER BY e.effect_no LIMIT 256`,
    channelId,
    place,
  );
  for (const effect of refused)
    if (!isGivenUp(tx, effect)) moveEffect(tx, effect, "retried", { error: null, nextAttemptAt: tx.now, failures: 0 });
  reopenAlerts(tx, channelId, place);
}

function isGivenUp(tx: Tx, { error }: EffectRow): boolean {
  if (error === null) return false;
  return (tx.unpack(error) as unknown as ErrorRecord).kind === "messageDropped";
}
