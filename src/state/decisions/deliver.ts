/** One card for one destination of an audience: a delivery effect, made once for each decision and destination. */
import { parseDestination } from "../../contracts/config.ts";
import { ensureChannel } from "../channels/rows.ts";
import { refuse } from "../effects/refuse.ts";
import { effectByNo, insertEffect, type EffectRow } from "../effects/rows.ts";
import { placed } from "../sessions/destination.ts";
import type { Tx } from "../tx.ts";

/** Queues the card unless this destination has it already; returns whether it is new. */
export function queueDelivery(
  tx: Tx,
  card: {
    readonly decisionId: string;
    readonly decisionNo: number;
    readonly requestDigest: string;
    readonly resourceNo: number;
    readonly destination: string;
    readonly runNo: number;
  },
): boolean {
  const { decisionId, decisionNo, requestDigest, resourceNo, runNo } = card;
  const { error, to: destination } = placed(tx, card.destination, runNo);
  const { channel, kind, place, profile } = parseDestination(destination);
  ensureChannel(tx, { channelId: channel, kind, profile });
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
