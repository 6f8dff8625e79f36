/**
 * Cancelling a decision together with its run: a resolution without a choice, which beats every later answer.
 */
import type { DecisionResolution } from "../../contracts/decision/answer.ts";
import { cancelResolution } from "../../decision/index.ts";
import type { ControlledBy } from "../runs/control.ts";
import type { Tx } from "../tx.ts";
import { resolveDecision } from "./resolve.ts";
import { DECISION_COLUMNS, requestOf, type DecisionRow } from "./rows.ts";
import { recordSubmission } from "./submissions.ts";

/**
 * Resolves the pending decision of a run as `explicit_cancel`, cancels what was not sent and queues settlement of what was;
 * nothing when none is pending. The caller closes the attempt and the run in the same command.
 */
export function cancelDecisionOf(tx: Tx, runNo: number, by: ControlledBy): void {
  const decision = tx.get<DecisionRow>(
    `SELECT ${DECISION_COLUMNS} FROM human_decisions d WHERE d.run_no = ? AND d.status = 'pending'`,
    runNo,
  );
  if (decision === undefined) return;
  const personId = by.actor.type === "human" ? by.actor.id : null;
  const source = sourceOf(by);
  const assurance = source === null ? null : by.via === undefined ? "local" : "remote";
  const resolution = cancelResolution(requestOf(tx, decision), { personId, source, assurance }, tx.now);
  recordSubmission(tx, {
    decisionNo: decision.decisionNo,
    source: by.via === undefined ? "control" : "channel",
    channel: by.via?.channel ?? null,
    actorId: by.via?.actorId ?? by.actor.id,
    personId,
    outcome: "won",
    reason: "explicit_cancel",
  });
  resolveDecision(tx, decision, resolution, {
    actor: by.actor,
    personName: by.via?.name,
    reason: by.reason ?? null,
    updateId: by.via?.updateId,
  });
}

/** Where it was cancelled: the chat, or this machine. Nobody's when no person did it. */
function sourceOf({ actor, via }: ControlledBy): DecisionResolution["source"] {
  if (via !== undefined) return { channel: via.channel, actorId: via.actorId, eventId: via.eventId };
  return actor.type === "human" ? { channel: "terminal", actorId: actor.id, eventId: "control" } : null;
}
