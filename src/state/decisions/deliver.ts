/** One card for one destination of an audience: a delivery effect, made once for each decision and destination. */
import { parseDestination } from "../../contracts/config.ts";
import { ensureChannel } from "../channels/rows.ts";
import { queueDocument } from "./document.ts";
import { insertEffect } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";

/** Queues the card unless this destination has it already; returns whether it is new. */
export function queueDelivery(
  tx: Tx,
  card: {
    readonly decisionId: string;
    readonly decisionNo: number;
    readonly requestDigest: string;
    readonly resourceNo: number;
    readonly document: number;
    readonly destination: string;
  },
): boolean {
  const { decisionId, decisionNo, destination, document, requestDigest, resourceNo } = card;
  const { channel, kind, place, profile } = parseDestination(destination);
  ensureChannel(tx, { channelId: channel, kind, profile });
  // Before the card, which then tells what became of it.
  if (document === 1) queueDocument(tx, { ...card, channel, kind, place });
  return insertEffect(tx, {
    purpose: "delivery",
    effectType: "card.post",
    key: `delivery:${decisionId}:${destination}`,
    resourceNo,
    request: { decisionId, destination },
    requestDigest,
    decisionNo,
    channelId: channel,
    destination,
    place,
  }).created;
}
