/**
 * When a card can no longer be edited (deleted, or refused by the service), its outcome is told once per destination by a message of
 * its own: an edit that fails silently would leave people with a question that is over.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import { withoutText } from "../../contracts/decision/card.ts";
import { statusOf } from "../decisions/card.ts";
import { decisionByNo, requestOf, resolutionOf } from "../decisions/rows.ts";
import type { Tx } from "../tx.ts";
import type { ReplyRequest } from "./content.ts";
import { insertEffect, type EffectRow } from "./rows.ts";

/** Queues the message for the card that `settlement` could not edit; nothing when its destination has it already. */
export function postOutcome(tx: Tx, settlement: EffectRow): void {
  const decision = decisionByNo(tx, settlement.decisionNo as number);
  // What could not be added to a card that still waits is told with its outcome.
  if (decision.status === "pending") return;
  const asked = requestOf(tx, decision);
  const known = statusOf(asked, resolutionOf(tx, decision));
  const status = asked.presentation.sensitive === true ? withoutText(known) : known;
  const request: ReplyRequest = {
    reply: { code: "outcome", title: decision.title, fingerprint: decision.fingerprint, status },
    timeZone: decision.timeZone,
    prompt: null,
  };
  insertEffect(tx, {
    purpose: "reply",
    effectType: "reply.outcome",
    key: `outcome:${decision.decisionId}:${settlement.destination}`,
    resourceNo: decision.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    decisionNo: decision.decisionNo,
    channelId: settlement.channelId,
    destination: settlement.destination,
    place: settlement.place,
  });
}
