/**
 * Cancelling a decision together with its run: a resolution without a choice, which beats every later answer.
 */
import { cancelResolution } from "../../decision/index.ts";
import type { Actor, Tx } from "../tx.ts";
import { resolveDecision } from "./resolve.ts";
import { DECISION_COLUMNS, requestOf, type DecisionRow } from "./rows.ts";
import { recordSubmission } from "./submissions.ts";

/**
 * Resolves the pending decision of a run as `explicit_cancel`, cancels what was not sent and queues settlement of what was;
 * nothing when none is pending. The caller closes the attempt and the run in the same command.
 */
export function cancelDecisionOf(
  tx: Tx,
  runNo: number,
  by: { readonly actor: Actor; readonly reason: string | null },
): void {
  const decision = tx.get<DecisionRow>(
    `SELECT ${DECISION_COLUMNS} FROM human_decisions d WHERE d.run_no = ? AND d.status = 'pending'`,
    runNo,
  );
  if (decision === undefined) return;
  const personId = by.actor.type === "human" ? by.actor.id : null;
  const resolution = cancelResolution(requestOf(tx, decision), { personId, source: null, assurance: null }, tx.now);
  recordSubmission(tx, {
    decisionNo: decision.decisionNo,
    source: "control",
    actorId: by.actor.id,
    personId,
    outcome: "won",
    reason: "explicit_cancel",
  });
  resolveDecision(tx, decision, resolution, { actor: by.actor, reason: by.reason });
}
