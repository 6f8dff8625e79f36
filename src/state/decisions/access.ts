/**
 * Who may answer: the live configuration as the server passes it to each command that judges people, in the shapes that the
 * decision rules take. Default deny: what the configuration does not name is refused.
 */
import { TERMINAL, type Config } from "../../contracts/config.ts";
import type { DecisionRequest } from "../../contracts/decision/request.ts";
import type { Assurance } from "../../contracts/decision/answer.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { DECISION } from "../../contracts/limits.ts";
import {
  judgeActor,
  type ActorVerdict,
  type AudienceRule,
  type OutageWindow,
  type Person,
} from "../../decision/index.ts";

export interface Access {
  readonly people: Config["people"];
  readonly audiences: Config["audiences"];
  readonly profiles: Config["telegramProfiles"];
  readonly timeZone: string;
  /** Present while answers from an outage are still waited for; `until` defaults to the longest grace after `to`. */
  readonly outage: { readonly from: number; readonly to: number; readonly until?: number } | null;
}

export interface AnswerSource {
  readonly type: "control" | "channel";
  /** Channel with its profile: `telegram:default`, `terminal`. */
  readonly channel: string;
  readonly actorId: string;
  /** The person behind the account where the server knows it already; null = looked up by account. */
  readonly personId: string | null;
  /** Name that the channel shows; used only when no person is configured. */
  readonly actorName?: string | null;
  /** Id of the tap, message or command on that channel. */
  readonly eventId: string;
  /** The update that carried it, for the record. */
  readonly updateId?: number;
  readonly assurance: Assurance;
}

export function outageOf(access: Access): OutageWindow | undefined {
  if (access.outage === null) return undefined;
  const { from, to, until } = access.outage;
  return { from, to, until: until ?? to + DECISION.graceMs };
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** The audience of this name. Throws `audienceUnknown` with the names that are configured. */
export function audienceNamed(access: Access, name: unknown): Config["audiences"][string] {
  const found = typeof name === "string" ? own(access.audiences, name) : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(access.audiences);
  throw new HoldpointError(
    "audienceUnknown",
    `The audience ${JSON.stringify(name) ?? "(none)"} is not configured; known: ${known.join(", ") || "none"}.`,
    {
      details: { audience: typeof name === "string" ? name : null, known },
    },
  );
}

/** The Telegram profile behind a channel id `telegram:<profile>`, or undefined. */
export function profileOf(access: Access, channelId: string): Config["telegramProfiles"][string] | undefined {
  return channelId.startsWith("telegram:") ? own(access.profiles, channelId.slice("telegram:".length)) : undefined;
}

/** Whether anything may be received from or sent to a place (chat) of a channel. */
export function isPlaceAllowed(access: Access, channelId: string, place: string): boolean {
  return profileOf(access, channelId)?.allowedChatIds.includes(place) === true;
}

/** Whether an account is on the allow-list of its channel. */
export function isUserAllowed(access: Access, channelId: string, actorId: string): boolean {
  return profileOf(access, channelId)?.allowedUserIds.includes(actorId) === true;
}

/** Names of the persons of an audience; empty when it takes everybody whom the channel lets in. */
export function askedNames(access: Access, audience: string): string[] {
  return (own(access.audiences, audience)?.people ?? []).flatMap((id) => own(access.people, id)?.name ?? []);
}

/** Whether the sender may answer this request now, and as whom. */
export function judgeSource(
  access: Access,
  request: Pick<DecisionRequest, "audience" | "policy">,
  source: AnswerSource,
): ActorVerdict {
  const audience = own(access.audiences, request.audience);
  if (audience === undefined) return { allowed: false, reason: "notOnList" };
  // An audience for remote answers alone says that instead.
  const local = audience.assurance !== "remote";
  if (local && source.channel === TERMINAL && !audience.destinations.includes(TERMINAL))
    return { allowed: false, reason: "terminalOff" };
  const people: Person[] = Object.entries(access.people).map(([id, { name, telegram, terminal = [] }]) => ({
    id,
    name,
    accounts: accountsOf(source, id, { telegram, [TERMINAL]: terminal }),
  }));
  const rule: AudienceRule = {
    people: audience.people,
    assurance: audience.assurance === "remote" ? "remote" : undefined,
    // The server vouches for the user of this machine; an adapter child vouches for nobody.
    allowedActorIds:
      source.type === "control" ? [source.actorId] : (profileOf(access, source.channel)?.allowedUserIds ?? []),
  };
  const { actorId, assurance, channel } = source;
  return judgeActor({
    actor: { channel, actorId, assurance, displayName: source.actorName ?? undefined },
    people,
    audience: rule,
    quorum: request.policy.quorum,
  });
}

function accountsOf(source: AnswerSource, id: string, accounts: Person["accounts"]): Person["accounts"] {
  return source.personId === id ? { ...accounts, [source.channel]: [source.actorId] } : accounts;
}
