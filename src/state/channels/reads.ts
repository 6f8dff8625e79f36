/**
 * Reads of channels: what is queued, what is in doubt, when time alone makes a message due.
 */
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
  /** Messages that wait or are on their way, and those in doubt, with the time of the oldest doubt. */
  stats(channelId: string): { queued: number; ambiguous: number; ambiguousSince: number | null } {
    const count = (status: string): number =>
      db.get<{ n: number }>(
        `SELECT count(*) AS n FROM effects WHERE channel_id = ? AND status = '${status}'`,
        channelId,
      )?.n ?? 0;
    const oldest = db.get<{ at: number | null }>(
      `SELECT min(a.finished_at) AS at FROM effects e INDEXED BY effects_ambiguous JOIN effect_attempts a USING (effect_no)
       WHERE e.status = 'ambiguous' AND e.channel_id = ? AND a.state = 'ambiguous'`,
      channelId,
    );
    return {
      queued: count("pending") + count("applying"),
      ambiguous: count("ambiguous"),
      ambiguousSince: oldest?.at ?? null,
    };
  },
  /**
   * When `effects.nextAttempt` should be asked again because of time alone: the earliest moment after now at which a message of this
   * channel becomes due or its place is no longer held. Null when only events can make one due.
   */
  nextDueAt(channelId: string): number | null {
    const now = db.now();
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
