/**
 * Who may not answer any more is not asked for text any more: their open questions are removed, or not sent. Called when the
 * configuration may have changed; an answer is judged by the live configuration in any case.
 */
import { defineCommand } from "../command.ts";
import { judgeSource, type Access } from "../decisions/access.ts";
import { decisionByNo, requestOf, type DecisionRow } from "../decisions/rows.ts";
import { closePrompt } from "../decisions/settle.ts";
import type { Tx } from "../tx.ts";

interface OpenPrompt {
  readonly effectNo: number;
  readonly decisionNo: number;
  readonly channelId: string;
  readonly actorId: string;
}

/** Questions of decisions that wait, which were not removed before. */
const OPEN = `SELECT p.effect_no AS effectNo, p.decision_no AS decisionNo, p.channel_id AS channelId, p.actor_id AS actorId
  FROM human_decisions d JOIN decision_prompts p ON p.decision_no = d.decision_no JOIN effects e ON e.effect_no = p.effect_no
  WHERE d.status = 'pending' AND e.status IN ('pending', 'applying', 'ambiguous', 'applied') AND p.closed_at IS NULL ORDER BY p.effect_no`;

/** Returns how many were closed. */
export const revoke = defineCommand("channels.revoke", (tx: Tx, { access }: { readonly access: Access }): number => {
  const closed = tx.all<OpenPrompt>(OPEN).filter((prompt) => {
    const decision = decisionByNo(tx, prompt.decisionNo);
    if (mayStillAnswer(tx, access, decision, prompt)) return false;
    closePrompt(tx, decision, prompt.effectNo);
    tx.run("UPDATE decision_prompts SET closed_at = ? WHERE effect_no = ?", tx.now, prompt.effectNo);
    const { actorId, channelId } = prompt;
    tx.event(decision.resourceNo, {
      type: "decision.promptClosed",
      actor: { type: "server", id: "server" },
      payload: { channel: channelId, actorId },
    });
    return true;
  });
  return closed.length;
});

function mayStillAnswer(tx: Tx, access: Access, decision: DecisionRow, { actorId, channelId }: OpenPrompt): boolean {
  return judgeSource(access, requestOf(tx, decision), {
    type: "channel",
    channel: channelId,
    actorId,
    personId: null,
    eventId: "prompt",
    assurance: "remote",
  }).allowed;
}
