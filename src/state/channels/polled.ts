/**
 * A poll of a channel came back. After a silence in which the service may have thrown taps away, cards that people could see all that time are
 * offered again: anew where they are few, in one list where they are many. What the channel had kept is handed over first.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { OFFER } from "../../contracts/limits.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import { offerAgain, type Silence } from "../decisions/offers.ts";
import { DECISION_COLUMNS, type DecisionRow } from "../decisions/rows.ts";
import type { ReplyRequest } from "../effects/content.ts";
import { insertEffect } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { deadError, isReachable } from "./places.ts";
import { LIST_EFFECT } from "./offer-lists.ts";
import { spokenFor, type ChannelRow } from "./rows.ts";

export interface PolledInput {
  readonly channelId: string;
  readonly adapterEpoch: string;
  /** The last good poll before this one, where the server knows it better than the database; milliseconds since the epoch. */
  readonly heardAt: number | null;
  /** Nothing more was waiting. */
  readonly drained: boolean;
  readonly access: Access;
}

/** `offered`: cards that are offered again. Throws `channelUnknown`, or `protocolRejected` for an adapter that was replaced. */
export const polled = defineCommand("channels.polled", (tx: Tx, input: PolledInput): { offered: number } => {
  const channel = spokenFor(tx, input.channelId, input.adapterEpoch);
  const silence = silenceBefore(tx, channel, input.heardAt);
  const over = input.drained && silence !== null;
  tx.run(
    "UPDATE channels SET polled_at = ?, silent_from = ?, silent_to = ? WHERE channel_id = ?",
    tx.now,
    over ? null : (silence?.from ?? null),
    over ? null : (silence?.to ?? null),
    input.channelId,
  );
  return { offered: over ? offerAll(tx, channel, silence, input.access) : 0 };
});

/** The silence whose cards are still to be offered, if there is one. Two in a row count as one. */
function silenceBefore(tx: Tx, channel: ChannelRow, heardAt: number | null): Silence | null {
  const row = tx.get<{ polledAt: number | null; from: number | null; to: number | null }>(
    'SELECT polled_at AS polledAt, silent_from AS "from", silent_to AS "to" FROM channels WHERE channel_id = ?',
    channel.channelId,
  );
  const known = row?.from == null || row.to === null ? null : { from: row.from, to: row.to };
  const heard = Math.max(row?.polledAt ?? 0, channel.cursorAt ?? 0, heardAt ?? 0);
  if (heard === 0 || tx.now - heard <= OFFER.silenceMs) return known;
  return { from: known?.from ?? heard, to: tx.now };
}

type Waiting = DecisionRow & { destination: string; place: string };

/** Cards in a chat before the last taps that the service still had kept, once for each destination, oldest first. */
const SEEN = `SELECT DISTINCT ${DECISION_COLUMNS}, e.destination, e.place FROM human_decisions d
  CROSS JOIN effects e ON e.decision_no = d.decision_no JOIN effect_parts p ON p.effect_no = e.effect_no AND p.part = p.parts_of
  WHERE d.status = 'pending' AND (d.deadline_at IS NULL OR d.deadline_at > ?1) AND e.purpose = 'delivery' AND e.channel_id = ?2
    AND p.state = 'accepted' AND p.at < ?3
    AND NOT EXISTS (SELECT 1 FROM decision_offers o WHERE o.decision_no = d.decision_no AND o.destination = e.destination AND o.offered_at > ?4)
  ORDER BY d.decision_no, e.effect_no`;

function offerAll(tx: Tx, channel: ChannelRow, silence: Silence, access: Access): number {
  const { channelId, resourceNo } = channel;
  const seen = tx
    .all<Waiting>(SEEN, tx.now, channelId, silence.to - OFFER.silenceMs, tx.now - OFFER.everyMs)
    .filter(
      ({ place }) => isReachable(tx, access, channelId, place) && deadError(tx, channelId, place, tx.now) === undefined,
    );
  for (const cards of grouped(seen, "place")) {
    // A topic may have other readers than its chat: each destination gets its own list, and none those of another.
    if (cards.length <= OFFER.anew) for (const card of cards) anew(tx, card, silence);
    else for (const listed of grouped(cards, "destination")) list(tx, channel, listed, silence, access);
  }
  const actor = { type: "server", id: "silence" };
  tx.event(resourceNo, { type: "channel.silenceEnded", actor, payload: { ...silence, cards: seen.length } });
  return seen.length;
}

function grouped(cards: readonly Waiting[], by: "place" | "destination"): Waiting[][] {
  const groups = new Map<string, Waiting[]>();
  for (const card of cards) groups.set(card[by], [...(groups.get(card[by]) ?? []), card]);
  return [...groups.values()];
}

function anew(tx: Tx, card: Waiting, silence: Silence): void {
  note(tx, card, null);
  offerAgain(tx, card, { destination: card.destination, silence, actor: { type: "server", id: "silence" } });
}

function list(tx: Tx, channel: ChannelRow, cards: readonly Waiting[], silence: Silence, access: Access): void {
  const [first] = cards;
  if (first === undefined) return;
  const shown = cards.slice(0, OFFER.listed);
  const reply: ReplyCode = {
    code: "offlineDigest",
    ...silence,
    cards: shown.map(({ decisionId, fingerprint, title }) => ({ id: decisionId, title, fingerprint })),
    more: cards.length - shown.length,
  };
  const request: ReplyRequest = { reply, timeZone: access.timeZone, prompt: null };
  const { effectNo } = insertEffect(tx, {
    purpose: "reply",
    effectType: LIST_EFFECT,
    key: `digest:${first.destination}:${silence.to}`,
    resourceNo: channel.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    channelId: channel.channelId,
    destination: first.destination,
    place: first.place,
  });
  for (const [index, card] of cards.entries()) note(tx, card, index < shown.length ? effectNo : null);
}

/** `listNo`: the list that names it, null when it is posted by itself or beyond what the list shows. */
function note(tx: Tx, { decisionNo, destination }: Waiting, listNo: number | null): void {
  tx.run(
    `INSERT INTO decision_offers (decision_no, destination, offered_at, list_effect_no) VALUES (?, ?, ?, ?)
     ON CONFLICT (decision_no, destination, offered_at) DO UPDATE SET list_effect_no = coalesce(excluded.list_effect_no, list_effect_no)`,
    decisionNo,
    destination,
    tx.now,
    listNo,
  );
  if (listNo !== null) tx.run("UPDATE human_decisions SET listed = 1 WHERE decision_no = ?", decisionNo);
}
