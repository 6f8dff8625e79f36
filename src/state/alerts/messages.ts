/** The messages of alerts as effects: posts of every kind, and edits of what is known in a chat. What they show is computed when they are given out. */
import { sha256Digest } from "../../contracts/canonical.ts";
import { parseDestination } from "../../contracts/config.ts";
import { ensureChannel } from "../channels/rows.ts";
import { partsOf, progressOf } from "../effects/part-rows.ts";
import { effectByNo, insertEffect, moveEffect, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";

export type MessageKind = "card" | "closing" | "reminder" | "digest" | "digestClosing" | "digestReminder";

/** What a message is about: an episode of an alert, or a list. */
export type About =
  | { readonly alertNo: number; readonly episode: number; readonly digestNo?: undefined }
  | { readonly digestNo: number; readonly alertNo?: undefined; readonly episode?: undefined };

/** The stored request of a message of an alert. */
export interface AlertRequest {
  readonly audience: string;
  readonly silent: boolean;
  /** Of a reminder: its number, whether it is the last, and what it comes of. */
  readonly number?: number;
  readonly last?: boolean;
  readonly snoozeOver?: boolean;
}

export interface Post {
  readonly about: About;
  readonly kind: MessageKind;
  /** Unique among the messages about the same thing to the same destination. */
  readonly key: string;
  readonly resourceNo: number;
  readonly destination: string;
  readonly request: AlertRequest;
}

const ABOUT =
  "INSERT INTO alert_messages (effect_no, kind, alert_no, episode, digest_no, destination) VALUES (?, ?, ?, ?, ?, ?)";

function note(tx: Tx, effectNo: number, kind: MessageKind | "edit", about: About, destination: string): void {
  tx.run(ABOUT, effectNo, kind, about.alertNo ?? null, about.episode ?? null, about.digestNo ?? null, destination);
}

/** Queues a new message, once per key. */
export function post(tx: Tx, { about, destination, key, kind, request, resourceNo }: Post): void {
  const { channel, kind: service, place, profile } = parseDestination(destination);
  ensureChannel(tx, { channelId: channel, kind: service, profile });
  const { created, effectNo } = insertEffect(tx, {
    purpose: "alert",
    effectType: `alert.${kind}`,
    key: `alert:${key}:${destination}`,
    resourceNo,
    request,
    requestDigest: sha256Digest(request),
    channelId: channel,
    destination,
    place,
  });
  if (created) note(tx, effectNo, kind, about, destination);
}

/** A message whose place in the chat is known. */
export interface Shown {
  readonly effectNo: number;
  readonly effectId: string;
  readonly resourceNo: number;
  readonly channelId: string;
  readonly destination: string;
  readonly place: string;
  readonly reference: string;
  /** The revision that it was given out with. */
  readonly shown: number;
}

const WHERE = {
  episode: "m.alert_no = ?1 AND m.episode = ?2 AND m.kind = 'card'",
  digest: "m.digest_no = ?1 AND m.kind = 'digest' AND ?2 = 0",
} as const;

function key(about: About): readonly [string, number, number] {
  return about.digestNo === undefined
    ? [WHERE.episode, about.alertNo, about.episode]
    : [WHERE.digest, about.digestNo, 0];
}

/** The messages that stand for an episode or a list, each copy of them, oldest first. */
export function shownOf(tx: Tx, about: About): Shown[] {
  const [where, first, second] = key(about);
  return tx.all<Shown>(
    `SELECT m.effect_no AS effectNo, e.effect_id AS effectId, e.resource_no AS resourceNo, e.channel_id AS channelId, e.destination, e.place, p.reference, m.shown
     FROM alert_messages m JOIN effects e ON e.effect_no = m.effect_no JOIN effect_parts p ON p.effect_no = m.effect_no
     WHERE ${where} AND p.reference IS NOT NULL ORDER BY m.effect_no, p.attempt_number`,
    first,
    second,
  );
}

/** Effects that stand for an episode or a list at a destination, sent or not; null = anywhere. */
export function standing(tx: Tx, about: About, destination: string | null): EffectRow[] {
  const [where, first, second] = key(about);
  return tx
    .all<{ no: number }>(
      `SELECT m.effect_no AS no FROM alert_messages m WHERE ${where} AND (?3 IS NULL OR m.destination = ?3) ORDER BY m.effect_no`,
      first,
      second,
      destination,
    )
    .flatMap(({ no }) => effectByNo(tx, no) ?? []);
}

/** Whether anything of an effect may have come to a chat. */
export function isTouched(tx: Tx, effect: EffectRow): boolean {
  return progressOf(partsOf(tx, effect.effectNo)).touched;
}

/** A message that was never sent is not needed any more. */
export function withdraw(tx: Tx, effects: readonly EffectRow[]): void {
  for (const effect of effects)
    if (effect.status === "pending" && !isTouched(tx, effect)) moveEffect(tx, effect, "cancelled");
}

/** Messages of some kinds about an episode that were not sent: a reminder, for instance, when somebody takes it. */
export function waiting(tx: Tx, about: { alertNo: number; episode: number }, kind: MessageKind): EffectRow[] {
  return tx
    .all<{ no: number }>(
      `SELECT m.effect_no AS no FROM alert_messages m JOIN effects e ON e.effect_no = m.effect_no
       WHERE m.alert_no = ? AND m.episode = ? AND m.kind = ? AND e.status = 'pending'`,
      about.alertNo,
      about.episode,
      kind,
    )
    .flatMap(({ no }) => effectByNo(tx, no) ?? []);
}

interface Edit {
  readonly effectNo: number;
  readonly status: string;
  readonly at: number;
}

function editsOf(tx: Tx, about: About, { channelId, reference }: Shown): Edit[] {
  const column = about.digestNo === undefined ? "m.alert_no" : "m.digest_no";
  return tx.all<Edit>(
    `SELECT e.effect_no AS effectNo, e.status, coalesce(e.settled_at, e.created_at) AS at FROM alert_messages m JOIN effects e ON e.effect_no = m.effect_no
     WHERE ${column} = ? AND m.kind = 'edit' AND e.channel_id = ? AND e.target_reference = ? ORDER BY e.effect_no DESC LIMIT 4`,
    about.digestNo ?? about.alertNo,
    channelId,
    reference,
  );
}

/**
 * Brings a message to what is. One edit waits at a time, because it will show what is when it goes out. `every`: it only tells that something
 * lasts, and comes at most this often; null = at once.
 */
export function edit(
  tx: Tx,
  about: About,
  shown: Shown,
  { every, revision }: { every: number | null; revision: number },
): void {
  const edits = editsOf(tx, about, shown);
  const waits = edits.find(({ status }) => status === "pending");
  if (waits !== undefined) {
    if (every === null)
      tx.run("UPDATE effects SET next_attempt_at = ? WHERE effect_no = ? AND failures = 0", tx.now, waits.effectNo);
    return;
  }
  const request = { edits: shown.effectId, revision };
  const { created, effectNo } = insertEffect(tx, {
    purpose: "settlement",
    effectType: "alert.edit",
    key: `alert.edit:${shown.effectId}:${shown.reference}:${revision}`,
    resourceNo: shown.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    channelId: shown.channelId,
    destination: shown.destination,
    place: shown.place,
    targetReference: shown.reference,
    targetPart: 1,
  });
  if (!created) return;
  note(tx, effectNo, "edit", about, shown.destination);
  if (every === null) return;
  const last = edits[0]?.at ?? effectByNo(tx, shown.effectNo)?.settledAt ?? tx.now;
  tx.run("UPDATE effects SET next_attempt_at = ? WHERE effect_no = ?", Math.max(tx.now, last + every), effectNo);
}

/** Whether a newer edit of the same message was made or goes out now: an older one has nothing to say then. */
export function hasNewerEdit(tx: Tx, effect: EffectRow): boolean {
  const newer = tx.get(
    `SELECT 1 FROM alert_messages o JOIN alert_messages m ON m.kind = 'edit' AND (m.alert_no = o.alert_no OR m.digest_no = o.digest_no)
     JOIN effects e ON e.effect_no = m.effect_no
     WHERE o.effect_no = ?1 AND m.effect_no > ?1 AND e.channel_id = ?2 AND e.target_reference = ?3 AND (e.status = 'applied' OR (e.status = 'pending' AND e.next_attempt_at <= ?4))`,
    effect.effectNo,
    effect.channelId,
    effect.targetReference,
    tx.now,
  );
  return newer !== undefined;
}
