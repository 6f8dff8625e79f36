/**
 * The one resolution of a decision: written here and nowhere else, whoever decides. With it end the deliveries that are still
 * to come and begin the settlements of what was shown.
 */
import type { DecisionResolution } from "../../contracts/decision/answer.ts";
import { next } from "../../contracts/states.ts";
import type { Actor, Tx } from "../tx.ts";
import type { DecisionRow } from "./rows.ts";
import { settleVerdict } from "./settle.ts";

/** The transition of the decision's table for each way to end. */
const EVENT = {
  human: "answered",
  timeout_policy: "timedOut",
  explicit_cancel: "cancelled",
  expired_no_default: "expired",
} as const;
/** The event in its chain. */
const TOLD = {
  human: "decision.answered",
  timeout_policy: "decision.timedOut",
  explicit_cancel: "decision.cancelled",
  expired_no_default: "decision.expired",
} as const;

export interface ResolutionFacts {
  readonly actor: Actor;
  readonly personName?: string | undefined;
  readonly reason?: string | null;
  /** The update that carried the answer. */
  readonly updateId?: number | undefined;
}

/** Stores the resolution of a pending decision. The primary key makes a second one impossible. */
export function resolveDecision(
  tx: Tx,
  decision: DecisionRow,
  resolution: DecisionResolution,
  facts: ResolutionFacts,
): void {
  const { assurance, choice, graceAfterOutage, personId, provenance, source } = resolution;
  decision.status = next("decision", decision.status, EVENT[provenance]) as DecisionRow["status"];
  tx.run(
    `INSERT INTO human_decision_resolutions (decision_no, outcome, provenance, choice, input, person_id, person_name, actor_id, channel, assurance, event_id,
       request_digest, grace_after_outage, reason, resolved_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    decision.decisionNo,
    decision.status,
    provenance,
    choice,
    resolution.input ?? null,
    personId,
    facts.personName ?? null,
    source?.actorId ?? null,
    source?.channel ?? null,
    assurance,
    source?.eventId ?? null,
    resolution.requestDigest,
    graceAfterOutage ? 1 : 0,
    facts.reason ?? null,
    resolution.resolvedAt,
  );
  tx.run("UPDATE human_decisions SET status = ? WHERE decision_no = ?", decision.status, decision.decisionNo);
  const settlements = settleVerdict(tx, decision);
  tx.event(decision.resourceNo, {
    type: TOLD[provenance],
    actor: facts.actor,
    payload: {
      decisionId: decision.decisionId,
      fingerprint: decision.fingerprint,
      choice,
      input: resolution.input ?? null,
      by: facts.personName ?? personId,
      personId,
      channel: source?.channel ?? null,
      assurance,
      eventId: source?.eventId ?? null,
      graceAfterOutage,
      reason: facts.reason ?? null,
      answerDigest: resolution.answerDigest,
      ...(facts.updateId === undefined ? {} : { updateId: facts.updateId }),
      ...(settlements.length === 0 ? {} : { settlements }),
    },
  });
}
