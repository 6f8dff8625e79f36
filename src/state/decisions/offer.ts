/**
 * A card is offered again: one more copy of a decision that still waits. Earlier copies stay good; every copy belongs to the one decision.
 */
import { insertEffect } from "../effects/rows.ts";
import type { Actor, Tx } from "../tx.ts";
import type { DecisionRow } from "./rows.ts";

export interface Offer {
  readonly channelId: string;
  readonly place: string;
  readonly destination: string;
  /** Makes this copy unique: what asked for it. */
  readonly cause: string;
  readonly actor: Actor;
}

/** Queues one more card for a destination; nothing when the same cause asked before. */
export function offerAgain(tx: Tx, decision: DecisionRow, offer: Offer): void {
  const { actor, cause, channelId, destination, place } = offer;
  const { decisionId, decisionNo, requestDigest, resourceNo } = decision;
  const { created } = insertEffect(tx, {
    purpose: "delivery",
    effectType: "card.post",
    key: `delivery:${decisionId}:${destination}:${cause}`,
    resourceNo,
    request: { decisionId, destination },
    requestDigest,
    decisionNo,
    channelId,
    destination,
    place,
  });
  if (!created) return;
  tx.event(resourceNo, { type: "decision.offeredAgain", actor, payload: { decisionId, destination, cause } });
}
