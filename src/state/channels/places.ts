/**
 * What is known about a chat besides its name: that it cannot be reached, or that it has another id now. Both are learned from the
 * service's own answer to one message, told once, and hold for everything that waits for that chat.
 */
import type { ErrorRecord } from "../../contracts/errors.ts";
import { DELIVERY } from "../../contracts/limits.ts";
import { isPlaceAllowed, type Access } from "../decisions/access.ts";
import { packError } from "../runs/rows.ts";
import type { JsonReader } from "../effects/views.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { channelById } from "./rows.ts";

/** The chat cannot be reached (blocked, kicked, deactivated). Told in the channel's chain the first time only. */
export function markDead(tx: Tx, channelId: string, place: string, error: ErrorRecord | null): void {
  const known = tx.get(
    "SELECT 1 FROM channel_places WHERE channel_id = ? AND place = ? AND dead_at IS NOT NULL",
    channelId,
    place,
  );
  tx.run(
    `INSERT INTO channel_places (channel_id, place, dead_at, dead_error) VALUES (?, ?, ?, ?)
     ON CONFLICT (channel_id, place) DO UPDATE SET dead_at = excluded.dead_at, dead_error = excluded.dead_error`,
    channelId,
    place,
    tx.now,
    packError(tx, error ?? undefined) ?? tx.pack(null),
  );
  if (known === undefined) tellPlace(tx, channelId, "channel.placeDead", { place, error });
}

/** Why nothing is sent to a chat, or undefined. After a day one message may try it again. */
export function deadError(db: JsonReader, channelId: string, place: string, now: number): ErrorRecord | undefined {
  const row = db.get<{ error: string }>(
    "SELECT dead_error AS error FROM channel_places WHERE channel_id = ? AND place = ? AND dead_at > ?",
    channelId,
    place,
    now - DELIVERY.deadAgainMs,
  );
  return row === undefined ? undefined : (db.unpack(row.error) as unknown as ErrorRecord);
}

/** Somebody writes from the chat, or an operator wants it tried: it counts as reachable. True when it did not before. */
export function revive(tx: Tx, channelId: string, place: string): boolean {
  const { changes } = tx.run(
    "UPDATE channel_places SET dead_at = NULL, dead_error = NULL WHERE channel_id = ? AND place = ? AND dead_at IS NOT NULL",
    channelId,
    place,
  );
  if (changes > 0) tellPlace(tx, channelId, "channel.placeBack", { place });
  return changes > 0;
}

/** A group became a supergroup: what is written to the old id goes to the new one from now on. */
export function markMoved(tx: Tx, channelId: string, place: string, movedTo: string): void {
  const known = tx.get<{ to: string }>(
    'SELECT moved_to AS "to" FROM channel_places WHERE channel_id = ? AND place = ? AND moved_to IS NOT NULL',
    channelId,
    place,
  );
  tx.run(
    `INSERT INTO channel_places (channel_id, place, moved_to) VALUES (?, ?, ?)
     ON CONFLICT (channel_id, place) DO UPDATE SET moved_to = excluded.moved_to`,
    channelId,
    place,
    movedTo,
  );
  if (known?.to !== movedTo) tellPlace(tx, channelId, "channel.placeMoved", { place, movedTo });
}

/**
 * Whether anything may be received from or sent to a chat: it is on the list, or the service told us that a chat of the list has this
 * id now. The people in it are the same.
 */
export function isReachable(db: Reader, access: Access, channelId: string, place: string): boolean {
  if (isPlaceAllowed(access, channelId, place)) return true;
  return db
    .all<{ place: string }>("SELECT place FROM channel_places WHERE channel_id = ? AND moved_to = ?", channelId, place)
    .some((before) => isPlaceAllowed(access, channelId, before.place));
}

function tellPlace(tx: Tx, channelId: string, type: string, payload: Record<string, unknown>): void {
  const channel = channelById(tx, channelId);
  if (channel === undefined) return;
  tx.event(channel.resourceNo, { type, actor: { type: "channel", id: channelId }, payload });
}
