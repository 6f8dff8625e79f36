/**
 * The document of a card whose content would be too many messages: sent before the card, as a message of its own with attempts like any
 * other, so that the card knows and tells what became of it.
 */
import type { CardNotes } from "../../contracts/decision/card.ts";
import { insertEffect, type EffectStatus } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import type { DecisionRow } from "./rows.ts";

export const DOCUMENT_EFFECT = "card.document";
/** Kinds of channels that take files; others show the whole card. */
const TAKES_FILES = new Set(["telegram"]);

interface DocumentFor extends Pick<DecisionRow, "decisionId" | "decisionNo" | "requestDigest" | "resourceNo"> {
  readonly channel: string;
  readonly kind: string;
  readonly destination: string;
  readonly place: string;
}

/** Queues the document for one destination, once. */
export function queueDocument(tx: Tx, to: DocumentFor): void {
  const { channel, decisionId, decisionNo, destination, kind, place, requestDigest, resourceNo } = to;
  if (!TAKES_FILES.has(kind)) return;
  insertEffect(tx, {
    purpose: "reply",
    effectType: DOCUMENT_EFFECT,
    key: `document:${decisionId}:${destination}`,
    resourceNo,
    request: { decisionId, destination },
    requestDigest,
    decisionNo,
    channelId: channel,
    destination,
    place,
  });
}

const TOLD: Readonly<Record<EffectStatus, NonNullable<CardNotes["document"]>>> = {
  applied: "sent",
  pending: "unconfirmed",
  applying: "unconfirmed",
  ambiguous: "unconfirmed",
  rejected: "failed",
  cancelled: "failed",
};

/** What a card at this destination says of its document; nothing when it has none. */
export function documentNote(tx: Tx, decision: DecisionRow, destination: string | null): CardNotes {
  if (decision.document === 0) return {};
  const sql = `SELECT status FROM effects WHERE decision_no = ? AND effect_type = '${DOCUMENT_EFFECT}' ORDER BY destination = ? DESC, effect_no DESC LIMIT 1`;
  const row = tx.get<{ status: EffectStatus }>(sql, decision.decisionNo, destination);
  return row === undefined ? {} : { document: TOLD[row.status] };
}
