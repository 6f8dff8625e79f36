/**
 * Typed text. Only the reply to a question of ours is an answer, and only from the person who was asked; everything else gets help, sparingly.
 */
import { DELIVERY } from "../../contracts/limits.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import type { Inbound } from "../../contracts/protocol/channel.ts";
import type { Access } from "../decisions/access.ts";
import { answerDecision } from "../decisions/answer.ts";
import { decisionByNo, type DecisionRow } from "../decisions/rows.ts";
import { acceptOnEvidence } from "../effects/evidence.ts";
import { partByReference, partsOf } from "../effects/part-rows.ts";
import { effectByNo } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { authorize } from "./authorize.ts";
import type { Handled } from "./receive.ts";
import { queueReply, type Origin } from "./replies.ts";
import { takeHelpTurn, type ChannelRow } from "./rows.ts";
import { wellFormed } from "../decisions/well-formed.ts";

export type Message = Extract<Inbound, { kind: "message" }>;

interface PromptRow {
  effectNo: number;
  decisionNo: number;
  requestDigest: string;
  choice: string;
  place: string;
  actorId: string;
}

const PROMPT = `SELECT p.effect_no AS effectNo, p.decision_no AS decisionNo, p.request_digest AS requestDigest, p.choice, p.place, p.actor_id AS actorId
  FROM decision_prompts p`;

export function receiveMessage(tx: Tx, channel: ChannelRow, message: Message, access: Access): Handled {
  const { channelId } = channel;
  const origin: Origin = {
    channel,
    updateId: message.updateId,
    place: message.place,
    topic: message.topic,
    timeZone: access.timeZone,
  };
  const admitted = authorize(tx, access, channel, message);
  if (admitted === "silent") return { verdict: "silent", ack: null };
  const say = (verdict: string, reply: ReplyCode, decision?: DecisionRow): Handled => {
    queueReply(tx, origin, { reply, to: message.reference, ...(decision === undefined ? {} : { decision }) });
    return { verdict, ack: null };
  };
  const prompt = message.replyTo === null ? undefined : promptOf(tx, channelId, message);
  // An administrator who writes in the name of the group has no id of their own; they are told why it does not count.
  if (message.traits.includes("anonymous"))
    return prompt === undefined ? { verdict: "silent", ack: null } : say("anonymousReply", { code: "anonymousReply" });
  if (admitted !== "ok") return { verdict: admitted, ack: null };
  if (message.traits.includes("edited"))
    return prompt === undefined && !carriedAnswer(tx, channelId, message)
      ? { verdict: "ignored", ack: null }
      : say("editIgnored", { code: "editIgnored" });
  if (prompt === undefined || prompt.actorId !== message.sender.id || message.traits.includes("forwarded"))
    return help(tx, origin, message);
  if (message.text === "" || message.traits.includes("noText")) return say("textOnly", { code: "textOnly" });
  const decision = decisionByNo(tx, prompt.decisionNo);
  const answered = answerDecision(
    tx,
    decision,
    {
      requestDigest: prompt.requestDigest,
      choice: prompt.choice,
      input: message.text,
      source: {
        type: "channel",
        channel: channelId,
        actorId: message.sender.id,
        personId: null,
        // Outside text goes into the event chain, which takes well-formed text only.
        actorName: message.sender.name === null ? null : wellFormed(message.sender.name),
        eventId: message.reference,
        updateId: message.updateId,
        assurance: "remote",
      },
    },
    access,
  );
  return say(answered.kind, answered.reply, decision);
}

/** Whether the text of an answer came with this message. Its question is removed by then, so that an edit names it no more. */
function carriedAnswer(tx: Tx, channelId: string, message: Message): boolean {
  const sql = "SELECT 1 FROM human_decision_resolutions WHERE event_id = ? AND channel = ? AND input IS NOT NULL";
  return tx.get(sql, message.reference, channelId) !== undefined;
}

/** The question that a message answers, by its reference, or by evidence when its arrival is in doubt. */
function promptOf(tx: Tx, channelId: string, message: Message): PromptRow | undefined {
  const reference = message.replyTo as string;
  const known = partByReference(tx, channelId, reference);
  if (known !== undefined) {
    const prompt = tx.get<PromptRow>(`${PROMPT} WHERE p.effect_no = ?`, known.effectNo);
    return prompt?.place === message.place ? prompt : undefined;
  }
  return promptByEvidence(tx, channelId, message, reference);
}

/**
 * A reply to a message of which we know no id: it is a message of ours whose receipt is missing. That names the question only if it is the
 * sender's own and nothing else of ours in this place is on its way or in doubt; otherwise the person is asked again.
 */
function promptByEvidence(tx: Tx, channelId: string, message: Message, reference: string): PromptRow | undefined {
  if (!reference.startsWith(`${message.place}:`) || message.traits.length > 0) return undefined;
  const unclear = tx.all<{ effectNo: number; attempt: number; part: number }>(
    `SELECT p.effect_no AS effectNo, p.attempt_number AS attempt, p.part FROM effect_parts p INDEXED BY effect_parts_unclear
       JOIN effects e ON e.effect_no = p.effect_no
     WHERE p.channel_id = ? AND p.state IN ('dispatching', 'ambiguous') AND e.place = ? AND e.status IN ('applying', 'ambiguous')
       AND e.purpose IN ('delivery', 'reply') LIMIT 2`,
    channelId,
    message.place,
  );
  const [only] = unclear;
  if (only === undefined || unclear.length > 1) return undefined;
  const prompt = tx.get<PromptRow>(
    `${PROMPT} WHERE p.effect_no = ? AND p.actor_id = ?`,
    only.effectNo,
    message.sender.id,
  );
  const effect = prompt === undefined ? undefined : effectByNo(tx, prompt.effectNo);
  const part = partsOf(tx, only.effectNo).find(
    ({ attempt, part: number }) => attempt === only.attempt && number === only.part,
  );
  if (effect === undefined || part === undefined) return undefined;
  acceptOnEvidence(tx, effect, part, reference);
  return prompt;
}

/**
 * Help for stray text, at most once a minute per place: to whoever writes to us alone or answers a message of ours; to others in a group
 * only where a decision waits.
 */
function help(tx: Tx, origin: Origin, { direct, reference: to, replyTo }: Message): Handled {
  const { channelId } = origin.channel;
  const waiting = waitingIn(tx, channelId, origin.place);
  const toUs = direct || (replyTo !== null && partByReference(tx, channelId, replyTo) !== undefined);
  if ((waiting === 0 && !toUs) || !takeHelpTurn(tx, channelId, origin.place, DELIVERY.helpEveryMs))
    return { verdict: "ignored", ack: null };
  queueReply(tx, origin, { reply: { code: "help", waiting }, to });
  return { verdict: "help", ack: null };
}

/** Pending decisions that have a card for this place. */
export function waitingIn(tx: Tx, channelId: string, place: string): number {
  const row = tx.get<{ n: number }>(
    `SELECT count(DISTINCT d.decision_no) AS n FROM human_decisions d CROSS JOIN effects e ON e.decision_no = d.decision_no
     WHERE d.status = 'pending' AND e.purpose = 'delivery' AND e.channel_id = ? AND e.place = ?`,
    channelId,
    place,
  );
  return row?.n ?? 0;
}
