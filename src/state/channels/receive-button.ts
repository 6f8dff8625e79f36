/**
 * A tap on a button under a message that is no card: the answer to "Did this arrive?", the wish to see a card again, or what an operator chose. The token was looked up
 * and fits the message; what is left to judge is the person.
 */
import { isHoldpointError } from "../../contracts/errors.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { judgeSource, type Access } from "../decisions/access.ts";
import { offerAgain } from "../decisions/offers.ts";
import { decisionById, decisionByNo, requestOf, resolutionOf, type DecisionRow } from "../decisions/rows.ts";
import { replyForWinner } from "../../decision/index.ts";
import type { ReplyRequest } from "../effects/content.ts";
import { recoverMessage } from "../effects/operator.ts";
import { effectByNo, type EffectRow } from "../effects/rows.ts";
import type { Actor, Tx } from "../tx.ts";
import { askerOf } from "./operator/asker.ts";
import { press } from "./operator/press.ts";
import type { Handled } from "./receive.ts";
import { queueReply, type Origin } from "./replies.ts";
import { sourceOf, type Tap, type TokenRow } from "./tap.ts";
import type { ChannelRow } from "./rows.ts";

/** Who tapped, as somebody who may answer the decision. */
interface Person {
  readonly actor: Actor;
  readonly name: string | null;
}

export function receiveButton(tx: Tx, channel: ChannelRow, tap: Tap, token: TokenRow, access: Access): Handled {
  const message = effectByNo(tx, token.effectNo) as EffectRow;
  const { buttons, reply } = tx.unpack(message.request) as unknown as ReplyRequest;
  if (buttons !== undefined) return pressed(tx, channel, tap, token, access);
  const told = (ack: ReplyCode): Handled => ({ verdict: ack.code, ack });
  const decision =
    reply.code === "offlineDigest" ? decisionById(tx, token.choice) : decisionByNo(tx, message.decisionNo as number);
  if (decision === undefined) return told({ code: "unknownButton" });
  const person = personOf(tx, channel, tap, decision, access);
  if (person === undefined) return told({ code: "notOnList" });
  if (reply.code === "didArrive") return told(settleDoubt(tx, token, decision, person));
  return told(showAgain(tx, token, decision, reply, person));
}

/** A button under an answer to an operator; what it has to say beside the toast goes where that answer is. */
function pressed(tx: Tx, channel: ChannelRow, tap: Tap, token: TokenRow, access: Access): Handled {
  const { place } = token;
  const topic = token.destination.split("/")[2] ?? null;
  const origin: Origin = { channel, updateId: tap.updateId, place, topic, timeZone: access.timeZone };
  const asker = askerOf(tx, access, origin, tap.sender, tap.eventId);
  const { ack, answer, stop, verdict } = press(asker, token, tap.reference as string);
  if (answer !== undefined) queueReply(tx, origin, { ...answer, to: tap.reference });
  return { verdict, ack, ...(stop === undefined ? {} : { stop }) };
}

function personOf(
  tx: Tx,
  { channelId }: ChannelRow,
  tap: Tap,
  decision: DecisionRow,
  access: Access,
): Person | undefined {
  const judged = judgeSource(access, requestOf(tx, decision), sourceOf(channelId, tap), decision.escalatedTo);
  if (!judged.allowed) return undefined;
  return { actor: { type: "human", id: judged.personId }, name: judged.name ?? null };
}

/** What a person says of a doubt. Only the first answer counts; a doubt that is over by itself stays over. */
function settleDoubt(tx: Tx, token: TokenRow, decision: DecisionRow, { actor, name }: Person): ReplyCode {
  const doubt = tx.get<{ effectNo: number; since: number }>(
    "SELECT effect_no AS effectNo, since FROM effect_doubts WHERE asked_effect_no = ? AND until IS NULL",
    token.effectNo,
  );
  const effect = doubt === undefined ? undefined : effectByNo(tx, doubt.effectNo);
  const refused = (reason: "notInDoubt" | "decided"): ReplyCode => ({
    code: "recoverRefused",
    given: effect?.shortId ?? decision.fingerprint,
    reason,
  });
  if (doubt === undefined || effect === undefined) return refused("notInDoubt");
  const action = token.choice === "yes" ? "confirm" : token.choice === "resend" ? "retry" : "drop";
  try {
    recoverMessage(tx, effect, { action, part: null, reference: null, actor });
  } catch (error) {
    // The state is checked before anything is written, so that this refusal leaves nothing behind.
    if (!isHoldpointError(error) || error.kind !== "effectState") throw error;
    return refused(decision.status === "pending" ? "notInDoubt" : "decided");
  }
  tx.run(
    "UPDATE effect_doubts SET ended_by_name = ? WHERE effect_no = ? AND since = ?",
    name,
    doubt.effectNo,
    doubt.since,
  );
  return { code: "recovered", id: effect.shortId, action, title: decision.title };
}

/** The card is sent again to where the list is; a decision that is over is told instead. */
function showAgain(tx: Tx, token: TokenRow, decision: DecisionRow, list: ReplyCode, { actor }: Person): ReplyCode {
  const stored = resolutionOf(tx, decision);
  if (stored !== undefined)
    return replyForWinner(requestOf(tx, decision), stored.resolution, {
      nameOf: () => stored.personName,
      personId: actor.id,
    });
  const silence = list.code === "offlineDigest" ? { from: list.from, to: list.to } : null;
  const waiting = tx.get(
    "SELECT 1 FROM effects WHERE decision_no = ? AND effect_type = 'card.offer' AND destination = ? AND status IN ('pending', 'applying')",
    decision.decisionNo,
    token.destination,
  );
  if (waiting === undefined) offerAgain(tx, decision, { destination: token.destination, silence, actor });
  return { code: "shownAgain", title: decision.title };
}
