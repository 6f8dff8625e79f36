/** What becomes of a change of an alert in its chats: a new message, an edit, or its place in the list of a storm. */
import { chatsOf } from "../../contracts/config.ts";
import { ALERT } from "../../contracts/limits.ts";
import { progressEvery, type Said } from "../../alert/index.ts";
import { audienceNamed, own, type Access } from "../decisions/access.ts";
import type { Tx } from "../tx.ts";
import { digestsWith, joinStorm, memberChanged, remindDigest } from "./digests.ts";
import { edit, post, shownOf, standing, waiting, withdraw, type AlertRequest, type MessageKind } from "./messages.ts";
import type { AlertRow, EpisodeRow } from "./rows.ts";

/** `episode` as it is after the change. */
export function announce(tx: Tx, alert: AlertRow, episode: EpisodeRow, said: Said, access: Access): void {
  switch (said) {
    case "nothing":
      return;
    case "opened":
    case "unstable":
      // Of what opened in this episode before, the newest message stands for it.
      for (const destination of chatsOf(audienceNamed(access, alert.audience).destinations))
        open(tx, alert, episode, said, destination);
      return;
    case "changed":
    case "steady":
      for (const destination of told(tx, alert, episode, access)) renew(tx, alert, episode, destination);
      return touch(tx, episode, null);
    case "same":
    case "flapped":
      return touch(tx, episode, everyFor(tx, episode));
    case "quiet":
      if (episode.acknowledgedAt !== null || episode.snoozedUntil !== null)
        withdraw(tx, waiting(tx, episode, "reminder"));
      return touch(tx, episode, null);
    case "recovered":
    case "settled":
      return close(tx, alert, episode, access);
    case "reminded":
    case "snoozeOver":
      for (const destination of told(tx, alert, episode, access)) remind(tx, alert, episode, said, destination);
      if (said === "snoozeOver") touch(tx, episode, null);
  }
}

/** What a workflow says is news each time; that a condition lasts is told more rarely the longer it does. */
function everyFor(tx: Tx, { facts, since }: EpisodeRow): number {
  return facts.origin?.kind === "workflow" ? ALERT.progressMinMs : progressEvery(tx.now - since);
}

function open(tx: Tx, alert: AlertRow, episode: EpisodeRow, said: Said, destination: string): void {
  const inList = digestsWith(tx, episode).some((digest) => digest.destination === destination);
  if (inList) return memberChanged(tx, episode);
  // News is no failure: it makes no storm and is not hidden in one.
  if (said === "opened" && episode.severity !== "info" && joinStorm(tx, alert, episode, destination)) return;
  say(tx, alert, episode, "card", destination);
}

/** Another message stands for the episode from now on; one that was not sent yet shows everything anyway. */
function renew(tx: Tx, alert: AlertRow, episode: EpisodeRow, destination: string): void {
  if (digestsWith(tx, episode).some((digest) => digest.destination === destination)) return;
  withdraw(tx, standing(tx, episode, destination));
  say(tx, alert, episode, "card", destination);
}

function close(tx: Tx, alert: AlertRow, episode: EpisodeRow, access: Access): void {
  withdraw(tx, [...waiting(tx, episode, "reminder"), ...standing(tx, episode, null)]);
  const lists = new Set(digestsWith(tx, episode).map(({ destination }) => destination));
  for (const destination of told(tx, alert, episode, access))
    if (!lists.has(destination)) say(tx, alert, episode, "closing", destination);
  touch(tx, episode, null);
}

/** It is news no more: what shows it says so, and nothing new is sent. */
export function endQuietly(tx: Tx, episode: EpisodeRow): void {
  withdraw(tx, [...waiting(tx, episode, "reminder"), ...standing(tx, episode, null)]);
  touch(tx, episode, null);
}

function remind(tx: Tx, alert: AlertRow, episode: EpisodeRow, said: Said, destination: string): void {
  const list = digestsWith(tx, episode).find((digest) => digest.destination === destination);
  if (list !== undefined) return remindDigest(tx, list);
  const { remind: policy, reminders } = alert.state;
  const snoozeOver = said === "snoozeOver";
  const last = !snoozeOver && policy !== null && reminders >= policy.atMost;
  say(tx, alert, episode, "reminder", destination, snoozeOver ? { snoozeOver } : { number: reminders, last });
}

/** Edits what shows the episode. `every` as for an edit. */
function touch(tx: Tx, episode: EpisodeRow, every: number | null): void {
  // As long as it lasts the newest one of a chat stands for it, also while that is on its way; in the end all of them lose their buttons.
  const stand = standing(tx, episode, null).filter(({ status }) => status !== "rejected" && status !== "cancelled");
  const newest = new Map(stand.map(({ destination, effectNo }) => [destination, effectNo]));
  for (const message of shownOf(tx, episode))
    if (episode.endedAt !== null || newest.get(message.destination) === message.effectNo)
      edit(tx, episode, message, { every, revision: episode.revision });
  memberChanged(tx, episode);
}

/** The destinations that were told of this episode, also those where it stands in a list; before any was, those of its audience. */
function told(tx: Tx, alert: AlertRow, episode: EpisodeRow, access: Access): string[] {
  const known = tx.all<{ destination: string }>(
    "SELECT DISTINCT destination FROM alert_messages WHERE alert_no = ? AND episode = ?",
    episode.alertNo,
    episode.episode,
  );
  const all = [...known, ...digestsWith(tx, episode)].map(({ destination }) => destination);
  if (all.length > 0) return [...new Set(all)];
  return chatsOf(own(access.audiences, alert.audience)?.destinations ?? []);
}

function say(
  tx: Tx,
  alert: AlertRow,
  episode: EpisodeRow,
  kind: MessageKind,
  destination: string,
  more: Partial<AlertRequest> = {},
): void {
  const snoozed = alert.state.snoozedUntil !== null && alert.state.snoozedUntil > tx.now;
  post(tx, {
    about: episode,
    kind,
    key: `${alert.alertId}:${episode.episode}:${kind}:${episode.revision}`,
    resourceNo: alert.resourceNo,
    destination,
    request: { audience: alert.audience, silent: episode.loud === 0 || snoozed, ...more },
  });
}
