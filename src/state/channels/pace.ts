/**
 * How fast alerts and notifications go to a chat: at most what the service takes, so that a storm is not answered with 429. Cards and answers
 * are not slowed down; there are as many of them as people ask for. A session of Pi takes everything as it comes, in its order.
 */
import { mayGoAt, spent } from "../../alert/index.ts";
import { PI } from "../../contracts/config.ts";
import type { EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";

export function isPaced({ channelId, effectType, purpose }: EffectRow): boolean {
  if (channelId === PI) return false;
  return purpose === "alert" || purpose === "notification" || effectType === "alert.edit";
}

/** The earliest time for the next of them, milliseconds since the epoch; may have been. */
export function pacedUntil(tx: Tx, channelId: string, place: string): number {
  return mayGoAt(place, fullness(tx, channelId, place));
}

/** A message goes out now. */
export function spendPace(tx: Tx, channelId: string, place: string): void {
  tx.run(
    `INSERT INTO channel_places (channel_id, place, paced) VALUES (?, ?, ?)
     ON CONFLICT (channel_id, place) DO UPDATE SET paced = excluded.paced`,
    channelId,
    place,
    spent(place, fullness(tx, channelId, place), tx.now),
  );
}

function fullness(tx: Tx, channelId: string, place: string): number {
  const sql = "SELECT paced FROM channel_places WHERE channel_id = ? AND place = ?";
  return tx.get<{ paced: number }>(sql, channelId, place)?.paced ?? 0;
}
