/**
 * The people in the chats of a chaos run: they press what can be pressed, sometimes twice, answer questions for text, say truthfully whether
 * a card arrived, and a stranger talks as well. What they do follows from a seed and from what they see.
 */
import { visibleMessages, type LedgerMessage, type Sim, type SimState } from "../../adapters/telegram/sim/index.ts";
import { liveButtons } from "../harness/index.ts";
import { MEMBERS_OF_ALL, STRANGER, type Member } from "./plan.ts";
import type { Random } from "./random.ts";

/** How eager they are: the chance that somebody does something about a message that wants it. */
export interface Mood {
  readonly decides: number;
  readonly takesAlerts: number;
}

export class People {
  readonly #sim: Sim;
  readonly #random: Random;
  /** Texts that were sent in reply to a question for one, by chat and message. */
  readonly #replied = new Set<string>();

  constructor(sim: Sim, random: Random) {
    this.#sim = sim;
    this.#random = random;
  }

  /** One round through all chats; returns how much was done. */
  act(ledger: SimState, mood: Mood): number {
    let done = 0;
    for (const member of MEMBERS_OF_ALL)
      for (const chat of member.chats) {
        for (const message of visibleMessages(ledger, chat)) {
          if (message.from !== "bot") continue;
          if (message.forceReply !== undefined) done += this.#reply(member, chat, message, mood);
          const labels = liveButtons(message).map(({ text }) => text);
          if (labels.length > 0) done += this.#press(ledger, member, chat, message, labels, mood);
        }
      }
    return done;
  }

  /** Somebody who is nobody here says something: an update comes, and nothing follows from it. */
  murmur(): void {
    this.#sim.people.say(STRANGER, STRANGER, "hello");
  }

  /** Everybody writes: a chat that could not be written to is open again. */
  greet(): void {
    for (const { chats, user } of MEMBERS_OF_ALL) for (const chat of chats) this.#sim.people.say(user, chat, "/status");
  }

  #press(
    ledger: SimState,
    { chats, user }: Member,
    chat: number,
    message: LedgerMessage,
    labels: readonly string[],
    mood: Mood,
  ): number {
    const random = this.#random;
    const button = wanted(ledger, chats, message, labels, random);
    if (button === undefined) return 0;
    if (!random.chance(button.about === "alert" ? mood.takesAlerts : mood.decides)) return 0;
    if (chat < 0 && random.chance(0.1)) this.#sim.people.tap(STRANGER, chat, message.id, button.label);
    const { callbackId } = this.#sim.people.tap(user, chat, message.id, button.label);
    if (random.chance(0.1)) this.#sim.people.repeatTap(callbackId);
    return 1;
  }

  #reply({ user }: Member, chat: number, message: LedgerMessage, { decides }: Mood): number {
    const place = `${chat}:${message.id}`;
    if (this.#replied.has(place) || !this.#random.chance(decides)) return 0;
    this.#replied.add(place);
    this.#sim.people.reply(user, chat, message.id, "In two steps, please.");
    return 1;
  }
}

interface Press {
  readonly label: string;
  readonly about: "decision" | "alert" | "doubt" | "list";
}

function wanted(
  ledger: SimState,
  chats: readonly number[],
  message: LedgerMessage,
  labels: readonly string[],
  random: Random,
): Press | undefined {
  const find = (...words: string[]): string | undefined =>
    labels.find((label) => words.some((word) => label.startsWith(word)));
  const approve = find("Approve");
  if (approve !== undefined) {
    const other = random.chance(0.2) ? find(random.pick(["Change", "Stop"])) : undefined;
    return { label: other ?? approve, about: "decision" };
  }
  const acknowledge = find("Acknowledge");
  if (acknowledge !== undefined)
    return { label: (random.chance(0.2) ? find("Snooze") : undefined) ?? acknowledge, about: "alert" };
  if (find("Yes") !== undefined)
    return { label: find(arrived(ledger, chats, message) ? "Yes" : "No") ?? "Yes", about: "doubt" };
  // A list after a silence has a button for each card.
  const listed = labels.find((label) => nameIn(label) !== undefined);
  return listed === undefined || message.text.includes("shown again") ? undefined : { label: listed, about: "list" };
}

/** What "Did it arrive?" is asked about stands in its text; the others look whether a message with that name and its buttons is there. */
function arrived(ledger: SimState, chats: readonly number[], question: LedgerMessage): boolean {
  const name = nameIn(question.text);
  if (name === undefined) throw new Error(`a question names nothing: ${question.text}`);
  const asked = question.text.includes("a list of alerts") ? isList : isAsked;
  return chats
    .filter((chat) => chat !== question.chatId)
    .some((chat) => visibleMessages(ledger, chat).some((message) => message.from === "bot" && asked(message, name)));
}

/** Whether a message is, or was, a list with the alert of this name; each of its alerts may have had a message of its own before. */
function isList(message: LedgerMessage, name: string): boolean {
  return [...message.versions, message].some(
    ({ text }) =>
      text.includes(`${name}:`) && !text.includes("Did a list") && new Set(text.match(/\bA\d+-\d+:/g)).size > 1,
  );
}

/** Whether a message is, or was, the card or the alert of this name; a question about it is not. */
function isAsked(message: LedgerMessage, name: string): boolean {
  return [...message.versions, message].some(
    ({ buttons, text }) =>
      text.includes(`${name}:`) && buttons.flat().some((button) => /^(Approve|Acknowledge)/.test(button.text)),
  );
}

/** The name of the first decision or alert in a text: "Q12-3" or "A12-7". */
export function nameIn(text: string): string | undefined {
  return /\b([AQ]\d+-\d+):/.exec(text)?.[1];
}
