/** `alerts.tend`: what time alone changes in alerts. Reminders, the end of a snooze, and an unstable one that has become stable. */
import { ALERT } from "../../contracts/limits.ts";
import { due, type Said } from "../../alert/index.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { announce } from "./announce.ts";
import { alertsWhere, changeEpisode, episodeOf, saveAlert, type AlertRow } from "./rows.ts";

/** When `alerts.tend` has something to do, milliseconds since the epoch; null = only events can change that. */
export function nextAlertAt(db: Reader): number | null {
  return db.get<{ at: number | null }>("SELECT min(next_at) AS at FROM alerts WHERE next_at IS NOT NULL")?.at ?? null;
}

/** At most a page at a time; `more` when there is more. */
export const tend = defineCommand(
  "alerts.tend",
  (tx: Tx, { access }: { access: Access }): { tended: number; more: boolean } => {
    const alerts = alertsWhere(tx, `WHERE a.next_at <= ? ORDER BY a.next_at LIMIT ${ALERT.dueAtOnce}`, tx.now);
    for (const alert of alerts) tendOne(tx, alert, access);
    return { tended: alerts.length, more: alerts.length === ALERT.dueAtOnce };
  },
);

function tendOne(tx: Tx, given: AlertRow, access: Access): void {
  for (let alert = given; ;) {
    const { said, state } = due(alert.state, tx.now);
    if (said === "nothing") return;
    const lastChange = alert.state.changes.at(-1) ?? tx.now;
    alert = saveAlert(tx, alert, state);
    const episode = changeEpisode(tx, episodeOf(tx, alert.alertNo, alert.episode), changeFor(said, lastChange));
    tx.event(alert.resourceNo, {
      type: `alert.${said}`,
      actor: { type: "server", id: "alerts" },
      payload: { episode: alert.episode },
    });
    announce(tx, alert, episode, said, access);
  }
}

function changeFor(said: Said, lastChange: number): Record<string, number | null> {
  // It was stable from its last change on.
  if (said === "settled") return { ended_at: lastChange };
  return said === "snoozeOver" || said === "quiet" ? { snoozed_until: null, snoozed_by: null } : {};
}
