/**
 * A channel is deaf, or hears again: kept on its row, so that it is told once however often the server restarts, and told over the
 * other channels of the audiences that it serves.
 */
import { parseDestination, chatsOf } from "../../contracts/config.ts";
import { sha256Digest } from "../../contracts/canonical.ts";
import type { DeafCause, ReplyCode } from "../../contracts/decision/codes.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import type { ReplyRequest } from "../effects/content.ts";
import { effectIdOf, effectOf, insertEffect, moveEffect } from "../effects/rows.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { channelById, ensureChannel, type ChannelRow } from "./rows.ts";

export interface HearingInput {
  readonly channelId: string;
  /** Null: it hears. */
  readonly deaf: { readonly since: number; readonly cause: DeafCause } | null;
  readonly access: Access;
}

export interface Deafness {
  readonly since: number;
  readonly cause: DeafCause;
}

/** What is on record about a channel's hearing; null = it hears. */
export function deafnessOf(db: Reader, channelId: string): (Deafness & { readonly told: string[] }) | null {
  const row = db.get<{ since: number | null; cause: DeafCause | null; told: string | null }>(
    "SELECT deaf_since AS since, deaf_cause AS cause, deaf_told AS told FROM channels WHERE channel_id = ?",
    channelId,
  );
  if (!row || row.since === null || row.cause === null) return null;
  return { since: row.since, cause: row.cause, told: JSON.parse(row.told ?? "[]") as string[] };
}

/** Notes a change and queues its messages; `told` are their destinations. Nothing changes when it is known already. */
export const hearing = defineCommand(
  "channels.hearing",
  (tx: Tx, { access, channelId, deaf }: HearingInput): { changed: boolean; told: string[] } => {
    const known = deafnessOf(tx, channelId);
    if ((known === null) === (deaf === null)) return { changed: false, told: known?.told ?? [] };
    const channel = channelById(tx, channelId);
    if (channel === undefined) return { changed: false, told: [] };
    const told =
      deaf === null
        ? hears(tx, channel, known as NonNullable<typeof known>, access)
        : isDeaf(tx, channel, deaf, access);
    return { changed: true, told };
  },
);

function isDeaf(tx: Tx, channel: ChannelRow, { cause, since }: Deafness, access: Access): string[] {
  const { channelId } = channel;
  const told = listeners(access, channelId, cause);
  tx.run(
    "UPDATE channels SET deaf_since = ?, deaf_cause = ?, deaf_told = ? WHERE channel_id = ?",
    since,
    cause,
    JSON.stringify(told),
    channelId,
  );
  tx.event(channel.resourceNo, {
    type: "channel.deaf",
    actor: { type: "server", id: "hearing" },
    payload: { since, cause, told },
  });
  for (const destination of told)
    post(
      tx,
      channel,
      destination,
      alertKey(channelId, since, destination),
      {
        code: "channelDeaf",
        channel: channelId,
        since,
        cause,
      },
      access,
    );
  return told;
}

function hears(
  tx: Tx,
  channel: ChannelRow,
  { cause, since, told }: Deafness & { readonly told: string[] },
  access: Access,
): string[] {
  const { channelId } = channel;
  tx.run("UPDATE channels SET deaf_since = NULL, deaf_cause = NULL, deaf_told = NULL WHERE channel_id = ?", channelId);
  tx.event(channel.resourceNo, {
    type: "channel.hears",
    actor: { type: "server", id: "hearing" },
    payload: { since, until: tx.now, cause, told },
  });
  for (const destination of told) {
    // An alert that never went out would only confuse after this: what follows tells both.
    const alert = effectOf(tx, channel.resourceNo, effectIdOf(alertKey(channelId, since, destination)));
    if (alert?.status === "pending" && alert.attemptCount === 0) moveEffect(tx, alert, "cancelled");
    post(
      tx,
      channel,
      destination,
      `hears:${channelId}:${since}:${destination}`,
      {
        code: "channelHears",
        channel: channelId,
        since,
        until: tx.now,
        cause,
      },
      access,
    );
  }
  return told;
}

function alertKey(channelId: string, since: number, destination: string): string {
  return `deaf:${channelId}:${since}:${destination}`;
}

/**
 * The destinations on other channels of every audience that this channel serves. Where there is none, and sending still works because
 * only the updates are taken away, its own: better heard there than nowhere.
 */
function listeners(access: Access, channelId: string, cause: DeafCause): string[] {
  const served = Object.values(access.audiences)
    .map(({ destinations }) => chatsOf(destinations).map((text) => parseDestination(text)))
    .filter((destinations) => destinations.some(({ channel }) => channel === channelId));
  const told = served.flatMap((destinations) => {
    const others = destinations.filter(({ channel }) => channel !== channelId);
    return others.length > 0 || cause !== "conflict" ? others : destinations;
  });
  return [...new Set(told.map(({ text }) => text))];
}

function post(tx: Tx, about: ChannelRow, to: string, key: string, reply: ReplyCode, access: Access): void {
  const { channel, kind, place, profile } = parseDestination(to);
  ensureChannel(tx, { channelId: channel, kind, profile });
  const request: ReplyRequest = { reply, timeZone: access.timeZone, prompt: null };
  insertEffect(tx, {
    purpose: "reply",
    effectType: `reply.${reply.code}`,
    key,
    resourceNo: about.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    channelId: channel,
    destination: to,
    place,
  });
}
