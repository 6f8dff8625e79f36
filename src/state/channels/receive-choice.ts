/**
 * An answer that a person gave in a session: it names decision, version and choice by itself. One that named no decision counts only when the
 * card has stood in the session for a moment, and no other question of the run was answered just before.
 */
import { SESSION } from "../../contracts/limits.ts";
import type { Inbound } from "../../contracts/protocol/channel.ts";
import type { Access } from "../decisions/access.ts";
import { answerDecision } from "../decisions/answer.ts";
import { decisionByNo, type DecisionRow } from "../decisions/rows.ts";
import { wellFormed } from "../decisions/well-formed.ts";
import type { Tx } from "../tx.ts";
import type { Handled } from "./receive.ts";
import type { ChannelRow } from "./rows.ts";

type Choice = Extract<Inbound, { kind: "choice" }>;

export function receiveChoice(tx: Tx, { channelId }: ChannelRow, given: Choice, access: Access): Handled {
  const row = tx.get<{ no: number }>(
    "SELECT decision_no AS no FROM human_decisions WHERE decision_id = ?",
    given.decisionId,
  );
  if (row === undefined)
    return { verdict: "unknownDecision", ack: { code: "unknownDecision", given: wellFormed(given.decisionId) } };
  const decision = decisionByNo(tx, row.no);
  if (given.bare && !isCertain(tx, decision, channelId, given.place))
    return { verdict: "nameDecision", ack: { code: "nameDecision", fingerprint: decision.fingerprint } };
  const { sender, updateId } = given;
  const { kind, reply } = answerDecision(
    tx,
    decision,
    {
      requestDigest: given.requestDigest,
      choice: given.choice,
      input: given.text ?? undefined,
      source: {
        type: "channel",
        channel: channelId,
        actorId: sender.id,
        personId: null,
        actorName: sender.name === null ? null : wellFormed(sender.name),
        eventId: given.eventId,
        updateId,
        // Any process of this user can say the same.
        assurance: "local",
      },
    },
    access,
  );
  // There is no message to reply to here: the text comes with the answer.
  return { verdict: kind, ack: reply.code === "promptText" ? { code: "textRequired", label: reply.label } : reply };
}

/** Whether "the question that is open here" can mean no other. */
function isCertain(tx: Tx, decision: DecisionRow, channelId: string, place: string): boolean {
  const shown = tx.get<{ at: number | null }>(
    `SELECT min(p.at) AS at FROM effects e JOIN effect_parts p ON p.effect_no = e.effect_no AND p.reference IS NOT NULL
     WHERE e.decision_no = ? AND e.purpose = 'delivery' AND e.channel_id = ? AND e.place = ?`,
    decision.decisionNo,
    channelId,
    place,
  );
  const other = tx.get<{ at: number | null }>(
    `SELECT max(r.resolved_at) AS at FROM human_decision_resolutions r JOIN human_decisions d USING (decision_no)
     WHERE d.run_no = ? AND d.decision_no <> ?`,
    decision.runNo,
    decision.decisionNo,
  );
  const shownAt = shown?.at ?? null;
  const otherAt = other?.at ?? null;
  if (shownAt === null || shownAt > tx.now - SESSION.bareShownMs) return false;
  return otherAt === null || otherAt <= tx.now - SESSION.bareQuietMs;
}
