/**
 * What the stand-in knows: the bot, people, chats and everything that was ever shown in them. The world holds data and
 * looks it up; it decides nothing. Each change must end with `touch()`, which wakes those who wait for it.
 */
import { randomInt } from "node:crypto";
import type {
  ChatType,
  Clock,
  LedgerCommands,
  LedgerMessage,
  LedgerRequest,
  LedgerTap,
  LedgerToast,
  SimChat,
  SimOptions,
  SimTopic,
  SimUser,
} from "./types.ts";
import { createClock } from "./clock.ts";

/** A message together with what only the wire needs. */
export interface StoredMessage {
  ledger: LedgerMessage;
  /** The inline keyboard exactly as it goes out. */
  keyboard?: Record<string, unknown> | undefined;
  /** Wire fields that the ledger does not show (sender_chat, forward_origin, ...). */
  extra: Record<string, unknown>;
}

export interface StoredChat extends SimChat {
  type: ChatType;
  topics: SimTopic[];
  messages: Map<number, StoredMessage>;
  /** Times of the bot's recent messages, for flood control. */
  sent: number[];
}

export interface World {
  readonly token: string;
  readonly bot: { id: number; firstName: string; username: string };
  readonly clock: Clock;
  readonly privacyMode: boolean;
  readonly floodControl: boolean;
  readonly users: Map<number, SimUser>;
  readonly chats: Map<number, StoredChat>;
  readonly taps: LedgerTap[];
  readonly toasts: LedgerToast[];
  readonly requests: LedgerRequest[];
  readonly redirectHits: { http: string; path: string; bytes: number }[];
  commands: LedgerCommands[];
  version: number;
  touch(): void;
  /** Resolves at the next change after this version. */
  changed(since: number, signal?: AbortSignal): Promise<void>;
  addUser(user: SimUser): void;
  addChat(chat: SimChat): void;
  user(id: number): SimUser;
  chat(id: number): StoredChat;
  message(chatId: number, messageId: number): StoredMessage;
  nextMessageId(chat: StoredChat): number;
  newId(): string;
}

/** For tests and the demo only; not a real bot. */
const DEFAULT_TOKEN = "7700000001:stand-in_token_for_local_use_only_00";

export function createWorld(options: SimOptions): World {
  const token = options.token ?? DEFAULT_TOKEN;
  if (!/^[1-9]\d*:[\w-]+$/.test(token)) throw new Error("the token must look like <number>:<letters, digits, _ or ->");
  const waiters = new Set<() => void>();
  // Private chats and groups share one row of message ids, as in a real account; supergroups and channels have their own.
  let sharedMessageId = 0;
  let ids = BigInt(randomInt(1, 2 ** 40)) * 1_000_000n;

  const world: World = {
    token,
    bot: {
      id: options.bot?.id ?? Number(token.split(":")[0]),
      firstName: options.bot?.firstName ?? "Holdpoint",
      username: options.bot?.username ?? "holdpoint_local_bot",
    },
    clock: createClock(options.now, () => world.touch()),
    privacyMode: options.privacyMode ?? true,
    floodControl: options.floodControl ?? false,
    users: new Map(),
    chats: new Map(),
    taps: [],
    toasts: [],
    requests: [],
    redirectHits: [],
    commands: [],
    version: 1,
    touch() {
      world.version += 1;
      const woken = [...waiters];
      waiters.clear();
      for (const wake of woken) wake();
    },
    changed(since, signal) {
      if (world.version > since || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          signal?.removeEventListener("abort", wake);
          waiters.delete(wake);
          resolve();
        };
        waiters.add(wake);
        signal?.addEventListener("abort", wake);
      });
    },
    addUser(user) {
      world.users.set(user.id, { ...user });
      world.touch();
    },
    addChat(chat) {
      if (chat.type === "private" && !world.users.has(chat.id)) {
        throw new Error(`private chat ${chat.id} needs the person of the same id first`);
      }
      world.chats.set(chat.id, {
        ...chat,
        state: chat.state ?? "open",
        topics: (chat.topics ?? []).map((topic) => ({ ...topic })),
        messages: new Map(),
        sent: [],
      });
      world.touch();
    },
    user(id) {
      const user = world.users.get(id);
      if (!user) throw new Error(`no person ${id}`);
      return user;
    },
    chat(id) {
      const chat = world.chats.get(id);
      if (!chat) throw new Error(`no chat ${id}`);
      return chat;
    },
    message(chatId, messageId) {
      const message = world.chat(chatId).messages.get(messageId);
      if (!message) throw new Error(`no message ${messageId} in chat ${chatId}`);
      return message;
    },
    nextMessageId(chat) {
      if (chat.type === "private" || chat.type === "group") return (sharedMessageId += 1);
      return Math.max(0, ...chat.messages.keys()) + 1;
    },
    newId() {
      ids += BigInt(randomInt(1, 1_000_000));
      return String(ids);
    },
  };
  for (const user of options.users ?? []) world.addUser(user);
  for (const chat of options.chats ?? []) world.addChat(chat);
  return world;
}
