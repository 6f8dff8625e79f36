/**
 * What must hold when a chaos run is over. Pure: from the rows of the database, what the chats show, and what the service said of itself ten
 * minutes after the last fault. Every rule returns sentences; none means that it holds.
 */
import { visibleMessages, type LedgerMessage, type SimState } from "../../adapters/telegram/sim/index.ts";
import { liveButtons } from "../harness/index.ts";
import type { Facts, MessageFact, PartFact } from "./facts.ts";
import { nameIn } from "./people.ts";

/** What was to happen: names such as "Q12-3" and "A12-7", and the chats that are told. */
export interface Expected {
  readonly runs: number;
  readonly decisions: readonly Told[];
  readonly alerts: readonly Told[];
}
export interface Told {
  readonly name: string;
  readonly chats: readonly number[];
}

/** Ten minutes after the faults stopped: what was not settled by then, as `effect list` and `decisions` tell it. */
export interface Listing {
  readonly effects: readonly ListedEffect[];
  /** Decisions that wait for an answer, and how many buttons of theirs can be pressed in the chats. */
  readonly pending: readonly { readonly name: string; readonly pressable: number }[];
  /** Runs that have not ended. */
  readonly runs: readonly { readonly title: string; readonly status: string; readonly nextStep: string | null }[];
}
export interface ListedEffect {
  readonly shortId: string;
  readonly type: string;
  readonly status: string;
  /** The decision that it belongs to. */
  readonly name: string | null;
  readonly error: string | null;
  readonly settleWith: string | null;
}

export interface Evidence {
  readonly expected: Expected;
  readonly facts: Facts;
  readonly ledger: SimState;
  readonly listing: Listing;
  /** Where the token was found. */
  readonly leaks: readonly string[];
  /** Findings of the store's own verification of chains and blobs. */
  readonly verified: readonly string[];
}

export interface Violation {
  readonly rule: string;
  readonly detail: string;
}

type Rule = (evidence: Evidence) => Iterable<string>;

/** Every question was asked once, answered once, and its run went on once. */
function* everyDecisionOnce({ expected, facts }: Evidence): Iterable<string> {
  const known = groupBy(facts.decisions, ({ title }) => nameIn(title));
  for (const { name } of expected.decisions) {
    const found = known.get(name) ?? [];
    if (found.length !== 1) yield `${name} was asked ${found.length} times`;
    for (const { continuations, resolutions, status, won } of found) {
      if (status !== "accepted") yield `${name} is ${status}`;
      if (resolutions !== 1 || won !== 1)
        yield `${name} has ${resolutions} resolutions and ${won} submissions that won`;
      if (continuations !== 1) yield `${name} was followed by ${continuations} continuations`;
    }
  }
  if (facts.runs.length !== expected.runs) yield `${facts.runs.length} runs exist, ${expected.runs} were started`;
  for (const { status, title } of facts.runs) if (status !== "completed") yield `${title} is ${status}`;
}

/** Whatever is visible was sent by an attempt on record: by its place in the chat, or as one of those whose arrival nobody knows. */
function* everyCopyHasAttempt({ facts, ledger }: Evidence): Iterable<string> {
  const { unclear } = indexed(facts);
  for (const { id: chat } of ledger.chats) {
    const strays = botMessages(ledger, chat).filter((message) => referenced(facts, message) === undefined);
    const doubtful = unclear.get(String(chat)) ?? [];
    if (strays.length > doubtful.length)
      yield `chat ${chat} shows ${strays.length} messages that no attempt can be named for, and ${doubtful.length} attempts are unclear`;
    for (const [name, copies] of groupBy(strays, (message) => nameIn(first(message).text))) {
      if (name === undefined) continue;
      const own = doubtful.filter(({ effectNo }) => isAbout(messageOf(facts, effectNo), name));
      if (copies.length > own.length)
        yield `chat ${chat} shows ${copies.length} messages of ${name} that no attempt can be named for, and ${own.length} attempts are unclear`;
    }
  }
}

/** The same message twice in a chat: all but one say that they may be a repeat, or why they come again. */
function* noSilentCopy({ facts, ledger }: Evidence): Iterable<string> {
  for (const { id: chat } of ledger.chats) {
    const silent = botMessages(ledger, chat).filter(
      (message) => !/Possible repeat|I was offline/.test(first(message).text),
    );
    for (const [text, copies] of groupBy(silent, (message) => first(message).text)) {
      const effects = copies.map((message) => referenced(facts, message)).filter((part) => part !== undefined);
      const distinct = new Set(effects.map(({ effectNo, part }) => `${effectNo}/${part}`)).size;
      if (distinct < effects.length) {
        yield `chat ${chat} shows ${effects.length} copies of "${headOf(text)}" for ${distinct} messages, and they do not say so`;
        continue;
      }
      const name = nameIn(text);
      if (name === undefined || copies.length === 1) continue;
      // Nobody knows which message an unclear one is; there cannot be more of them than messages to that effect.
      const posts = facts.messages.filter(
        (message) => message.place === String(chat) && isPost(message) && isAbout(message, name),
      );
      if (copies.length > posts.length)
        yield `chat ${chat} shows ${copies.length} copies of "${headOf(text)}", for ${posts.length} messages, and they do not say so`;
    }
  }
}

