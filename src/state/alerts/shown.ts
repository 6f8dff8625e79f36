/** Rules that effects ask about messages of alerts: whether one is still needed, and what follows when its place in a chat becomes known. */
import { EFFECT_COLUMNS, moveEffect, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { aboutOf, revisionOf } from "./content.ts";
import { digestByNo } from "./digests.ts";
import { edit, isTouched, shownOf } from "./messages.ts";
import { alertByNo, episodeOf } from "./rows.ts";

/** A message that nobody needs any more: of an alert that is over, or a reminder of one that somebody has taken. What may have arrived stays. */
export function isAlertObsolete(tx: Tx, effect: EffectRow): boolean {
  const kind = effect.effectType;
  if (kind === "alert.closing" || kind === "alert.digestClosing" || isTouched(tx, effect)) return false;
  const about = aboutOf(tx, effect.effectNo);
  if (about.digestNo !== undefined) return digestByNo(tx, about.digestNo).closedAt !== null;
  const episode = episodeOf(tx, about.alertNo, about.episode);
  return episode.endedAt !== null || (kind === "alert.reminder" && episode.acknowledgedAt !== null);
}

/** The place of a message has become known: it is edited if what it shows is not what is. */
export function alertShown(tx: Tx, effect: EffectRow, reference: string): void {
  if (effect.effectType !== "alert.card" && effect.effectType !== "alert.digest") return;
  const about = aboutOf(tx, effect.effectNo);
  const revision = revisionOf(tx, about);
  for (const message of shownOf(tx, about))
    if (message.reference === reference && message.shown < revision)
      edit(tx, about, message, { every: null, revision });
}

/** A chat can be written to again: what still holds is told there after all. */
export function reopenAlerts(tx: Tx, channelId: string, place: string): void {
  const refused = tx.all<EffectRow>(
    `SELECT ${EFFECT_COLUMNS} FROM alert_messages m JOIN effects e ON e.effect_no = m.effect_no LEFT JOIN alerts a ON a.alert_no = m.alert_no
     WHERE m.kind IN ('card', 'digest') AND e.status = 'rejected' AND e.channel_id = ? AND e.place = ? AND (a.live = 1 AND a.episode = m.episode
       OR m.digest_no IN (SELECT digest_no FROM alert_digests WHERE closed_at IS NULL)) ORDER BY e.effect_no LIMIT 256`,
    channelId,
    place,
  );
  for (const effect of refused) moveEffect(tx, effect, "retried", { error: null, nextAttemptAt: tx.now, failures: 0 });
}

/** What people call the alert behind a message. */
export function alertTitle(tx: Tx, effect: EffectRow): string {
  const about = aboutOf(tx, effect.effectNo);
  if (about.digestNo !== undefined) return effect.effectType;
  const { facts } = episodeOf(tx, about.alertNo, about.episode);
  return facts.title ?? facts.subject ?? alertByNo(tx, about.alertNo).groupKey;
}
