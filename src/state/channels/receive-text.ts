/**
 * Typed text. Only the reply to a question of ours is an answer, and only from the person who was asked; everything else gets help, sparingly.
 */
import { DELIVERY } from "../../contracts/limits.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import type { Inbound } from "../../contracts/protocol/channel.ts";
import type { Access } from "../decisions/access.ts";
import { answerDecision, type Candidate } from "../decisions/answer.ts";
import { decisionByNo, type DecisionRow } from "../decisions/rows.ts";
import { acceptOnEvidence } from "../effects/evidence.ts";
import { partByReference, partsOf, type PartRow } from "../effects/part-rows.ts";
import { effectByNo, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { authorize } from "./authorize.ts";
import type { Handled } from "./receive.ts";
import { queuePrompt, queueReply, type Origin } from "./replies.ts";
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
  const found = message.replyTo === null ? undefined : promptOf(tx, channelId, message);
  const prompt = found?.certain === true ? found.prompt : undefined;
  // An administrator who writes in the name of the group has no id of their own; they are told why it does not count.
  if (message.traits.includes("anonymous"))
    return prompt === undefined ? { verdict: "silent", ack: null } : say("anonymousReply", { code: "anonymousReply" });
  if (admitted !== "ok") return { verdict: admitted, ack: null };
  if (message.traits.includes("edited"))
    return prompt === undefined && !carriedAnswer(tx, channelId, message)
      ? { verdict: "ignored", ack: null }
      : say("editIgnored", { code: "editIgnored" });
  if (found?.certain === false) return askAgain(tx, origin, message, found.prompt, access, say);
  if (prompt === undefined || prompt.actorId !== message.sender.id || message.traits.includes("forwarded"))
    return help(tx, origin, message);
  if (message.text === "" || message.traits.includes("noText")) return say("textOnly", { code: "textOnly" });
  const decision = decisionByNo(tx, prompt.decisionNo);
  const answered = answerDecision(
    tx,
    decision,
    { ...answerOf(channelId, message, prompt), input: message.text },
    access,
  );
  return say(answered.kind, answered.reply, decision);
}

/** What somebody chose, without a text. */
function answerOf(channelId: string, message: Message, { choice, requestDigest }: PromptRow): Candidate {
  return {
    requestDigest,
    choice,
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
  };
}

/** The question is asked once more, in reply to the text that cannot be matched to it, whatever else was said within the minute. */
function askAgain(
  tx: Tx,
  origin: Origin,
  message: Message,
  prompt: PromptRow,
  access: Access,
  say: (verdict: string, reply: ReplyCode, decision: DecisionRow) => Handled,
): Handled {
  const { channelId } = origin.channel;
  const decision = decisionByNo(tx, prompt.decisionNo);
  const { kind, reply } = answerDecision(tx, decision, answerOf(channelId, message, prompt), access);
  if (reply.code !== "promptText") return say(kind, reply, decision);
  const { choice } = prompt;
  const again = { ...reply, again: true } as const;
  queuePrompt(tx, origin, { decision, choice, actorId: message.sender.id, reply: again, to: message.reference });
  return { verdict: "askedAgain", ack: null };
}

/** Whether the text of an answer came with this message. Its question is removed by then, so that an edit names it no more. */
function carriedAnswer(tx: Tx, channelId: string, message: Message): boolean {
  const sql = "SELECT 1 FROM human_decision_resolutions WHERE event_id = ? AND channel = ? AND input IS NOT NULL";
  return tx.get(sql, message.reference, channelId) !== undefined;
}

interface Found {
  readonly prompt: PromptRow;
  /** False when the reply may as well be to another message of ours. */
  readonly certain: boolean;
}

/** The question that a message answers, by its reference, or by evidence when its arrival is in doubt. */
function promptOf(tx: Tx, channelId: string, message: Message): Found | undefined {
  const reference = message.replyTo as string;
  const known = partByReference(tx, channelId, reference);
  if (known !== undefined) {
    const prompt = tx.get<PromptRow>(`${PROMPT} WHERE p.effect_no = ?`, known.effectNo);
    return prompt?.place === message.place ? { prompt, certain: true } : undefined;
  }
  return promptByEvidence(tx, channelId, message, reference);
}

/** More of them in one place say nothing more. */
const UNCLEAR = 16;

/**
 * A reply to a message of which we know no id: it is a message of ours whose receipt is missing. That names the question only if it is the
 * sender's own and nothing else of ours in this place is on its way or in doubt, but the same question again; otherwise it is not certain.
 */
function promptByEvidence(tx: Tx, channelId: string, message: Message, reference: string): Found | undefined {
  if (!reference.startsWith(`${message.place}:`) || message.traits.length > 0) return undefined;
  const unclear = tx.all<{ effectNo: number; attempt: number; part: number }>(
    `SELECT p.effect_no AS effectNo, p.attempt_number AS attempt, p.part FROM effect_parts p INDEXED BY effect_parts_unclear
       JOIN effects e ON e.effect_no = p.effect_no
     WHERE p.channel_id = ? AND p.state IN ('dispatching', 'ambiguous') AND e.place = ? AND e.status IN ('applying', 'ambiguous')
       AND e.purpose IN ('delivery', 'reply') ORDER BY p.effect_no DESC LIMIT ${UNCLEAR}`,
    channelId,
    message.place,
  );
  const sql = `${PROMPT} WHERE p.effect_no = ? AND p.actor_id = ?`;
  const prompts = unclear.map(({ effectNo }) => tx.get<PromptRow>(sql, effectNo, message.sender.id));
  const prompt = prompts.find((one) => one !== undefined);
  if (prompt === undefined) return undefined;
  const [only] = unclear;
  if (only !== undefined && unclear.length === 1) {
    const part = partsOf(tx, only.effectNo).find(({ attempt, part }) => attempt === only.attempt && part === only.part);
    acceptOnEvidence(tx, effectByNo(tx, only.effectNo) as EffectRow, part as PartRow, reference);
    return { prompt, certain: true };
  }
  // Which copy of the question it is makes no difference; which message it is stays in doubt.
  return { prompt, certain: unclear.length < UNCLEAR && prompts.every((one) => isSame(one, prompt)) };
}

function isSame(one: PromptRow | undefined, other: PromptRow): boolean {
  return (
    one?.requestDigest === other.requestDigest && one.choice === other.choice && one.decisionNo === other.decisionNo
  );
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
