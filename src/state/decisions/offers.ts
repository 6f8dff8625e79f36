/**
 * A card that is posted anew: after a silence in which taps may have been lost, or because somebody asks for it. The earlier copies stay valid and
 * say that there is a newer one, once that one is in the chat.
 */
import { parseDestination } from "../../contracts/config.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import type { CardNotes } from "../../contracts/decision/card.ts";
import { replyForWinner } from "../../decision/index.ts";
import { insertEffect } from "../effects/rows.ts";
import type { Actor, Tx } from "../tx.ts";
import { requestOf, resolutionOf, type DecisionRow, type ValueReader } from "./rows.ts";

/** What notes of a copy need of its delivery. */
export interface Copy {
  readonly effectNo: number;
  readonly destination: string | null;
  readonly request: string;
}

/** A time in which the channel was not heard, in milliseconds since the epoch. */
export interface Silence {
  readonly from: number;
  readonly to: number;
}

/** Queues one more copy of a pending decision's card for a destination; `silence` is why, null when somebody asked for it. */
export function offerAgain(
  tx: Tx,
  decision: DecisionRow,
  offer: { readonly destination: string; readonly silence: Silence | null; readonly actor: Actor },
): void {
  const { actor, destination, silence } = offer;
  const { decisionId, decisionNo, requestDigest, resourceNo } = decision;
  const { channel, place } = parseDestination(destination);
  const { created } = insertEffect(tx, {
    purpose: "delivery",
    effectType: "card.offer",
    key: `offer:${decisionId}:${destination}:${tx.now}`,
    resourceNo,
    request: { decisionId, destination, ...(silence === null ? {} : { offeredAgain: silence }) },
    requestDigest,
    decisionNo,
    channelId: channel,
    destination,
    place,
  });
  if (created)
    tx.event(resourceNo, { type: "decision.offeredAgain", actor, payload: { decisionId, destination, silence } });
}

/**
 * Somebody wants to see a card again at a destination: one more copy, unless one is on its way there; a decision that is over is told
 * instead. `silence` is the one that the list is about in which it was asked for.
 */
export function showAgain(
  tx: Tx,
  decision: DecisionRow,
  wish: { readonly destination: string; readonly silence: Silence | null; readonly actor: Actor },
): ReplyCode {
  const stored = resolutionOf(tx, decision);
  if (stored !== undefined)
    return replyForWinner(requestOf(tx, decision), stored.resolution, {
      nameOf: () => stored.personName,
      personId: wish.actor.id,
    });
  const sql = `SELECT 1 FROM effects WHERE decision_no = ? AND purpose = 'delivery' AND destination = ? AND status IN ('pending', 'applying')`;
  if (tx.get(sql, decision.decisionNo, wish.destination) === undefined) offerAgain(tx, decision, wish);
  return { code: "shownAgain", title: decision.title };
}

/** Why this copy was sent again, and whether a newer one stands below it. */
export function offerNotes(db: ValueReader, decisionNo: number, copy: Copy): CardNotes {
  const { offeredAgain } = db.unpack(copy.request) as { offeredAgain?: Silence };
  const newer = db.get<{ at: number | null }>(
    `SELECT max(p.at) AS at FROM effects e JOIN effect_parts p ON p.effect_no = e.effect_no AND p.part = p.parts_of
     WHERE e.decision_no = ? AND e.effect_type = 'card.offer' AND e.destination = ? AND e.effect_no > ? AND p.reference IS NOT NULL`,
    decisionNo,
    copy.destination,
    copy.effectNo,
  );
  return {
    ...(offeredAgain === undefined ? {} : { offeredAgain }),
    ...(newer?.at == null ? {} : { shownAgain: newer.at }),
  };
}

/** The copies before an offer that has just arrived, if the message of this reference is its last part. */
export function earlierCopies(
  tx: Tx,
  decisionNo: number,
  reference: string,
): { effectNo: number; destination: string } | undefined {
  return tx.get(
    `SELECT e.effect_no AS effectNo, e.destination FROM effects e JOIN effect_parts p ON p.effect_no = e.effect_no AND p.part = p.parts_of
     WHERE e.decision_no = ? AND e.effect_type = 'card.offer' AND p.reference = ?`,
    decisionNo,
    reference,
  );
}

/** Newer copies that have arrived: they number what the earlier ones are edited to say. */
export function offersShown(tx: Tx, decisionNo: number): number {
  const sql = `SELECT count(*) AS n FROM effects e JOIN effect_parts p ON p.effect_no = e.effect_no AND p.part = p.parts_of
    WHERE e.decision_no = ? AND e.effect_type = 'card.offer' AND p.reference IS NOT NULL`;
  return tx.get<{ n: number }>(sql, decisionNo)?.n ?? 0;
}
