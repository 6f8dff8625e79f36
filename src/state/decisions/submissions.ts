/**
 * The record of everything that tried to decide: who sent what when, and what came of it. Refusals are in it too.
 */
import type { SubmissionOutcome } from "../../contracts/decision/answer.ts";
import { DECISION } from "../../contracts/limits.ts";
import type { Tx } from "../tx.ts";

export interface Submission {
  readonly decisionNo: number;
  readonly source: "channel" | "control" | "policy";
  readonly channel?: string | null;
  readonly actorId?: string | null;
  readonly personId?: string | null;
  readonly choice?: string | null;
  readonly input?: string | null;
  readonly outcome: SubmissionOutcome;
  readonly reason?: string | null;
}

/** Appends one submission. A text is kept up to the longest that any choice may ask for; its refusal says how long it was. */
export function recordSubmission(tx: Tx, submission: Submission): void {
  tx.run(
    `INSERT INTO human_decision_submissions (decision_no, source, channel, actor_id, person_id, choice, input, outcome, reason, submitted_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    submission.decisionNo,
    submission.source,
    submission.channel ?? null,
    submission.actorId ?? null,
    submission.personId ?? null,
    submission.choice ?? null,
    submission.input?.slice(0, DECISION.textDefaultMax) ?? null,
    submission.outcome,
    submission.reason ?? null,
    tx.now,
  );
}
