/**
 * Rows of channels: the channel itself and what is remembered about its places.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";

export interface ChannelRow {
  readonly channelId: string;
  readonly resourceNo: number;
  readonly kind: string;
  readonly profile: string;
  channelEpoch: number;
  cursor: number | null;
  readonly cursorAt: number | null;
  readonly adapterEpoch: string | null;
  /** Whether the place of the update in hand is known as one that cannot be reached (1 or 0); left out where nobody looked. */
  readonly placeDead?: number;
}

const COLUMNS = `c.channel_id AS channelId, c.resource_no AS resourceNo, c.kind, c.profile, c.channel_epoch AS channelEpoch, c.cursor, c.cursor_at AS cursorAt,
  c.adapter_epoch AS adapterEpoch`;

const BY_ID = `SELECT ${COLUMNS} FROM channels c WHERE c.channel_id = ?`;
const WITH_VERDICT = `SELECT ${COLUMNS}, i.verdict, i.ack, i.digest,
    EXISTS (SELECT 1 FROM channel_places p WHERE p.channel_id = c.channel_id AND p.place = ? AND p.dead_at IS NOT NULL) AS placeDead FROM channels c
  LEFT JOIN channel_inbox i ON i.channel_id = c.channel_id AND i.channel_epoch = c.channel_epoch AND i.update_id = ? WHERE c.channel_id = ?`;

export function channelById(db: Reader, channelId: string): ChannelRow | undefined {
  return db.get<ChannelRow>(BY_ID, channelId);
}

export function allChannels(db: Reader): ChannelRow[] {
  return db.all<ChannelRow>(`SELECT ${COLUMNS} FROM channels c ORDER BY c.channel_id LIMIT 256`);
}

/** The row of a channel, made when it does not exist: a card may be queued before its adapter was ever started. */
export function ensureChannel(
  tx: Tx,
  channel: { readonly channelId: string; readonly kind: string; readonly profile: string },
): ChannelRow {
  const found = channelById(tx, channel.channelId);
  if (found !== undefined) return found;
  const resourceNo = tx.resource("channel", channel.channelId);
  tx.run(
    "INSERT INTO channels (channel_id, resource_no, kind, profile, channel_epoch) VALUES (?, ?, ?, ?, 1)",
    channel.channelId,
    resourceNo,
    channel.kind,
    channel.profile,
  );
  return { ...channel, resourceNo, channelEpoch: 1, cursor: null, cursorAt: null, adapterEpoch: null };
}

/** The channel that an adapter speaks for. An adapter that was replaced may report nothing more: `protocolRejected`. */
export function spokenFor(tx: Tx, channelId: string, adapterEpoch: string): ChannelRow {
  return checked(channelById(tx, channelId), channelId, adapterEpoch);
}

/** What an update came to when it was handled before, in the channel's present epoch; all null when it was not. */
export interface Verdict {
  readonly verdict: string | null;
  readonly ack: string | null;
  readonly digest: string | null;
}

/** As `spokenFor`, with the verdict on an update and whether its place is dead. */
export function spokenBefore(
  tx: Tx,
  { adapterEpoch, channelId }: { readonly channelId: string; readonly adapterEpoch: string },
  { place, updateId }: { readonly updateId: number; readonly place: string | null },
): ChannelRow & Verdict {
  return checked(tx.get<ChannelRow & Verdict>(WITH_VERDICT, place, updateId, channelId), channelId, adapterEpoch);
}

function checked<T extends ChannelRow>(channel: T | undefined, channelId: string, adapterEpoch: string): T {
  if (channel === undefined) throw new HoldpointError("channelUnknown", `No channel "${channelId}" is known.`);
  if (channel.adapterEpoch !== adapterEpoch) {
    throw new HoldpointError(
      "protocolRejected",
      `Adapter epoch ${adapterEpoch} of ${channelId} was replaced by ${channel.adapterEpoch ?? "none"}.`,
    );
  }
  return channel;
}

/** Leaves a place alone until a time (the service asked for it). */
export function holdPlace(tx: Tx, channelId: string, place: string, until: number): void {
  tx.run(
    `INSERT INTO channel_places (channel_id, place, held_until) VALUES (?, ?, ?)
     ON CONFLICT (channel_id, place) DO UPDATE SET held_until = max(held_until, excluded.held_until)`,
    channelId,
    place,
    until,
  );
}

/** Whether help may be given in a place now; if so, it counts as given. */
export function takeHelpTurn(tx: Tx, channelId: string, place: string, everyMs: number): boolean {
  return (
    tx.run(
      `INSERT INTO channel_places (channel_id, place, helped_at) VALUES (?1, ?2, ?3)
       ON CONFLICT (channel_id, place) DO UPDATE SET helped_at = excluded.helped_at WHERE helped_at IS NULL OR helped_at <= excluded.helped_at - ?4`,
      channelId,
      place,
      tx.now,
      everyMs,
    ).changes === 1
  );
}
