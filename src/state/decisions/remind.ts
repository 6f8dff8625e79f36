/**
 * Reminders: a new message under each copy of the card, never the same text twice, not in the quiet part of the day. A timer only asks;
 * whether one is due, and when the next is, is decided here by the server's clock.
 */
import type { DecisionRequest } from "../../contracts/decision/request.ts";
import { afterQuiet, isPast, nextReminder } from "../../decision/index.ts";
import { defineCommand } from "../command.ts";
import type { Tx } from "../tx.ts";
import { own, votersOf, type Access } from "./access.ts";
import { queueNotice, shownCards, type Notice } from "./notices.ts";
import { knownDecision, requestOf, type DecisionRow } from "./rows.ts";
import { votesOf } from "./votes.ts";

export interface RemindResult {
  /** `notDue`: it is not time yet, nothing is shown to remind of, the decision is over, or its deadline has passed. */
  readonly kind: "reminded" | "notDue";
  /** The how-manieth reminder this was. */
  readonly number: number;
  readonly messages: number;
}

/** Reminds of a pending decision if that is due now. */
export const remind = defineCommand(
  "decisions.remind",
  (tx: Tx, input: { decisionId: string; access: Access }): RemindResult => {
    const decision = knownDecision(tx, input.decisionId);
    const request = requestOf(tx, decision);
    const policy = request.policy.remindAfter;
    const nothing: RemindResult = { kind: "notDue", number: decision.reminders, messages: 0 };
    if (decision.status !== "pending" || policy === undefined) return nothing;
    if (decision.remindAt === null || decision.remindAt > tx.now) return nothing;
    // Whatever this timer was late for, nobody is woken for it.
    const allowedAt = policy.quiet === undefined ? tx.now : afterQuiet(policy.quiet, tx.now);
    if (isPast(request, tx.now)) return plan(tx, decision, null, nothing);
    if (allowedAt > tx.now) return plan(tx, decision, allowedAt, nothing);
    const next = nextReminder(policy, decision.createdAt, tx.now);
    const shown = shownCards(tx, decision.decisionNo);
    if (shown.length === 0) return plan(tx, decision, next, nothing);

    decision.reminders += 1;
    const last = decision.reminders >= policy.atMost || (request.expiresAt !== undefined && next >= request.expiresAt);
    const reply = textOf(tx, decision, request, last, input.access);
    for (const card of shown)
      queueNotice(tx, decision, card, {
        key: `reminder.${decision.reminders}`,
        reply,
        timeZone: input.access.timeZone,
      });
    tx.run("UPDATE human_decisions SET reminders = ? WHERE decision_no = ?", decision.reminders, decision.decisionNo);
    const done = { kind: "reminded", number: decision.reminders, messages: shown.length } as const;
    plan(tx, decision, last ? null : next, done);
    tx.event(decision.resourceNo, {
      type: "decision.reminded",
      actor: { type: "policy", id: "reminder" },
      payload: { number: done.number, of: policy.atMost, destinations: shown.map(({ destination }) => destination) },
    });
    return done;
  },
);

function plan(tx: Tx, decision: DecisionRow, at: number | null, result: RemindResult): RemindResult {
  decision.remindAt = at;
  tx.run("UPDATE human_decisions SET remind_at = ? WHERE decision_no = ?", at, decision.decisionNo);
  return result;
}

function textOf(tx: Tx, decision: DecisionRow, request: DecisionRequest, last: boolean, access: Access): Notice {
  const { defaultResponse, expiresAt, policy } = request;
  const defaultLabel = request.choices.find(({ id }) => id === defaultResponse?.choice)?.label;
  const voted = policy.quorum === 1 ? [] : votesOf(tx, decision.decisionNo).map(({ vote }) => vote.personId);
  const missing = policy.quorum === 1 ? [] : votersOf(access, request, decision.escalatedTo);
  return {
    code: "reminder",
    title: decision.title,
    number: decision.reminders,
    last,
    askedAt: decision.createdAt,
    ...(expiresAt === undefined ? {} : { deadlineAt: expiresAt }),
    ...(defaultLabel === undefined ? {} : { defaultLabel }),
    missing: missing.filter((id) => !voted.includes(id)).map((id) => own(access.people, id)?.name ?? id),
    ...(decision.everybodyVoted === 1 ? { everybodyVoted: true } : {}),
  };
}