/** Each alert was stored, and each of its chats has been told of it, or the refusal is on record. */
function* noAlertLost({ expected, facts, ledger }: Evidence): Iterable<string> {
  const known = new Set(facts.alerts.map(({ title }) => nameIn(title)));
  const shown = new Map(
    ledger.chats.map(({ id }) => [
      id,
      new Set(botMessages(ledger, id).flatMap((message) => looks(message).flatMap(({ text }) => namesIn(text)))),
    ]),
  );
  for (const { chats, name } of expected.alerts) {
    if (!known.has(name)) yield `alert ${name} was never stored`;
    for (const chat of chats) {
      if (shown.get(chat)?.has(name) === true) continue;
      const refused = facts.messages.some(
        (message) =>
          message.place === String(chat) &&
          isAbout(message, name) &&
          message.status === "rejected" &&
          message.error !== null,
      );
      if (!refused) yield `alert ${name} was never shown in chat ${chat}, and no refusal is on record`;
    }
  }
}

/** Ten minutes after the last fault everything is settled, or listed with its cause and the way out. */
function* settledOrListed({ listing }: Evidence): Iterable<string> {
  for (const { error, settleWith, shortId, status, type } of listing.effects) {
    if (status === "ambiguous" && settleWith === null)
      yield `${type} ${shortId} is in doubt, and nobody is told how to settle it`;
    if (status === "applying") yield `${type} ${shortId} is still being sent`;
    if (status === "pending" && error === null) yield `${type} ${shortId} still waits without a cause`;
  }
  for (const { name, pressable } of listing.pending) {
    const cause = listing.effects.some((effect) => effect.name === name && effect.status === "ambiguous");
    if (pressable === 0 && !cause) yield `${name} waits, but nobody can press it, and no cause is listed`;
  }
  for (const { nextStep, status, title } of listing.runs)
    if (status !== "waiting" && nextStep === null) yield `${title} is ${status}, and nobody is told why`;
}

/** At the very end nothing is under way, and what is over cannot be pressed. */
function* everythingEnds({ facts, ledger }: Evidence): Iterable<string> {
  for (const { shortId, status, type } of facts.messages)
    if (status === "pending" || status === "applying" || status === "ambiguous")
      yield `${type} ${shortId} is ${status} in the end`;
  const open = new Set(
    facts.decisions.flatMap(({ status, title }) => (status === "pending" ? (nameIn(title) ?? []) : [])),
  );
  for (const { id: chat } of ledger.chats)
    for (const message of botMessages(ledger, chat)) {
      const name = nameIn(message.text);
      if (name?.startsWith("Q") === true && !open.has(name) && liveButtons(message).length > 0)
        yield `${name} is over, and can still be pressed in chat ${chat} (message ${message.id})`;
    }
}

function* tokenNowhere({ leaks }: Evidence): Iterable<string> {
  for (const where of leaks) yield `the token is in ${where}`;
}

function* chainIntact({ verified }: Evidence): Iterable<string> {
  yield* verified;
}

function groupBy<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

interface Index {
  readonly byReference: ReadonlyMap<string, PartFact>;
  readonly byNo: ReadonlyMap<number, MessageFact>;
  readonly unclear: ReadonlyMap<string, readonly PartFact[]>;
}
const indexes = new WeakMap<Facts, Index>();

function indexed(facts: Facts): Index {
  const known = indexes.get(facts);
  if (known !== undefined) return known;
  const byNo = new Map(facts.messages.map((message) => [message.effectNo, message]));
  // Of a post that somebody has confirmed without its place, nobody knows which message it is either.
  const confirmed = ({ effectNo, state }: PartFact): boolean => {
    const message = byNo.get(effectNo);
    return state === "accepted" && message !== undefined && isPost(message);
  };
  const made: Index = {
    byReference: new Map(facts.parts.flatMap((part) => (part.reference === null ? [] : [[part.reference, part]]))),
    byNo,
    unclear: groupBy(
      facts.parts.filter(
        (part) => part.reference === null && (["ambiguous", "dispatching"].includes(part.state) || confirmed(part)),
      ),
      ({ place }) => place,
    ),
  };
  indexes.set(facts, made);
  return made;
}

function referenced(facts: Facts, { chatId, id }: LedgerMessage): PartFact | undefined {
  return indexed(facts).byReference.get(`${chatId}:${id}`);
}

function messageOf(facts: Facts, effectNo: number): MessageFact | undefined {
  return indexed(facts).byNo.get(effectNo);
}

function isAbout(message: MessageFact | undefined, name: string): boolean {
  return message?.about.some((title) => nameIn(title) === name) === true;
}

/** Not an edit. */
function isPost({ purpose }: MessageFact): boolean {
  return purpose !== "settlement";
}

function botMessages(ledger: SimState, chat: number): LedgerMessage[] {
  return visibleMessages(ledger, chat).filter(({ from }) => from === "bot");
}

function looks(message: LedgerMessage): readonly { readonly text: string }[] {
  return [...message.versions, message];
}

function first(message: LedgerMessage): { readonly text: string } {
  return message.versions[0] ?? message;
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/\b([AQ]\d+-\d+):/g)].map(([, name = ""]) => name);
}

function headOf(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

const RULES = {
  everyDecisionOnce,
  everyCopyHasAttempt,
  noSilentCopy,
  noAlertLost,
  settledOrListed,
  everythingEnds,
  tokenNowhere,
  chainIntact,
} satisfies Readonly<Record<string, Rule>>;
export type RuleName = keyof typeof RULES;

/** Applies every rule. */
export function violationsOf(evidence: Evidence): Violation[] {
  return Object.entries(RULES).flatMap(([rule, check]) => [...check(evidence)].map((detail) => ({ rule, detail })));
}
