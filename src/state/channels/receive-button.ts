/**
 * A tap on a button under a message that is no card: the answer to "Did this arrive?", the wish to see a card again, or what an operator chose. The token was looked up
 * and fits the message; what is left to judge is the person.
 */
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import type { AlertRequest } from "../alerts/messages.ts";
import { takerOf } from "../alerts/people.ts";
import { judgeSource, type Access } from "../decisions/access.ts";
import { showAgain } from "../decisions/offers.ts";
import { decisionById, decisionByNo, requestOf, type DecisionRow } from "../decisions/rows.ts";
import type { ReplyRequest } from "../effects/content.ts";
import { titleOf } from "../effects/operator.ts";
import { settleBySaying } from "../effects/settle-by-saying.ts";
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
  if (reply.code === "didArrive") return told(doubtSettled(tx, channel, tap, token, access));
  const decision =
    reply.code === "offlineDigest" ? decisionById(tx, token.choice) : decisionByNo(tx, message.decisionNo as number);
  if (decision === undefined) return told({ code: "unknownButton" });
  const person = personOf(tx, channel, tap, decision, access);
  if (person === undefined) return told({ code: "notOnList" });
  const silence = reply.code === "offlineDigest" ? { from: reply.from, to: reply.to } : null;
  return told(showAgain(tx, decision, { destination: token.destination, silence, actor: person.actor }));
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
function doubtSettled(tx: Tx, channel: ChannelRow, tap: Tap, token: TokenRow, access: Access): ReplyCode {
  const asked = tx.get<{ effectNo: number; until: number | null }>(
    "SELECT effect_no AS effectNo, until FROM effect_doubts WHERE asked_effect_no = ?",
    token.effectNo,
  );
  const effect = asked === undefined ? undefined : effectByNo(tx, asked.effectNo);
  if (asked === undefined || effect === undefined) return { code: "unknownButton" };
  const person = mayJudge(tx, channel, tap, effect, access);
  if (person === undefined) return { code: effect.purpose === "alert" ? "alertNotOnList" : "notOnList" };
  if (asked.until !== null) return { code: "recoverRefused", given: effect.shortId, reason: "notInDoubt" };
  const action = token.choice === "yes" ? "confirm" : token.choice === "resend" ? "retry" : "drop";
  return settleBySaying(tx, effect, { action, ...person, title: titleOf(tx, effect) });
}

/** Who may answer the decision, or take the alert, may say whether its message arrived. */
function mayJudge(tx: Tx, channel: ChannelRow, tap: Tap, effect: EffectRow, access: Access): Person | undefined {
  if (effect.decisionNo !== null) return personOf(tx, channel, tap, decisionByNo(tx, effect.decisionNo), access);
  const { audience } = tx.unpack(effect.request) as unknown as AlertRequest;
  const by = takerOf(access, audience, sourceOf(channel.channelId, tap));
  return by === undefined ? undefined : { actor: by.actor, name: by.name };
}
