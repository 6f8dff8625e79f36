/** Rules that effects ask about messages of alerts: whether one is still needed, and what follows when its place in a chat becomes known. */
import { EFFECT_COLUMNS, moveEffect, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { aboutOf, nameInList, revisionOf } from "./content.ts";
import { digestByNo, membersOf } from "./digests.ts";
import { edit, isTouched, shownOf } from "./messages.ts";
import { episodeOf, type EpisodeRow } from "./rows.ts";

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

/** What people call the alert behind a message; of a list, its first ones. */
export function alertTitle(tx: Tx, effect: EffectRow): string {
  const about = aboutOf(tx, effect.effectNo);
  const titleOf = ({ facts }: EpisodeRow): string => nameInList(facts) ?? facts.subject;
  if (about.digestNo === undefined) return titleOf(episodeOf(tx, about.alertNo, about.episode));
  const all = membersOf(tx, about.digestNo).map(({ episode }) => titleOf(episode));
  return `${all.slice(0, NAMED).join(", ")}${all.length > NAMED ? ", \u2026" : ""}`;
}

/** Whether an alert's message is one of a list, which cannot be told from its title. */
export function isAlertList(tx: Tx, { effectNo }: EffectRow): boolean {
  return aboutOf(tx, effectNo).digestNo !== undefined;
}

/** Alerts of a list that stand for it in a title. */
const NAMED = 3;

/**
 * Whether somebody must know of the message behind an effect `e`: it holds what is wrong, nobody has taken it, and it is no mere news. As a
 * condition for searches.
 */
export const WANTED_ALERT = `EXISTS (SELECT 1 FROM alert_messages m LEFT JOIN alert_episodes p ON p.alert_no = m.alert_no AND p.episode = m.episode
  LEFT JOIN alert_digests l ON l.digest_no = m.digest_no WHERE m.effect_no = e.effect_no AND (
    (m.kind = 'card' AND p.ended_at IS NULL AND p.acknowledged_at IS NULL AND p.severity <> 'info')
    OR (m.kind = 'digest' AND l.closed_at IS NULL)))`;
