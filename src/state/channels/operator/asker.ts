/**
 * Who writes or presses in the operator chat, where, and what may be told there. A decision's title is told in a chat that has its card,
 * and in the private chat of somebody who may answer it.
 */
import type { DecisionPolicy } from "../../../contracts/decision/policy.ts";
import { personOf } from "../../../decision/index.ts";
import { judgeSource, peopleOf, type Access, type AnswerSource } from "../../decisions/access.ts";
import type { DecisionRow } from "../../decisions/rows.ts";
import { wellFormed } from "../../decisions/well-formed.ts";
import type { ControlledBy } from "../../runs/control.ts";
import type { Actor, Tx } from "../../tx.ts";
import { isReachable } from "../places.ts";
import type { Origin } from "../replies.ts";

export interface Asker {
  readonly tx: Tx;
  readonly access: Access;
  readonly origin: Origin;
  /** Account on the channel. */
  readonly actorId: string;
  /** The configured person's name, else what the channel shows. */
  readonly name: string | undefined;
  readonly actor: Actor;
  readonly eventId: string;
}

/** The sender of an update, who was let in already. */
export function askerOf(
  tx: Tx,
  access: Access,
  origin: Origin,
  sender: { readonly id: string; readonly name: string | null },
  eventId: string,
): Asker {
  const { channelId } = origin.channel;
  const person = personOf(peopleOf(access), { channel: channelId, actorId: sender.id });
  // Outside text goes into the event chain, which takes well-formed text only.
  const name = person?.name ?? (sender.name === null ? undefined : wellFormed(sender.name));
  const actor: Actor = { type: "human", id: person?.id ?? `${channelId}:${sender.id}` };
  return { tx, access, origin, actorId: sender.id, name, actor, eventId };
}

/** As commands on runs record it. */
export function controlledBy({ actor, actorId, eventId, name, origin }: Asker): ControlledBy {
  return { actor, via: { name, channel: origin.channel.channelId, actorId, eventId, updateId: origin.updateId } };
}

/** The one-to-one chat of a person has the person's own id. */
export function isPrivate({ actorId, origin }: Asker): boolean {
  return origin.place === actorId;
}

/** This person, for what judges who may answer. */
export function sourceFor({ actorId, eventId, name, origin }: Asker): AnswerSource {
  return {
    type: "channel",
    channel: origin.channel.channelId,
    actorId,
    personId: null,
    actorName: name ?? null,
    eventId,
    updateId: origin.updateId,
    assurance: "remote",
  };
}

/** Whether this person may answer the decision, by the live configuration. */
export function mayAnswer(asker: Asker, decision: DecisionRow): boolean {
  const { access, tx } = asker;
  // The request itself may be large, and lists ask this of many.
  const row = tx.get<{ policy: string }>(
    "SELECT policy FROM human_decisions WHERE decision_no = ?",
    decision.decisionNo,
  );
  const policy = tx.unpack(row?.policy ?? "") as unknown as DecisionPolicy;
  return judgeSource(access, { audience: decision.audience, policy }, sourceFor(asker), decision.escalatedTo).allowed;
}

/** The destination in this chat that got the decision's card first, if one did. */
export function cardHere({ origin, tx }: Asker, decision: DecisionRow): string | undefined {
  const row = tx.get<{ destination: string }>(
    // A group's cards from before it became a supergroup stand there under its former id.
    `SELECT destination FROM effects WHERE decision_no = ?1 AND purpose = 'delivery' AND channel_id = ?2
       AND place IN (SELECT ?3 UNION ALL SELECT place FROM channel_places WHERE channel_id = ?2 AND moved_to = ?3) ORDER BY effect_no LIMIT 1`,
    decision.decisionNo,
    origin.channel.channelId,
    origin.place,
  );
  return row?.destination;
}

/** Whether the decision may be named in this chat. */
export function mayName(asker: Asker, decision: DecisionRow): boolean {
  return cardHere(asker, decision) !== undefined || (isPrivate(asker) && mayAnswer(asker, decision));
}

/** Where its card may be shown again in this chat, or undefined. */
export function showableAt(asker: Asker, decision: DecisionRow): string | undefined {
  const { access, origin, tx } = asker;
  const { channelId } = origin.channel;
  if (!mayAnswer(asker, decision) || !isReachable(tx, access, channelId, origin.place)) return undefined;
  return cardHere(asker, decision) ?? (isPrivate(asker) ? `${channelId}/${origin.place}` : undefined);
}
