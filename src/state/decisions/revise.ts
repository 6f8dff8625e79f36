/**
 * People have changed: what was shown and recorded for those who may not answer any more is put right. Their questions for text are
 * taken back, their votes do not count; whoever came in new is judged at the next answer anyway.
 */
import { PAGE } from "../../contracts/limits.ts";
import { isPast } from "../../decision/index.ts";
import { defineCommand } from "../command.ts";
import type { Tx } from "../tx.ts";
import { judgeSource, type Access } from "./access.ts";
import { escalateNow } from "./escalate.ts";
import { DECISION_COLUMNS, requestOf, type DecisionRow } from "./rows.ts";
import { closePrompt, settleAll } from "./settle.ts";
import { noteTurnout, standingVotes, votesOf } from "./votes.ts";

export interface Revised {
  readonly promptsClosed: number;
  readonly votesRevoked: number;
  /** Where the next page begins; null = there is none. */
  readonly next: number | null;
}

/** Judges open questions for text and votes by the configuration as it is now, for a page of pending decisions after the number `after`. */
export const revise = defineCommand("decisions.revise", (tx: Tx, input: { access: Access; after: number }): Revised => {
  const { access, after } = input;
  const count = { promptsClosed: 0, votesRevoked: 0 };
  const pending = tx.all<DecisionRow>(
    `SELECT ${DECISION_COLUMNS} FROM human_decisions d WHERE d.status = 'pending' AND d.decision_no > ? AND (
       EXISTS (SELECT 1 FROM decision_votes v WHERE v.decision_no = d.decision_no)
       OR EXISTS (SELECT 1 FROM decision_prompts p WHERE p.decision_no = d.decision_no)) ORDER BY d.decision_no LIMIT ${PAGE.rows}`,
    after,
  );
  for (const decision of pending) {
    const request = requestOf(tx, decision);
    const before = votesOf(tx, decision.decisionNo);
    const votes = standingVotes(tx, decision, request, access);
    const noted = decision.everybodyVoted;
    const turnout = noteTurnout(
      tx,
      decision,
      request,
      votes.map(({ vote }) => vote),
      access,
    );
    count.votesRevoked += before.length - votes.length;
    // Those who are left have all voted, in vain: there is nobody to wait for.
    if (noted !== decision.everybodyVoted)
      tx.event(decision.resourceNo, {
        type: "decision.turnout",
        actor: { type: "server", id: "config" },
        payload: { everybodyVoted: turnout },
      });
    const escalated = turnout && !isPast(request, tx.now) && escalateNow(tx, decision, request, "noQuorum", access);
    if (!escalated && noted !== decision.everybodyVoted) settleAll(tx, decision, 0);
    for (const prompt of promptsOf(tx, decision.decisionNo)) {
      const source = { type: "channel", personId: null, eventId: "", assurance: "remote", ...prompt } as const;
      if (judgeSource(access, request, source, decision.escalatedTo).allowed) continue;
      tx.run("UPDATE decision_prompts SET revoked_at = ? WHERE effect_no = ?", tx.now, prompt.effectNo);
      if (closePrompt(tx, decision, prompt.effectNo)) count.promptsClosed += 1;
    }
  }
  return { ...count, next: pending.length < PAGE.rows ? null : (pending.at(-1)?.decisionNo ?? null) };
});

function promptsOf(tx: Tx, decisionNo: number): { effectNo: number; channel: string; actorId: string }[] {
  return tx.all(
    "SELECT effect_no AS effectNo, channel_id AS channel, actor_id AS actorId FROM decision_prompts WHERE decision_no = ? AND revoked_at IS NULL ORDER BY effect_no",
    decisionNo,
  );
}
