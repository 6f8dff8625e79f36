/**
 * The conversation on the phone: shows each message when it comes or changes, asks for an answer while a card waits for
 * one, and gives it as a tap or reply at the stand-in. It never tells the server anything by itself.
 */
import type { DecisionSummary, RunView } from "../../client/index.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { DEMO } from "../../contracts/limits.ts";
import type { Context } from "../context.ts";
import { isAtRest } from "../follow.ts";
import { clean } from "../layout.ts";
import { duration } from "../times.ts";
import type { Answerer } from "./answerer.ts";
import { drawMessage, liveButtons } from "./phone.ts";
import { BOT, PERSON, type Stage } from "./stage.ts";
import type { PhoneMessage, PhoneState } from "./stand-in.ts";

/** What the person can react to now. */
export interface Turn {
  /** The newest card with buttons that do something. */
  readonly card: PhoneMessage;
  /** A request for text that was not replied to. */
  readonly prompt: PhoneMessage | undefined;
  /** The decision that the card is about, as the server lists it. */
  readonly decision: DecisionSummary | undefined;
}

/** What a person did: pressed a button (0 is the first) or wrote. */
export type Act = { readonly tap: number } | { readonly text: string };

export class Conversation {
  readonly #context: Context;
  readonly #stage: Stage;
  readonly #answerer: Answerer;
  /** Message id → how it looked when it was drawn. */
  readonly #drawn = new Map<number, string>();
  readonly #toasts = new Set<string>();
  readonly #replied = new Set<number>();
  #view: RunView | undefined;
  #wake = (): void => {};
  #state: PhoneState | undefined;

  constructor(context: Context, stage: Stage, answerer: Answerer) {
    this.#context = context;
    this.#stage = stage;
    this.#answerer = answerer;
  }

  /** A new view of the run. */
  onView(view: RunView): void {
    this.#view = view;
    this.#wake();
  }

  /** Goes on until the run is over and its cards are settled. Returns the last view and the phone's last state. */
  async toEnd(): Promise<{ view: RunView; state: PhoneState }> {
    await this.#look();
    for (;;) {
      const view = this.#view;
      const turn = this.#turn();
      if (view !== undefined && isAtRest(view)) return this.#settled(view);
      if (turn !== undefined) await this.#take(turn);
      else await this.#change();
    }
  }

