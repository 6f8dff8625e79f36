/**
 * Storms: many alerts that begin in one chat at once become one message that lists them all. It is edited as they join and end, and closed by a
 * message of its own when the last one is over.
 */
import { parseDestination } from "../../contracts/config.ts";
import { ALERT } from "../../contracts/limits.ts";
import { channelById, ensureChannel } from "../channels/rows.ts";
import type { Tx } from "../tx.ts";
import { edit, post, shownOf, standing, withdraw } from "./messages.ts";
import { alertByNo, episodeOf, type AlertRow, type EpisodeRow } from "./rows.ts";

export interface DigestRow {
  readonly digestNo: number;
  readonly channelId: string;
  readonly destination: string;
  readonly audience: string;
  readonly revision: number;
  readonly openedAt: number;
  readonly closedAt: number | null;
}

const COLUMNS = `d.digest_no AS digestNo, d.channel_id AS channelId, d.destination, d.audience, d.revision, d.opened_at AS openedAt, d.closed_at AS closedAt`;

export function digestByNo(tx: Tx, digestNo: number): DigestRow {
  const row = tx.get<DigestRow>(`SELECT ${COLUMNS} FROM alert_digests d WHERE d.digest_no = ?`, digestNo);
  if (row === undefined) throw new Error(`digest ${digestNo} does not exist`);
  return row;
}

/** The lists in which an episode stands, at most one for each destination. */
export function digestsWith(tx: Tx, { alertNo, episode }: Pick<EpisodeRow, "alertNo" | "episode">): DigestRow[] {
  return tx.all<DigestRow>(
    `SELECT ${COLUMNS} FROM alert_digest_members m JOIN alert_digests d ON d.digest_no = m.digest_no WHERE m.alert_no = ? AND m.episode = ?`,
    alertNo,
    episode,
  );
}

/** The members of a list in the order in which they came. */
export function membersOf(tx: Tx, digestNo: number): { readonly alert: AlertRow; readonly episode: EpisodeRow }[] {
  return tx
    .all<{ alertNo: number; episode: number }>(
      "SELECT alert_no AS alertNo, episode FROM alert_digest_members WHERE digest_no = ? ORDER BY alert_no",
      digestNo,
    )
    .map(({ alertNo, episode }) => ({ alert: alertByNo(tx, alertNo), episode: episodeOf(tx, alertNo, episode) }));
}

/** Whether an episode that opens is told by a list at this destination: one that takes members, or a new one. */
export function joinStorm(tx: Tx, alert: AlertRow, episode: EpisodeRow, destination: string): boolean {
  const open = tx.get<{ no: number }>(
    `SELECT d.digest_no AS no FROM alert_digests d WHERE d.destination = ? AND d.closed_at IS NULL AND d.joined_at > ?
       AND (SELECT count(*) FROM alert_digest_members m WHERE m.digest_no = d.digest_no) < ${ALERT.digestMembers} ORDER BY d.digest_no DESC LIMIT 1`,
    destination,
    tx.now - ALERT.stormQuietMs,
  );
  if (open !== undefined) {
    join(tx, open.no, episode);
    touchDigest(tx, digestByNo(tx, open.no), false);
    return true;
  }
  const others = openings(tx, destination);
  if (others.length < ALERT.stormSize) return false;
  begin(tx, alert, [...others, episode], destination);
  return true;
}

/** Episodes that began in this chat within the window and are told one by one so far. */
function openings(tx: Tx, destination: string): { alertNo: number; episode: number }[] {
  return tx.all<{ alertNo: number; episode: number }>(
    `SELECT DISTINCT m.alert_no AS alertNo, m.episode FROM alert_messages m JOIN effects e ON e.effect_no = m.effect_no
     JOIN alert_episodes p ON p.alert_no = m.alert_no AND p.episode = m.episode
     WHERE m.destination = ? AND m.kind = 'card' AND e.created_at > ? AND p.severity <> 'info' AND p.ended_at IS NULL ORDER BY m.alert_no LIMIT 64`,
    destination,
    tx.now - ALERT.stormWindowMs,
  );
}

