/** A run has ended: what it reported as mere news under a key ends with it. Warnings stay until somebody has acknowledged them. */
import { recovered } from "../../alert/index.ts";
import type { Tx } from "../tx.ts";
import { endQuietly } from "./announce.ts";
import { alertsWhere, changeEpisode, episodeOf, saveAlert } from "./rows.ts";

export function endReportsOf(tx: Tx, runId: string): void {
  // Keys of a run begin with its id and a slash; "0" is the character after it.
  const live = alertsWhere(
    tx,
    "INDEXED BY alerts_live WHERE a.live = 1 AND a.group_key >= ? AND a.group_key < ?",
    `${runId}/`,
    `${runId}0`,
  );
  for (const alert of live) {
    const { state } = recovered(alert.state, tx.now);
    const episode = episodeOf(tx, alert.alertNo, alert.episode);
    if (episode.severity !== "info" || state === undefined) continue;
    saveAlert(tx, alert, state);
    tx.event(alert.resourceNo, {
      type: "alert.recovered",
      actor: { type: "server", id: "alerts" },
      payload: { episode: alert.episode, since: episode.since },
    });
    endQuietly(tx, changeEpisode(tx, episode, { ended_at: tx.now }));
  }
}
