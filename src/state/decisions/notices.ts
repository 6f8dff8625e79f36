/**
 * Messages beside the cards of a decision that waits: reminders, and that somebody else is asked too. They answer the card, so that a
 * tap on them leads to it, and are not sent any more once the decision is over.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import type { ReplyRequest } from "../effects/content.ts";
import { insertEffect } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import type { DecisionRow } from "./rows.ts";

export type Notice = Extract<ReplyCode, { code: "reminder" | "escalated" }>;

/** A copy of the card whose last part, the one with the buttons, is known. */
export interface ShownCard {
  readonly channelId: string;
  readonly destination: string;
  readonly place: string;
  readonly reference: string;
}

/** The newest copy of the card at each destination that shows it whole. */
export function shownCards(tx: Tx, decisionNo: number): ShownCard[] {
  const copies = tx.all<ShownCard>(
    `SELECT e.channel_id AS channelId, e.destination, e.place, p.reference FROM effects e JOIN effect_parts p ON p.effect_no = e.effect_no
     WHERE e.decision_no = ? AND e.purpose = 'delivery' AND p.reference IS NOT NULL AND p.part = p.parts_of ORDER BY e.effect_no, p.attempt_number`,
    decisionNo,
  );
  return [...new Map(copies.map((copy) => [copy.destination, copy])).values()];
}

/** Queues a notice under a copy of the card. `key` tells it from others of this decision. */
export function queueNotice(
  tx: Tx,
  decision: DecisionRow,
  under: ShownCard,
  { key, reply, timeZone }: { readonly key: string; readonly reply: Notice; readonly timeZone: string },
): void {
  const request: ReplyRequest = { reply, timeZone, prompt: null };
  insertEffect(tx, {
    purpose: "reply",
    effectType: `notice.${reply.code}`,
    key: `notice:${decision.decisionId}:${key}:${under.destination}`,
    resourceNo: decision.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    decisionNo: decision.decisionNo,
    channelId: under.channelId,
    destination: under.destination,
    place: under.place,
    targetReference: under.reference,
  });
}
