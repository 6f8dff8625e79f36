/**
 * Who may answer: the live configuration as the server passes it to each command that judges people, in the shapes that the
 * decision rules take. Default deny: what the configuration does not name is refused.
 */
import { PI, TERMINAL, type Config } from "../../contracts/config.ts";
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
  /** Left out: English. */
  readonly language?: Config["language"];
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

/** A property that the record itself has: keys come from outside. */
export function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
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

/** Whether anything may be received from or sent to a place (chat) of a channel. Every session of Pi that can connect is this user's own. */
export function isPlaceAllowed(access: Access, channelId: string, place: string): boolean {
  if (channelId === PI) return true;
  return profileOf(access, channelId)?.allowedChatIds.includes(place) === true;
}

/** Whether an account is on the allow-list of its channel. */
export function isUserAllowed(access: Access, channelId: string, actorId: string): boolean {
  return profileOf(access, channelId)?.allowedUserIds.includes(actorId) === true;
}

/** Names of those who may answer for an audience; empty when no person with a name is among them. */
export function askedNames(access: Access, audience: string): string[] {
  const rule = own(access.audiences, audience);
  const asked = rule?.people ?? Object.keys(access.people);
  const channels = new Set(rule?.destinations.map((destination) => destination.split("/")[0] as string));
  const heard = new Set([...channels].flatMap((channel) => profileOf(access, channel)?.allowedUserIds ?? []));
  // Somebody without an account that is heard may still answer elsewhere, where the audience names them.
  const canAnswer = (id: string): boolean =>
    rule?.people !== undefined || own(access.people, id)?.telegram.some((account) => heard.has(account)) === true;
  return asked.filter(canAnswer).flatMap((id) => own(access.people, id)?.name ?? []);
}

/** Ids of the persons who are asked, by the lists of the first audience and of the second one, if it is asked too. */
export function votersOf(
  access: Access,
  { audience }: Pick<DecisionRequest, "audience">,
  escalatedTo: string | null,
): string[] {
  const names = escalatedTo === null ? [audience] : [audience, escalatedTo];
  const listed = names.flatMap((name) => own(access.audiences, name)?.people ?? []);
  return [...new Set(listed)].filter((id) => own(access.people, id) !== undefined);
}

/** Whether somebody at the server's own terminal may answer now, as far as channel and assurance go. */
export function isTerminalAsked(
  access: Access,
  request: { readonly audience: string; readonly channels: readonly string[]; readonly assurance: "remote" | null },
  escalatedTo: string | null,
): boolean {
  if (request.assurance === "remote" || (request.channels.length > 0 && !request.channels.includes(TERMINAL)))
    return false;
  return [request.audience, ...(escalatedTo === null ? [] : [escalatedTo])].some((name) => {
    const audience = own(access.audiences, name);
    return audience !== undefined && audience.assurance !== "remote" && audience.destinations.includes(TERMINAL);
  });
}

/** Whether the sender may answer this request now, and as whom: for its audience, or for the second one that is asked too. */
export function judgeSource(
  access: Access,
  request: Pick<DecisionRequest, "audience" | "policy">,
  source: AnswerSource,
  escalatedTo: string | null,
): ActorVerdict {
  const first = judgeFor(access, request.audience, request.policy, source);
  if (first.allowed || escalatedTo === null) return first;
  const second = judgeFor(access, escalatedTo, request.policy, source);
  // Somebody whom one of the lists names is told what is missing.
  return second.allowed || first.reason === "notOnList" ? second : first;
}

function judgeFor(access: Access, name: string, policy: DecisionRequest["policy"], source: AnswerSource): ActorVerdict {
  const audience = own(access.audiences, name);
  if (audience === undefined) return { allowed: false, reason: "notOnList" };
  const remote = audience.assurance === "remote" || policy.require?.assurance === "remote";
  const channels = policy.require?.channels;
  // Where this machine is refused for another reason, that is told instead.
  const local = source.channel === TERMINAL || source.channel === PI;
  const otherwise = remote || (channels !== undefined && !channels.includes(source.channel));
  if (local && !otherwise && !audience.destinations.includes(source.channel))
    return { allowed: false, reason: source.channel === PI ? "piOff" : "terminalOff" };
  const people = peopleOf(access, source);
  const rule: AudienceRule = {
    people: audience.people,
    assurance: remote ? "remote" : undefined,
    channels,
    // The server vouches for the user of this machine, and so does the socket of Pi, which only that user can open; another adapter child
    // vouches for nobody.
    allowedActorIds:
      source.type === "control" || source.channel === PI
        ? [source.actorId]
        : (profileOf(access, source.channel)?.allowedUserIds ?? []),
  };
  const { actorId, assurance, channel } = source;
  return judgeActor({
    actor: { channel, actorId, assurance, displayName: source.actorName ?? undefined },
    people,
    audience: rule,
    quorum: policy.quorum,
  });
}

/** The people of a configuration, made once for each that is read. */
const configured = new WeakMap<Config["people"], readonly Person[]>();

/** The configured people with their accounts; `source` may be known to be one of them. */
export function peopleOf({ people }: Access, source?: AnswerSource): readonly Person[] {
  let known = configured.get(people);
  if (known === undefined) {
    known = Object.entries(people).map(([id, { name, telegram, terminal = [] }]) => ({
      id,
      name,
      accounts: { telegram, [TERMINAL]: terminal, [PI]: terminal },
    }));
    configured.set(people, known);
  }
  if (source === undefined || source.personId === null) return known;
  const { actorId, channel, personId } = source;
  return known.map((person) =>
    person.id === personId ? { ...person, accounts: { ...person.accounts, [channel]: [actorId] } } : person,
  );
}
