/**
 * Reads of channels: what is queued, what is in doubt, when time alone makes a message due.
 */
import { DOUBT } from "../../contracts/limits.ts";
import type { ChannelStatus } from "../../contracts/protocol/operations.ts";
import type { ReadDb } from "../reading.ts";
import { deafnessOf, type Deafness } from "./hearing.ts";
import { allChannels } from "./rows.ts";

export interface ChannelListRow {
  readonly channelId: string;
  readonly kind: string;
  readonly profile: string;
  readonly channelEpoch: number;
  readonly cursor: number | null;
  readonly cursorAt: number | null;
}

export const reads = (db: ReadDb) => ({
  list(): ChannelListRow[] {
    return allChannels(db).map(({ channelEpoch, channelId, cursor, cursorAt, kind, profile }) => ({
      channelId,
      kind,
      profile,
      channelEpoch,
      cursor,
      cursorAt,
    }));
  },
  /** Since when and why a channel is known to be deaf; null = it hears. */
  deafness(channelId: string): Deafness | null {
    const known = deafnessOf(db, channelId);
    return known === null ? null : { since: known.since, cause: known.cause };
  },
  /** Messages that wait or are on their way, those in doubt, and for how long they are and were. */
  stats(channelId: string): Pick<ChannelStatus, "queued" | "ambiguous" | "doubts" | "places"> {
    const count = (status: string): number =>
      db.get<{ n: number }>(
        `SELECT count(*) AS n FROM effects WHERE channel_id = ? AND status = '${status}'`,
        channelId,
      )?.n ?? 0;
    return {
      queued: count("pending") + count("applying"),
      ambiguous: count("ambiguous"),
      doubts: doubtFigures(db, channelId),
      places: troubledPlaces(db, channelId),
    };
  },
  /**
   * When `effects.nextAttempt` should be asked again because of time alone: the earliest moment after `now` at which a message of this
   * channel becomes due or its place is no longer held. Null when only events can make one due.
   */
  nextDueAt(channelId: string, now: number = db.now()): number | null {
    // Two searches instead of one look at all that waits: this is asked after every outcome. A place that is held longer than its
    // message's backoff is asked about once too often.
    const backoff = db.get<{ at: number | null }>(
      `SELECT min(next_attempt_at) AS at FROM effects
       WHERE status = 'pending' AND next_attempt_at > created_at AND channel_id = ? AND next_attempt_at > ?`,
      channelId,
      now,
    );
    const hold = db.get<{ at: number | null }>(
      `SELECT min(p.held_until) AS at FROM channel_places p WHERE p.channel_id = ? AND p.held_until > ?
         AND EXISTS (SELECT 1 FROM effects e WHERE e.status = 'pending' AND e.channel_id = p.channel_id AND e.place = p.place)`,
      channelId,
      now,
    );
    const times = [backoff?.at ?? null, hold?.at ?? null].filter((at) => at !== null);
    return times.length === 0 ? null : Math.min(...times);
  },
});

/** How long nobody knew: the oldest open doubt, and those that ended lately. */
function doubtFigures(db: ReadDb, channelId: string): ChannelStatus["doubts"] {
  const open = db.get<{ since: number | null }>(
    `SELECT min(t.since) AS since FROM effect_doubts t JOIN effects e ON e.effect_no = t.effect_no WHERE t.until IS NULL AND e.channel_id = ?`,
    channelId,
  );
  const ended = db.all<{ ms: number }>(
    `SELECT t.until - t.since AS ms FROM effect_doubts t JOIN effects e ON e.effect_no = t.effect_no
     WHERE t.until > ? AND e.channel_id = ? ORDER BY ms LIMIT 10000`,
    db.now() - DOUBT.figuresMs,
    channelId,
  );
  return {
    oldestAt: open?.since ?? null,
    ended: ended.length,
    medianMs: ended[Math.floor((ended.length - 1) / 2)]?.ms ?? null,
    longestMs: ended.at(-1)?.ms ?? null,
  };
}

/** Chats that cannot be reached, or have another id than the configuration says. */
function troubledPlaces(db: ReadDb, channelId: string): ChannelStatus["places"] {
  return db
    .all<{ place: string; deadAt: number | null; error: string | null; movedTo: string | null }>(
      `SELECT place, dead_at AS deadAt, dead_error AS error, moved_to AS movedTo FROM channel_places
       WHERE channel_id = ? AND (dead_at IS NOT NULL OR moved_to IS NOT NULL) ORDER BY place LIMIT 64`,
      channelId,
    )
    .map(({ error, ...place }) => {
      const why = error === null ? null : (db.unpack(error) as { message?: string } | null);
      return { ...place, error: why?.message ?? null };
    });
}
