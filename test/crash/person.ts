/**
 * The automatic person at the phone: presses one button of each card that appears, and answers the first question for text of a
 * decision. Never twice, unless asked again: an answer that was given must arrive, whatever dies.
 */
import type { LedgerMessage, Sim } from "../../adapters/telegram/sim/index.ts";
import { visibleMessages } from "../../adapters/telegram/sim/index.ts";
import { liveButtons } from "../harness/index.ts";
import type { World } from "./stage.ts";

/** What is answered to the first, second… decision; the last entry also to all later ones. */
export interface Answer {
  readonly label: string;
  /** For a choice that asks for text. */
  readonly text?: string;
  /** Others who press the same button before, in vain. */
  readonly strangers?: readonly number[];
}

/** One thing that somebody did in the chat. */
export interface Act {
  readonly kind: "tap" | "text";
  /** Whether it is an answer, and not only the wish to give one with a text. */
  readonly answers: boolean;
  readonly user: number;
  readonly updateId: number;
  readonly messageId: number;
  readonly chat: number;
}

export class Person {
  answers: readonly Answer[] = [{ label: "Approve" }];
  /** While false, the person looks at nothing. */
  awake = true;
  /** Everything that the person does is handed over twice, under the same id. */
  echo = false;
  /** Wait until every card is known to have arrived before pressing: the operator comes first. */
  patient = false;
  readonly acts: Act[] = [];
  readonly #sim: Sim;
  readonly #pressed = new Set<string>();
  /** Questions for text that were answered: the fingerprint of a decision, or the message that asked again. */
  readonly #answered = new Set<string>();
  /** What was replied, by its message. */
  readonly #written = new Map<string, string>();

  constructor(sim: Sim) {
    this.#sim = sim;
  }

  /** Whether anything was done. */
  act(world: World): boolean {
    if (!this.awake || (this.patient && !allArrived(world))) return false;
    let acted = false;
    for (const chat of world.ledger.chats) {
      for (const message of visibleMessages(world.ledger, chat.id)) {
        if (message.from !== "bot") continue;
        acted = this.#press(world, chat.id, message) || this.#reply(world, chat.id, message) || acted;
      }
    }
    return acted;
  }

  #press(world: World, chat: number, message: LedgerMessage): boolean {
    if (liveButtons(message).length === 0 || this.#pressed.has(`${chat}:${message.id}`)) return false;
    const answer = this.#answerTo(world, message);
    if (answer === undefined) return false;
    this.#pressed.add(`${chat}:${message.id}`);
    for (const user of [...(answer.strangers ?? []), personOf(chat)]) {
      const { updateId } = this.#sim.people.tap(user, chat, message.id, answer.label);
      if (updateId === null) throw new Error("the bot is not told of a tap");
      this.#done({ kind: "tap", answers: answer.text === undefined, user, updateId, messageId: message.id, chat });
    }
    return true;
  }

  #reply(world: World, chat: number, message: LedgerMessage): boolean {
    if (message.forceReply === undefined) return false;
    const text = this.#askedAgain(chat, message) ?? this.#askedFirst(world, chat, message);
    if (text === undefined) return false;
    const { messageId, updateId } = this.#sim.people.reply(personOf(chat), chat, message.id, text);
    if (updateId === null) throw new Error("the bot is not told of a reply");
    this.#written.set(`${chat}:${messageId}`, text);
    this.#done({ kind: "text", answers: true, user: personOf(chat), updateId, messageId: message.id, chat });
    return true;
  }

  #askedFirst(world: World, chat: number, { replyTo }: LedgerMessage): string | undefined {
    const card = visibleMessages(world.ledger, chat).find(({ id }) => id === replyTo);
    const fingerprint = card && fingerprintIn(world, card);
    if (fingerprint === undefined || this.#answered.has(fingerprint)) return undefined;
    const text = card && this.#answerTo(world, card)?.text;
    if (text !== undefined) this.#answered.add(fingerprint);
    return text;
  }

  /** The text that could not be matched to its question, when this one asks for it once more. */
  #askedAgain(chat: number, { id, replyTo }: LedgerMessage): string | undefined {
    const text = this.#written.get(`${chat}:${replyTo}`);
    if (text === undefined || this.#answered.has(`${chat}:${id}`)) return undefined;
    this.#answered.add(`${chat}:${id}`);
    return text;
  }

  /** Writes a command in the private chat. */
  write(user: number, text: string): void {
    const { messageId, updateId } = this.#sim.people.say(user, user, text);
    if (updateId === null) throw new Error("the bot is not told of a command");
    this.#done({ kind: "text", answers: false, user, updateId, messageId, chat: user });
  }

  /** Presses a button that decides something, under an answer to a command. */
  press(user: number, messageId: number, label: string): void {
    const { updateId } = this.#sim.people.tap(user, user, messageId, label);
    if (updateId === null) throw new Error("the bot is not told of a tap");
    this.#done({ kind: "tap", answers: true, user, updateId, messageId, chat: user });
  }

  #done(act: Act): void {
    this.acts.push(act);
    if (this.echo) this.#sim.server.repeatUpdate(act.updateId);
  }

  #answerTo(world: World, card: LedgerMessage): Answer | undefined {
    for (const { decisions } of world.runs) {
      const at = decisions.findIndex(({ fingerprint }) => card.text.includes(fingerprint));
      if (at !== -1) return this.answers[at] ?? this.answers.at(-1);
    }
    return undefined;
  }
}

function allArrived({ effects }: World): boolean {
  const open = new Set(["pending", "applying", "ambiguous"]);
  return effects.every(({ purpose, status }) => purpose !== "delivery" || !open.has(status));
}

/** In a group it is Ann who answers. */
function personOf(chat: number): number {
  return chat > 0 ? chat : 1_001;
}

export function fingerprintIn(world: World, card: LedgerMessage): string | undefined {
  return world.runs
    .flatMap(({ decisions }) => decisions.map(({ fingerprint }) => fingerprint))
    .find((fingerprint) => card.text.includes(fingerprint));
}
