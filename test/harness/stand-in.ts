/** The Bot API stand-in as a process of its own, with the words of a test: wait for a card, tap it, reply to it. */
import { launchSim, type SimControl } from "../../adapters/telegram/sim/control.ts";
import type {
  LedgerButton,
  LedgerMessage,
  SimOptions,
  Spoken,
  StateTest,
  Tapped,
} from "../../adapters/telegram/sim/types.ts";
import { botMessages, buttonsOf } from "../../adapters/telegram/sim/view.ts";
import type { TestProfile } from "./home.ts";
import { HANG_MS, builtEntry } from "./paths.ts";
import type { Scope } from "./scope.ts";

export interface StandIn {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** Everything the stand-in can do; see adapters/telegram/sim. */
  readonly control: SimControl;
  /** For `makeHome({profiles: {default: standIn.profile()}})`. */
  profile(part?: Partial<TestProfile>): TestProfile;
  /** One chat as one person sees it; default: Ann's private chat. */
  phone(user?: number, chat?: number): Phone;
  /** Waits for a state of the ledger, up to the hang limit. */
  waitFor<T>(test: StateTest<T>, what: string): Promise<T>;
  close(): Promise<void>;
}

export interface Phone {
  readonly user: number;
  readonly chat: number;
  /** All visible messages of the bot, oldest first. */
  messages(): Promise<LedgerMessage[]>;
  /** The newest message with live buttons that holds the text and is newer than `after`. */
  waitForCard(text?: string, after?: number): Promise<LedgerMessage>;
  /** The newest message of the bot that holds the text and is newer than `after`. */
  waitForMessage(text: string, after?: number): Promise<LedgerMessage>;
  /** A message when it has no live buttons any more. */
  waitForSettled(messageId: number): Promise<LedgerMessage>;
  /** Presses a button by its text or number (0 is the first). */
  tap(messageId: number, button: string | number): Promise<Tapped>;
  /** The words that a tap was acknowledged with. */
  waitForToast(tapped: Tapped): Promise<string>;
  reply(messageId: number, text: string): Promise<Spoken>;
  say(text: string): Promise<Spoken>;
}

/** Ann (1001) and Bea (1002) with their private chats, and a stranger (6666) with one too. */
const PEOPLE: Pick<SimOptions, "users" | "chats"> = {
  users: [
    { id: 1_001, firstName: "Ann" },
    { id: 1_002, firstName: "Bea" },
    { id: 6_666, firstName: "Mallory" },
  ],
  chats: [
    { id: 1_001, type: "private" },
    { id: 1_002, type: "private" },
    { id: 6_666, type: "private" },
  ],
};

/** The buttons of a message that do something. */
export function liveButtons(message: LedgerMessage): LedgerButton[] {
  return buttonsOf(message).filter((button) => button.data !== undefined && button.disabled !== true);
}

/** Starts a stand-in; `chats` and `users` are added to Ann, Bea and the stranger. */
export async function startStandIn(scope: Scope, options: SimOptions = {}): Promise<StandIn> {
  const all: SimOptions = {
    ...options,
    users: [...(PEOPLE.users ?? []), ...(options.users ?? [])],
    chats: [...(PEOPLE.chats ?? []), ...(options.chats ?? [])],
  };
  const sim = await launchSim(all, builtEntry("adapters/telegram/sim/main.js"));
  scope.add(() => sim.close());
  const waitFor: StandIn["waitFor"] = (test, what) => sim.control.waitFor(test, { timeoutMs: HANG_MS, what });
  return {
    url: sim.url,
    token: sim.token,
    pid: sim.pid,
    control: sim.control,
    profile: (part = {}) => ({ url: sim.url, token: sim.token, ...part }),
    phone: (user = 1_001, chat = user) => phoneOf(sim.control, waitFor, user, chat),
    waitFor,
    close: () => sim.close(),
  };
}

function phoneOf(control: SimControl, waitFor: StandIn["waitFor"], user: number, chat: number): Phone {
  const find = (test: (message: LedgerMessage) => boolean, what: string): Promise<LedgerMessage> =>
    waitFor((state) => botMessages(state, chat).findLast(test), `${what} in chat ${chat}`);
  return {
    user,
    chat,
    messages: async () => botMessages(await control.state(), chat),
    waitForCard: (text = "", after = 0) =>
      find(
        (message) => message.id > after && message.text.includes(text) && liveButtons(message).length > 0,
        `a card with "${text}"`,
      ),
    waitForMessage: (text, after = 0) =>
      find((message) => message.id > after && message.text.includes(text), `a message with "${text}"`),
    waitForSettled: (messageId) =>
      find((message) => message.id === messageId && liveButtons(message).length === 0, `message ${messageId} settled`),
    tap: (messageId, button) => control.people.tap(user, chat, messageId, button),
    waitForToast: ({ callbackId }) =>
      waitFor(
        (state) => state.taps.find((tap) => tap.callbackId === callbackId)?.answer,
        `an acknowledgement of tap ${callbackId}`,
      ).then((answer) => answer.text),
    reply: (messageId, text) => control.people.reply(user, chat, messageId, text),
    say: (text) => control.people.say(user, chat, text),
  };
}
