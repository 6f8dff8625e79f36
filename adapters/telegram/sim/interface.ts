/**
 * What can be done with a stand-in: people act, faults are set, time moves, the ledger is read. The control channel offers
 * the same functions to other processes, so arguments and results are plain JSON.
 */
import type { ActiveFault, ChatState, FaultSpec, SimChat, SimState, SimTopic, SimUser } from "./types.ts";

/** How a person writes. */
export interface SpeakOptions {
  /** A forum topic. */
  thread?: number;
  /** `anonymousAdmin`: from 1087968824 with the group as sender_chat. `{chat}`: on behalf of a channel. */
  as?: "anonymousAdmin" | { chat: number };
  /** The message belongs to a business connection or a guest query: same chat id, another chat. */
  businessConnection?: string;
  guestQuery?: string;
}

export interface TapOptions {
  /** The message arrives as InaccessibleMessage (`date: 0`). */
  inaccessible?: boolean;
}

/** `updateId` is null when the bot is not told (privacy mode, allowed_updates, a chat it is not in). */
export interface Spoken {
  updateId: number | null;
  messageId: number;
}

export interface Tapped {
  updateId: number | null;
  callbackId: string;
}

/** What people and administrators do. Unknown chats, messages and buttons throw. */
export interface People {
  addUser(user: SimUser): void;
  addChat(chat: SimChat): void;
  /** Adds a person and the private chat with them. */
  addPerson(user: SimUser): void;
  /** Changes a person's names; the id stays. */
  rename(user: number, names: { firstName?: string; lastName?: string | null; username?: string | null }): void;
  setChatState(chat: number, state: ChatState, migratedTo?: number): void;
  addTopic(chat: number, topic: SimTopic): void;
  deleteTopic(chat: number, threadId: number): void;
  /** Presses a button by its text or by its number (0 is the first, counted over all rows). */
  tap(user: number, chat: number, messageId: number, button: string | number, options?: TapOptions): Tapped;
  /** Sends a callback query with any data, as a modified client can; the message need not carry such a button. */
  tapRaw(user: number, chat: number, messageId: number, data: string, options?: TapOptions): Tapped;
  /** A tap on a message sent through inline mode: it has no chat. */
  tapInline(user: number, inlineMessageId: string, data: string): Tapped;
  /** The same tap once more as a new callback query with another id. */
  repeatTap(callbackId: string): Tapped;
  say(user: number, chat: number, text: string, options?: SpeakOptions): Spoken;
  reply(user: number, chat: number, toMessageId: number, text: string, options?: SpeakOptions): Spoken;
  /** Sends the ledger's message on to another chat; callback buttons stay behind, as in Telegram. */
  forward(user: number, fromChat: number, messageId: number, toChat: number): Spoken;
  editOwn(user: number, chat: number, messageId: number, text: string): Spoken;
  /** A post in a channel: no `from`. */
  post(channel: number, text: string): Spoken;
  /** A person removes a message from the chat (no update). */
  remove(chat: number, messageId: number): void;
}

export interface Faults {
  /** Returns the fault's id. */
  add(spec: FaultSpec): string;
  /** Ends one fault. A slow request that it holds goes on at once; a hung connection is cut. */
  remove(id: string): void;
  clear(): void;
  list(): ActiveFault[];
}

export interface Clock {
  now(): number;
  /** Stops the clock at this time. */
  set(ms: number): void;
  /** Moves the clock on, running or stopped. */
  advance(ms: number): void;
  /** Lets it run again from where it stands. */
  run(): void;
}

/** What can happen to the Bot API server itself. */
export interface ServerKnobs {
  /** Stops listening and cuts all connections; queue and ledger stay. */
  down(): Promise<void>;
  /** Listens again on the same port. */
  up(): Promise<void>;
  /** `down` and `up`. */
  restart(): Promise<void>;
  /** Numbers the next updates from here, as after a quiet week. The queue must be empty. */
  jumpUpdateId(next: number): void;
  /** Hands an update out once more under the same id, whether it was confirmed or not. */
  repeatUpdate(updateId: number): void;
  /** Another instance polls once: a waiting poll gets its 409. Returns whether one was waiting. */
  otherPoller(): boolean;
}

export interface WaitOptions {
  /** Real milliseconds. Default 10000. */
  timeoutMs?: number;
  /** What is being waited for; part of the error when it does not come. */
  what?: string;
}

/**
 * A predicate over the state; anything but undefined, null and false ends the wait and is its result (a copy). It must
 * only read.
 */
export type StateTest<T> = (state: SimState) => T | undefined | null | false;

export interface Ledger {
  version(): number;
  state(): SimState;
  waitFor<T>(test: StateTest<T>, options?: WaitOptions): Promise<T>;
}

export interface Sim {
  /** The `apiRoot` for a client: no slash at the end. */
  url: string;
  port: number;
  token: string;
  ledger: Ledger;
  people: People;
  faults: Faults;
  clock: Clock;
  server: ServerKnobs;
  close(): Promise<void>;
}
