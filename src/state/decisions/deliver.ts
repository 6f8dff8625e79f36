/** One card for one destination of an audience: a delivery effect, made once for each decision and destination. */
import { parseDestination, PI } from "../../contracts/config.ts";
import { ensureChannel } from "../channels/rows.ts";
import { refuse } from "../effects/refuse.ts";
import { effectByNo, insertEffect, type EffectRow } from "../effects/rows.ts";
import { placed } from "../sessions/destination.ts";
import { queueDocument } from "./document.ts";
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
    readonly runNo: number;
  },
): boolean {
  const { decisionId, decisionNo, document, requestDigest, resourceNo, runNo } = card;
  const { error, to: destination } = placed(tx, card.destination, runNo);
  const { channel, kind, place, profile } = parseDestination(destination);
  ensureChannel(tx, { channelId: channel, kind, profile });
  // Before the card, which then tells what became of it. A session shows everything anyway.
  if (document === 1 && channel !== PI) queueDocument(tx, { ...card, channel, kind, place });
  const { created, effectNo } = insertEffect(tx, {
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
  });
  if (created && error !== null) refuse(tx, effectByNo(tx, effectNo) as EffectRow, error);
  return created;
}
