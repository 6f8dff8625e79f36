/**
 * Messages that answer what people sent: effects of purpose `reply`, queued by the command that stores the verdict and keyed by channel,
 * epoch and update, so that a repeated update cannot make a second one.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { TELEGRAM } from "../../contracts/limits.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import type { DecisionRow } from "../decisions/rows.ts";
import type { ReplyRequest } from "../effects/content.ts";
import { insertEffect } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import type { Pressable } from "./operator/answer.ts";
import type { ChannelRow } from "./rows.ts";

/** Where an update came from and where its answer goes. */
export interface Origin {
  readonly channel: ChannelRow;
  readonly updateId: number;
  readonly place: string;
  readonly topic: string | null;
  readonly timeZone: string;
}

export interface Reply {
  readonly reply: ReplyCode;
  /** The message it answers. */
  readonly to: string | null;
  /** Decision whose chain tells about it. */
  readonly decision?: DecisionRow;
  readonly prompt?: { readonly placeholder: string };
  readonly buttons?: readonly (readonly Pressable[])[];
  readonly onlyFor?: string;
}

/** Queues a reply; returns its effect's number. */
export function queueReply(tx: Tx, origin: Origin, { buttons, decision, onlyFor, prompt, reply, to }: Reply): number {
  const { channel, place, timeZone, topic, updateId } = origin;
  const request: ReplyRequest = {
    reply,
    timeZone,
    prompt: prompt ?? null,
    ...(buttons === undefined || buttons.length === 0 ? {} : { buttons }),
    ...(onlyFor === undefined ? {} : { onlyFor }),
  };
  return insertEffect(tx, {
    purpose: "reply",
    effectType: `reply.${reply.code}`,
    key: `reply:${channel.channelId}:${channel.channelEpoch}:${updateId}`,
    resourceNo: decision?.resourceNo ?? channel.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    decisionNo: decision?.decisionNo ?? null,
    channelId: channel.channelId,
    destination: topic === null ? `${channel.channelId}/${place}` : `${channel.channelId}/${place}/${topic}`,
    place,
    targetReference: to,
  }).effectNo;
}

interface PromptFor {
  readonly decision: DecisionRow;
  readonly choice: string;
  readonly actorId: string;
  readonly reply: Extract<ReplyCode, { code: "promptText" }>;
  /** The card that was tapped, or the text that could not be matched. */
  readonly to: string | null;
}

/**
 * Queues the question for a choice's text: the reply to that message will be this person's answer. When the same question to the same
 * person is still on its way there is no second one.
 */
export function queuePrompt(tx: Tx, origin: Origin, { actorId, choice, decision, reply, to }: PromptFor): void {
  const { channel, place } = origin;
  const waiting = tx.get(
    `SELECT 1 FROM decision_prompts p JOIN effects e ON e.effect_no = p.effect_no
     WHERE p.decision_no = ? AND p.choice = ? AND p.channel_id = ? AND p.place = ? AND p.actor_id = ?
       AND (e.status = 'pending' OR e.status = 'applying' AND ?)`,
    decision.decisionNo,
    choice,
    channel.channelId,
    place,
    actorId,
    // What is on its way may be what was replied to in vain.
    reply.again === true ? 0 : 1,
  );
  if (waiting !== undefined) return;
  const effectNo = queueReply(tx, origin, { decision, reply, to, prompt: { placeholder: placeholderOf(reply.label) } });
  tx.run(
    "INSERT INTO decision_prompts (effect_no, decision_no, request_digest, choice, channel_id, place, actor_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    effectNo,
    decision.decisionNo,
    decision.requestDigest,
    choice,
    channel.channelId,
    place,
    actorId,
    tx.now,
  );
}

/** The field's hint is the choice's own label: the author's word, cut to what the service takes. */
function placeholderOf(label: string): string {
  return cutToUnits(label, TELEGRAM.placeholderChars);
}