function begin(
  tx: Tx,
  alert: AlertRow,
  members: readonly { readonly alertNo: number; readonly episode: number }[],
  destination: string,
): void {
  const { channel, kind, profile } = parseDestination(destination);
  ensureChannel(tx, { channelId: channel, kind, profile });
  const { lastInsertRowid: digestNo } = tx.run(
    "INSERT INTO alert_digests (channel_id, destination, audience, revision, opened_at, joined_at) VALUES (?, ?, ?, 1, ?, ?)",
    channel,
    destination,
    alert.audience,
    tx.now,
    tx.now,
  );
  for (const member of members) {
    join(tx, digestNo, member);
    withdraw(tx, standing(tx, member, destination));
  }
  tell(tx, digestByNo(tx, digestNo), "alert.storm", { members: members.length });
  say(tx, digestByNo(tx, digestNo), "digest", String(digestNo));
}

function join(tx: Tx, digestNo: number, { alertNo, episode }: { alertNo: number; episode: number }): void {
  tx.run(
    "INSERT INTO alert_digest_members (digest_no, alert_no, episode) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET episode = excluded.episode",
    digestNo,
    alertNo,
    episode,
  );
  tx.run("UPDATE alert_digests SET joined_at = ? WHERE digest_no = ?", tx.now, digestNo);
}

/** A member shows something else now; the list ends with its last one. */
export function memberChanged(tx: Tx, episode: Pick<EpisodeRow, "alertNo" | "episode">): void {
  for (const digest of digestsWith(tx, episode)) {
    const { left, total } = tx.get<{ left: number; total: number }>(
      `SELECT count(*) AS total, count(*) FILTER (WHERE p.ended_at IS NULL) AS left FROM alert_digest_members m
       JOIN alert_episodes p ON p.alert_no = m.alert_no AND p.episode = m.episode WHERE m.digest_no = ?`,
      digest.digestNo,
    ) as { left: number; total: number };
    const ends = left === 0 && digest.closedAt === null;
    if (ends) {
      tx.run("UPDATE alert_digests SET closed_at = ? WHERE digest_no = ?", tx.now, digest.digestNo);
      withdraw(tx, standing(tx, { digestNo: digest.digestNo }, null));
      tell(tx, digest, "alert.stormOver", { members: total });
      say(tx, digest, "digestClosing", String(digest.digestNo));
    }
    touchDigest(tx, digest, ends);
  }
}

/** A list is edited at most as often as its chat can take; its end shows at once. */
function touchDigest(tx: Tx, { digestNo, revision }: DigestRow, atOnce: boolean): void {
  tx.run("UPDATE alert_digests SET revision = revision + 1 WHERE digest_no = ?", digestNo);
  for (const message of shownOf(tx, { digestNo }))
    edit(tx, { digestNo }, message, { every: atOnce ? null : ALERT.digestEditMs, revision: revision + 1 });
}

/** One reminder for all that still holds, however many of its members want one at this moment. */
export function remindDigest(tx: Tx, digest: DigestRow): void {
  const late = tx.get(
    `SELECT 1 FROM alert_messages m JOIN effects e ON e.effect_no = m.effect_no
     WHERE m.digest_no = ? AND m.kind = 'digestReminder' AND e.created_at > ?`,
    digest.digestNo,
    tx.now - ALERT.digestRemindMs,
  );
  if (late === undefined) say(tx, digest, "digestReminder", `${digest.digestNo}:${tx.now}`);
}

function say(tx: Tx, digest: DigestRow, kind: "digest" | "digestClosing" | "digestReminder", key: string): void {
  const { audience, destination, digestNo } = digest;
  post(tx, {
    about: { digestNo },
    kind,
    key: `${kind}:${key}`,
    resourceNo: resourceOf(tx, digest),
    destination,
    request: { audience, silent: !isLoud(tx, digestNo) },
  });
}

function isLoud(tx: Tx, digestNo: number): boolean {
  return membersOf(tx, digestNo).some(
    ({ alert, episode }) => episode.loud === 1 && (alert.state.snoozedUntil ?? 0) <= tx.now,
  );
}

/** A list is told in the chain of its channel: it belongs to no single alert. */
function tell(tx: Tx, digest: DigestRow, type: string, payload: Record<string, unknown>): void {
  tx.event(resourceOf(tx, digest), {
    type,
    actor: { type: "server", id: "alerts" },
    payload: { digest: digest.digestNo, destination: digest.destination, ...payload },
  });
}

function resourceOf(tx: Tx, { channelId }: DigestRow): number {
  const channel = channelById(tx, channelId);
  if (channel === undefined) throw new Error(`channel ${channelId} does not exist`);
  return channel.resourceNo;
}
