/**
 * Escalation: when nobody answers in time, when no destination can show the card, or when everybody has voted in vain, a second audience
 * is asked too. It adds people and destinations, says so on every card, and changes neither the request nor its digest.
 */
import { postedTo } from "../../contracts/config.ts";
import type { EscalationCause } from "../../contracts/decision/policy.ts";
import { isPast, type AnswerTerms } from "../../decision/index.ts";
import { defineCommand } from "../command.ts";
import type { Tx } from "../tx.ts";
import { askedNames, own, type Access } from "./access.ts";
import { queueDelivery } from "./deliver.ts";
import { queueNotice, shownCards } from "./notices.ts";
import { knownDecision, requestOf, type DecisionRow } from "./rows.ts";
import { settleAll } from "./settle.ts";
import { noteTurnout, votesOf } from "./votes.ts";

export interface EscalateResult {
  /** `failed`: the second audience is not configured any more. */
  readonly kind: "escalated" | "failed" | "notDue";
}

/** Asks the second audience of a pending decision if that is due now. */
export const escalate = defineCommand(
  "decisions.escalate",
  (tx: Tx, input: { decisionId: string; access: Access }): EscalateResult => {
    const decision = knownDecision(tx, input.decisionId);
    if (decision.status !== "pending" || decision.escalateAt === null || decision.escalateAt > tx.now)
      return { kind: "notDue" };
    const request = requestOf(tx, decision);
    if (isPast(request, tx.now)) {
      tx.run("UPDATE human_decisions SET escalate_at = NULL WHERE decision_no = ?", decision.decisionNo);
      return { kind: "notDue" };
    }
    const done = escalateNow(tx, decision, request, decision.escalationCause ?? "silence", input.access);
    return { kind: done ? "escalated" : "failed" };
  },
);

/** Asks the second audience that the policy names, once; false when there is none (any more). */
export function escalateNow(
  tx: Tx,
  decision: DecisionRow,
  request: AnswerTerms,
  cause: EscalationCause,
  access: Access,
): boolean {
  const to = request.policy.escalateAfter?.audience;
  if (to === undefined || decision.escalatedTo !== null) return false;
  const audience = own(access.audiences, to);
  const actor = { type: "policy", id: "escalation" } as const;
  decision.escalateAt = null;
  if (audience === undefined) {
    tx.run("UPDATE human_decisions SET escalate_at = NULL WHERE decision_no = ?", decision.decisionNo);
    tx.event(decision.resourceNo, { type: "decision.escalationFailed", actor, payload: { to, cause } });
    return false;
  }
  const names = askedNames(access, to);
  const told = shownCards(tx, decision.decisionNo);
  decision.escalatedAt = tx.now;
  decision.escalatedTo = to;
  decision.escalationCause = cause;
  decision.escalatedAsked = JSON.stringify(names);
  tx.run(
    "UPDATE human_decisions SET escalate_at = NULL, escalated_at = ?, escalated_to = ?, escalation_cause = ?, escalated_asked = ? WHERE decision_no = ?",
    tx.now,
    to,
    cause,
    decision.escalatedAsked,
    decision.decisionNo,
  );
  const votes = votesOf(tx, decision.decisionNo).map(({ vote }) => vote);
  noteTurnout(tx, decision, request, votes, access);
  const added = postedTo(audience.destinations).filter((destination) =>
    queueDelivery(tx, { ...decision, destination }),
  );
  tx.event(decision.resourceNo, {
    type: "decision.escalated",
    actor,
    payload: { to, names, cause, destinations: added },
  });
  const reply = { code: "escalated", audience: to, names, cause, askedAt: decision.createdAt, at: tx.now } as const;
  for (const card of told) queueNotice(tx, decision, card, { key: "escalated", reply, timeZone: access.timeZone });
  settleAll(tx, decision, 0);
  return true;
}
