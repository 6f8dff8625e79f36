/**
 * Reads of channels: what is queued, what is in doubt, when time alone makes a message due.
 */
import type { ReadDb } from "../reading.ts";
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
  /** Messages that wait or are on their way, and those in doubt. */
  stats(channelId: string): { queued: number; ambiguous: number } {
    const count = (status: string): number =>
      db.get<{ n: number }>(
        `SELECT count(*) AS n FROM effects WHERE channel_id = ? AND status = '${status}'`,
        channelId,
      )?.n ?? 0;
    return { queued: count("pending") + count("applying"), ambiguous: count("ambiguous") };
  },
  /**
   * When `effects.nextAttempt` should be asked again because of time alone: the earliest moment after now at which a message of this
   * channel becomes due or its place is no longer held. Null when only events can make one due.
   */
  nextDueAt(channelId: string): number | null {
    const row = db.get<{ due: number | null }>(
      `SELECT min(max(e.next_attempt_at, coalesce((SELECT held_until FROM channel_places p WHERE p.channel_id = e.channel_id AND p.place = e.place), 0))) AS due
       FROM effects e WHERE e.status = 'pending' AND e.channel_id = ?1
         AND (e.next_attempt_at > ?2 OR EXISTS (SELECT 1 FROM channel_places p WHERE p.channel_id = e.channel_id AND p.place = e.place AND p.held_until > ?2))`,
      channelId,
      db.now(),
    );
    return row?.due ?? null;
  },
});
