/**
 * The one message that lists many cards after a silence: a button for each that still waits, and a word for each that does not. It is
 * computed anew whenever it is given out, and edited when a decision on it ends.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import type { ReplyRequest } from "../effects/content.ts";
import { cancelPending, effectByNo, insertEffect, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";

export const LIST_EFFECT = "reply.offlineDigest";

type List = Extract<ReplyCode, { code: "offlineDigest" }>;

/** The list as it stands now. */
export function listNow(tx: Tx, list: List): List {
  return { ...list, cards: list.cards.map((card) => (waits(tx, card.id) ? card : { ...card, over: true as const })) };
}

function waits(tx: Tx, decisionId: string): boolean {
  const sql = "SELECT 1 FROM human_decisions WHERE decision_id = ? AND status = 'pending'";
  return tx.get(sql, decisionId) !== undefined;
}

/** A decision that lists name is over: those that are in a chat are edited. */
export function settleLists(tx: Tx, decisionNo: number): void {
  const lists = tx.all<{ effectNo: number; reference: string }>(
    `SELECT o.list_effect_no AS effectNo, p.reference FROM decision_offers o JOIN effect_parts p ON p.effect_no = o.list_effect_no
     WHERE o.decision_no = ? AND p.reference IS NOT NULL`,
    decisionNo,
  );
  for (const { effectNo, reference } of lists) queueEdit(tx, effectByNo(tx, effectNo) as EffectRow, reference);
}

/** A list has arrived: what ended while it was on its way is told by an edit. */
export function settleArrivedList(tx: Tx, list: EffectRow, reference: string): void {
  if (list.effectType !== LIST_EFFECT) return;
  const { reply } = tx.unpack(list.request) as unknown as ReplyRequest;
  if (reply.code === "offlineDigest" && reply.cards.some(({ id }) => !waits(tx, id))) queueEdit(tx, list, reference);
}

function queueEdit(tx: Tx, list: EffectRow, reference: string): void {
  const { reply } = tx.unpack(list.request) as unknown as ReplyRequest;
  const over = reply.code === "offlineDigest" ? reply.cards.filter(({ id }) => !waits(tx, id)).length : 0;
  const request = { list: list.effectId, over };
  const { effectNo } = insertEffect(tx, {
    purpose: "settlement",
    effectType: "list.settle",
    key: `listed:${list.effectId}:${reference}:${over}`,
    resourceNo: list.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    channelId: list.channelId,
    destination: list.destination,
    place: list.place,
    targetReference: reference,
    targetPart: 1,
  });
  // What an older edit would have shown, this one shows too.
  cancelPending(
    tx,
    "effect_type = 'list.settle' AND channel_id = ? AND place = ? AND target_reference = ? AND effect_no <> ?",
    list.channelId as string,
    list.place as string,
    reference,
    effectNo,
  );
}
