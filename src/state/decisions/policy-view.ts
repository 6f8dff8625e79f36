/** What a list of decisions tells about the policy: who must agree, how the vote stands, what happens while nobody answers. */
import type { DecisionRequest } from "../../contracts/decision/request.ts";
import type { DecisionSummary } from "../../contracts/protocol/operations.ts";
import type { Reader } from "../statements.ts";
import { namesIn } from "./card.ts";
import type { DecisionRow } from "./rows.ts";
import { votesView } from "./votes.ts";

export function policyView(db: Reader, decision: DecisionRow, request: DecisionRequest): DecisionSummary["policy"] {
  const { escalateAfter, quorum, remindAfter, require } = request.policy;
  const { need: _need, ...votes } = votesView(db, decision, request) ?? { need: 1, veto: [], cast: [] };
  const pending = decision.status === "pending";
  return {
    quorum,
    veto: votes.veto,
    votes: votes.cast,
    everybodyVoted: votes.everybodyVoted === true,
    channels: require?.channels ?? [],
    assurance: require?.assurance ?? null,
    reminders:
      remindAfter === undefined
        ? null
        : { sent: decision.reminders, atMost: remindAfter.atMost, nextAt: pending ? decision.remindAt : null },
    escalation:
      escalateAfter === undefined
        ? null
        : {
            to: escalateAfter.audience,
            names: namesIn(decision.escalatedAsked),
            dueAt: pending ? decision.escalateAt : null,
            at: decision.escalatedAt,
            cause: decision.escalatedAt === null ? null : decision.escalationCause,
          },
  };
}
