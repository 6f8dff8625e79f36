// Who may answer: from an account on a channel to a person, and from a person to the audience.

import type { Assurance } from "../contracts/decision/answer.ts";

/** An account as the channel names it; the server fills it in, the sender never does. */
export interface Actor {
  /** Channel with its profile: `telegram:ops`, `pi`, `terminal`. */
  readonly channel: string;
  /** Stable numeric or uid form: `12345`, `uid:1000`. Never a user name, which can change hands. */
  readonly actorId: string;
  readonly assurance: Assurance;
  /** Name that the channel shows; outside text, used only when no person is configured. */
  readonly displayName?: string | undefined;
}

/** A configured person; `accounts` by channel with profile (`telegram:ops`) or by kind for every profile (`telegram`). */
export interface Person {
  readonly id: string;
  readonly name: string;
  readonly accounts: Readonly<Record<string, readonly string[]>>;
}

/** The part of an audience's live configuration that says who may answer. */
export interface AudienceRule {
  /** Ids of persons; absent = everybody whom the channel's allow-list lets in. */
  readonly people?: readonly string[] | undefined;
  /** `remote` refuses answers from this machine's user. */
  readonly assurance?: "remote" | undefined;
  /** Channels whose answers count, by kind or with their profile; absent = all. */
  readonly channels?: readonly string[] | undefined;
  /** Accounts that the channel's allow-list lets in; absent = the channel has none of its own. */
  readonly allowedActorIds?: readonly string[] | undefined;
}

export type ActorVerdict =
  | { readonly allowed: true; readonly personId: string; readonly name: string | undefined; readonly mapped: boolean }
  | { readonly allowed: false; readonly reason: Refusal };

/** Why somebody may not answer. `terminalOff`, `piOff`: the audience does not name the terminal, or Pi. */
export type Refusal = "notOnList" | "wrongChannel" | "remoteOnly" | "accountUnmapped" | "terminalOff" | "piOff";

/** The person behind an account, or undefined. Own properties only: ids come from outside. */
export function personOf(people: readonly Person[], actor: Pick<Actor, "channel" | "actorId">): Person | undefined {
  const { actorId, channel } = actor;
  const kind = kindOf(channel);
  return people.find(({ accounts }) => has(accounts, channel, actorId) || has(accounts, kind, actorId));
}

function has(accounts: Person["accounts"], key: string, actorId: string): boolean {
  return Object.hasOwn(accounts, key) && accounts[key]?.includes(actorId) === true;
}

/**
 * Whether an account may answer for an audience now. Default deny: an account that no list names is refused, and one
 * that belongs to no configured person counts only where one answer is enough.
 */
export function judgeActor(question: {
  readonly actor: Actor;
  readonly people: readonly Person[];
  readonly audience: AudienceRule;
  readonly quorum: number;
}): ActorVerdict {
  const { actor, people, audience, quorum } = question;
  const person = personOf(people, actor);
  const onChannel = audience.allowedActorIds?.includes(actor.actorId);
  const inAudience =
    audience.people === undefined ? undefined : person !== undefined && audience.people.includes(person.id);
  if (onChannel === false || inAudience === false || (onChannel === undefined && inAudience === undefined)) {
    return { allowed: false, reason: "notOnList" };
  }
  if (audience.channels?.some((name) => name === actor.channel || name === kindOf(actor.channel)) === false)
    return { allowed: false, reason: "wrongChannel" };
  if (audience.assurance === "remote" && actor.assurance !== "remote") return { allowed: false, reason: "remoteOnly" };
  if (person !== undefined) return { allowed: true, personId: person.id, name: person.name, mapped: true };
  if (quorum > 1) return { allowed: false, reason: "accountUnmapped" };
  return { allowed: true, personId: accountId(actor), name: actor.displayName, mapped: false };
}

function kindOf(channel: string): string {
  const end = channel.indexOf(":");
  return end === -1 ? channel : channel.slice(0, end);
}

/** Stands for a person where none is configured; cannot equal a configured id, which holds no colon. */
export function accountId(actor: Pick<Actor, "channel" | "actorId">): string {
  return `${actor.channel}:${actor.actorId}`;
}