  /** Asks for an act, performs it, waits until the service reacted. */
  async #take(turn: Turn): Promise<void> {
    const act = await this.#answerer.next(turn);
    if ("tap" in act) await this.#tap(turn, act.tap);
    else await this.#reply(turn, act.text);
  }

  async #tap({ card }: Turn, button: number): Promise<void> {
    const last = Math.max(...this.#messages().map((message) => message.id));
    const label = clean(liveButtons(card)[button]?.text ?? "");
    let tapped: { callbackId: string; updateId: number | null };
    try {
      tapped = await this.#stage.standIn.tap(card.id, button);
    } catch (error) {
      await this.#look();
      if (!this.#isSettled(card)) throw error;
      this.#context.line("The card changed in between.");
      return;
    }
    this.#context.line(`${PERSON.name} presses "${label}" (update ${tapped.updateId}).`);
    await this.#reaction(`the tap (update ${tapped.updateId})`, {
      heard: () =>
        this.#state?.taps.some((tap) => tap.callbackId === tapped.callbackId && tap.answer !== undefined) === true,
      done: () => this.#isSettled(card) || this.#asksForText(last),
    });
  }

  async #reply({ card, prompt }: Turn, text: string): Promise<void> {
    const to = prompt ?? card;
    const { messageId, updateId } = await this.#stage.standIn.reply(to.id, text);
    this.#replied.add(to.id);
    this.#context.line(`${PERSON.name} replies "${clean(text)}" (update ${updateId}).`);
    await this.#reaction(`the reply (update ${updateId})`, {
      heard: () => this.#newerFromBot(messageId),
      done: () => this.#isSettled(card),
    });
  }

  /**
   * Waits until the service has heard an act and done what follows from it. What was heard may have been refused, and
   * then nothing follows: after the answerer's patience the person is asked again.
   */
  async #reaction(what: string, { heard, done }: { heard: () => boolean; done: () => boolean }): Promise<void> {
    await this.#until(() => heard() || done(), DEMO.reactionMs, what);
    await this.#until(done, this.#answerer.patienceMs);
  }

  /** The card says how it ended only after the run has; then the phone is quiet. */
  async #settled(view: RunView): Promise<{ view: RunView; state: PhoneState }> {
    const open = (): boolean =>
      this.#messages().some((message) => message.from === "bot" && liveButtons(message).length > 0);
    const queued = (): boolean => (this.#view ?? view).effects.some(isOnItsWay);
    await this.#until(() => !open() && !queued(), DEMO.reactionMs, "the end of the run");
    return { view: this.#view ?? view, state: this.#state as PhoneState };
  }

  #turn(): Turn | undefined {
    const bot = this.#messages().filter((message) => message.from === "bot");
    const card = bot.findLast((message) => liveButtons(message).length > 0);
    if (card === undefined) return undefined;
    const prompt = bot.findLast(
      (message) => asksForText(message) && message.id > card.id && !this.#replied.has(message.id),
    );
    const decision = this.#view?.decisions.findLast((one) => one.status === "pending");
    // The card may be on the phone before the view that tells of it has come.
    return decision === undefined && this.#answerer.needsDecision ? undefined : { card, prompt, decision };
  }

  /** Waits for one change on the phone or of the run (or so many milliseconds), and shows it. */
  async #change(limitMs?: number): Promise<void> {
    const version = this.#state?.version;
    const changed = new Promise<void>((resolve) => (this.#wake = resolve));
    await Promise.race([this.#stage.standIn.state(version, limitMs), changed]);
    await this.#look();
  }

  /** Waits for a state; when it does not come in time: an error if it is said what it should react to, else nothing. */
  async #until(test: () => boolean, limitMs: number, reactionTo?: string): Promise<void> {
    const started = performance.now();
    while (!test()) {
      const left = limitMs - (performance.now() - started);
      if (left > 0) {
        await this.#change(left);
        continue;
      }
      if (reactionTo === undefined) return;
      const text = `The service did not react to ${reactionTo} within ${duration(limitMs)}.`;
      throw new HoldpointError("demoFailed", text);
    }
  }

  async #look(): Promise<void> {
    this.#state = await this.#stage.standIn.state();
    for (const tap of this.#state.taps) {
      if (tap.answer === undefined || this.#toasts.has(tap.callbackId)) continue;
      this.#toasts.add(tap.callbackId);
      if (tap.answer.text !== "") this.#context.line(`${PERSON.name}'s phone says: "${clean(tap.answer.text)}"`);
    }
    for (const message of this.#messages()) this.#draw(message);
  }

  #draw(message: PhoneMessage): void {
    const look = JSON.stringify([message.text, message.buttons]);
    const before = this.#drawn.get(message.id);
    if (before === look) return;
    this.#drawn.set(message.id, look);
    if (message.from !== "bot") return;
    const title = `${PERSON.name}'s phone \u00b7 ${BOT}${before === undefined ? "" : " \u00b7 edited"}`;
    this.#context.line();
    this.#context.lines(drawMessage(this.#context, message, title));
  }

  #messages(): PhoneMessage[] {
    return this.#state === undefined ? [] : this.#stage.standIn.messages(this.#state);
  }

  #isSettled(card: PhoneMessage): boolean {
    const now = this.#messages().find((message) => message.id === card.id);
    return now === undefined || liveButtons(now).length === 0;
  }

  #asksForText(after: number): boolean {
    return this.#messages().some((message) => message.id > after && asksForText(message));
  }

  #newerFromBot(after: number): boolean {
    return this.#messages().some((message) => message.id > after && message.from === "bot");
  }
}

function asksForText(message: PhoneMessage): boolean {
  return message.from === "bot" && message.forceReply !== undefined;
}

function isOnItsWay(effect: { purpose: string; status: string }): boolean {
  return effect.purpose !== "action" && (effect.status === "pending" || effect.status === "applying");
}
