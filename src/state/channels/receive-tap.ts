/**
 * A tap on a button. The token is looked up by its hash and must fit the place and the very message it stands under; a tap on a message
 * whose arrival was in doubt proves it. Then the answer goes through the one door.
 */
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import type { Access } from "../decisions/access.ts";
import { answerDecision } from "../decisions/answer.ts";
import { wholeDecision } from "../decisions/rows.ts";
import { settleAgain } from "../decisions/settle.ts";
import { prove } from "../effects/evidence.ts";
import { sha256 } from "../hash.ts";
import type { Tx } from "../tx.ts";
import { authorize } from "./authorize.ts";
import { receiveAlertTap } from "./receive-alert.ts";
import { receiveButton } from "./receive-button.ts";
import { queuePrompt, type Origin } from "./replies.ts";
import type { Handled } from "./receive.ts";
import type { ChannelRow } from "./rows.ts";
import { sourceOf, type Tap, type TokenRow } from "./tap.ts";

const TOKEN = `SELECT e.channel_id AS channelId, e.place, e.destination, t.effect_no AS effectNo, t.attempt_number AS attempt, e.decision_no AS decisionNo,
  e.purpose, t.choice, p.part, p.parts_of AS "of", p.reference FROM decision_tokens t JOIN effects e ON e.effect_no = t.effect_no
  LEFT JOIN effect_parts p ON p.effect_no = t.effect_no AND p.attempt_number = t.attempt_number
  WHERE t.token_hash = ? ORDER BY p.part DESC LIMIT 1`;

/** One answer for every token that does not fit, so that nothing is told about the card it belongs to. */
const UNKNOWN: Handled = { verdict: "unknownButton", ack: { code: "unknownButton" } };

export function receiveTap(tx: Tx, channel: ChannelRow, tap: Tap, access: Access): Handled {
  const { channelId } = channel;
  const admitted = authorize(tx, access, channel, tap);
  if (admitted !== "ok" || tap.place === null)
    return { verdict: admitted, ack: admitted === "notOnList" ? { code: "notOnList" } : null };
  const { place, reference } = tap;
  const token = tx.get<TokenRow>(TOKEN, sha256(tap.token));
  if (token === undefined || token.channelId !== channelId || token.place !== place) return UNKNOWN;
  if (reference === null || !reference.startsWith(`${place}:`)) return UNKNOWN;
  // The message of the last part, the one with the buttons, is known as a rule; else this tap may prove it.
  const known = token.part === token.of && token.reference === reference;
  if (!known && !prove(tx, token.effectNo, token.attempt, reference)) return UNKNOWN;
  if (token.purpose === "alert") return receiveAlertTap(tx, channel, tap, token, access);
  if (token.purpose === "reply") return receiveButton(tx, channel, tap, token, access);
  const decision = wholeDecision(tx, token.decisionNo as number);
  if (decision.status !== "pending") settleAgain(tx, decision, channelId, reference);
  const source = sourceOf(channelId, tap);
  const answered = answerDecision(
    tx,
    decision,
    { requestDigest: decision.requestDigest, choice: token.choice, source },
    access,
  );
  if (answered.reply.code !== "promptText") return { verdict: answered.kind, ack: answered.reply };
  const origin: Origin = {
    channel,
    updateId: tap.updateId,
    place,
    topic: topicOf(token.destination),
    timeZone: access.timeZone,
  };
  queuePrompt(tx, origin, {
    decision,
    choice: token.choice,
    actorId: tap.sender.id,
    reply: answered.reply,
    to: reference,
  });
  const ack: ReplyCode = { code: "promptSent", label: answered.reply.label };
  return { verdict: "promptText", ack };
}

/** The question goes where the card is: the topic that a tap names may be one of the service's own making. */
function topicOf(destination: string): string | null {
  return destination.split("/")[2] ?? null;
}
