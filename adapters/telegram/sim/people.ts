/**
 * What people do in the chats, and what the bot hears of it. Each action writes what the others in the chat would see
 * and queues the update that the real server would queue.
 */
import type { LedgerTap, People, SimUser, SpeakOptions, Spoken, TapOptions, Tapped } from "./types.ts";
import { ANONYMOUS_ADMIN_ID, CHANNEL_BOT_ID } from "./limits.ts";
import { withDetected } from "./text.ts";
import type { Updates } from "./updates.ts";
import { chatInstance, defined, wireChat, wireMessage, wireUser } from "./wire-shapes.ts";
import type { StoredChat, StoredMessage, World } from "./world.ts";

export function createPeople(world: World, updates: Updates): People {
  /** Writes a message into the chat; null as update id when the bot does not hear it. */
  function write(chat: StoredChat, from: number, text: string, options: SpeakOptions, replyTo?: number): Spoken {
    if (options.thread !== undefined && !chat.topics.some((topic) => topic.id === options.thread && !topic.deleted)) {
      throw new Error(`no topic ${options.thread} in chat ${chat.id}`);
    }
    const answered = replyTo === undefined ? undefined : world.message(chat.id, replyTo);
    const threadId = options.thread ?? answered?.ledger.threadId;
    const formatted = withDetected({ text, entities: [] });
    const id = world.nextMessageId(chat);
    const stored: StoredMessage = {
      ledger: {
        chatId: chat.id,
        id,
        from,
        at: world.clock.now(),
        ...formatted,
        buttons: [],
        silent: false,
        ...(threadId === undefined ? {} : { threadId }),
        ...(replyTo === undefined ? {} : { replyTo }),
        linkPreview: true,
        protected: false,
        reactions: [],
        deleted: false,
        versions: [],
      },
      extra: { ...conversation(chat, replyTo, threadId), ...disguise(chat, options) },
    };
    chat.messages.set(id, stored);
    world.touch();
    return { messageId: id, updateId: hears(chat, stored) ? announce(chat, stored, options) : null };
  }

  /** Outside of topics a reply in a supergroup carries the first message of its conversation, which is no topic. */
  function conversation(chat: StoredChat, replyTo?: number, threadId?: number): Record<string, unknown> {
    if (chat.type !== "supergroup" || replyTo === undefined || threadId !== undefined) return {};
    let root = replyTo;
    for (let next: number | undefined = replyTo; next !== undefined; next = chat.messages.get(root)?.ledger.replyTo) {
      root = next;
    }
    return { message_thread_id: root };
  }

  /** Fields that change who seems to speak, or in which chat. */
  function disguise(chat: StoredChat, options: SpeakOptions): Record<string, unknown> {
    if (options.as === "anonymousAdmin") {
      const from = { id: ANONYMOUS_ADMIN_ID, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };
      return { from, sender_chat: wireChat(world, chat) };
    }
    if (options.as) {
      const from = { id: CHANNEL_BOT_ID, is_bot: true, first_name: "Channel", username: "Channel_Bot" };
      return { from, sender_chat: wireChat(world, world.chat(options.as.chat)) };
    }
    return {};
  }

  /** Privacy mode: in groups only commands, mentions of the bot and replies to it. */
  function hears(chat: StoredChat, { ledger }: StoredMessage): boolean {
    if (chat.state === "kicked" || chat.state === "notMember") return false;
    if (chat.type === "private" || chat.type === "channel" || chat.botIsAdmin || !world.privacyMode) return true;
    const answered = ledger.replyTo === undefined ? undefined : chat.messages.get(ledger.replyTo);
    if (answered?.ledger.from === "bot") return true;
    const names = ledger.entities.map((entity) => ({
      type: entity.type,
      text: ledger.text.slice(entity.offset, entity.offset + entity.length).toLowerCase(),
    }));
    const me = `@${world.bot.username.toLowerCase()}`;
    return names.some(
      ({ type, text }) =>
        (type === "mention" && text === me) || (type === "bot_command" && (!text.includes("@") || text.endsWith(me))),
    );
  }

  function announce(
    chat: StoredChat,
    stored: StoredMessage,
    options: SpeakOptions = {},
    edited = false,
  ): number | null {
    const body = wireMessage(world, chat, stored);
    const kind = chat.type === "channel" ? "channel_post" : "message";
    if (options.businessConnection !== undefined) {
      body["business_connection_id"] = options.businessConnection;
      return updates.push(edited ? "edited_business_message" : "business_message", body, stored.ledger.at);
    }
    if (options.guestQuery !== undefined) {
      body["guest_query_id"] = options.guestQuery;
      return updates.push("guest_message", body, stored.ledger.at);
    }
    return updates.push(edited ? `edited_${kind}` : kind, body, stored.ledger.at);
  }

  function tap(user: SimUser, data: string, place: Partial<LedgerTap>, fields: Record<string, unknown>): Tapped {
    const record: LedgerTap = {
      callbackId: world.newId(),
      userId: user.id,
      ...place,
      data,
      at: world.clock.now(),
      updateId: null,
    };
    world.taps.push(record);
    const instance = chatInstance(record.chatId ?? record.inlineMessageId ?? "");
    const query = { id: record.callbackId, from: wireUser(user), ...fields, chat_instance: instance, data };
    record.updateId = updates.push("callback_query", query, record.at);
    world.touch();
    return { callbackId: record.callbackId, updateId: record.updateId };
  }

  function tapMessage(userId: number, chatId: number, messageId: number, data: string, options: TapOptions): Tapped {
    const chat = world.chat(chatId);
    const stored = options.inaccessible ? undefined : world.message(chatId, messageId);
    const message = stored
      ? wireMessage(world, chat, stored)
      : { chat: wireChat(world, chat), message_id: messageId, date: 0 };
    return tap(world.user(userId), data, { chatId, messageId }, { message });
  }

  const people: People = {
    addUser: (user) => world.addUser(user),
    addChat: (chat) => world.addChat(chat),
    addPerson(user) {
      world.addUser(user);
      world.addChat({ id: user.id, type: "private" });
    },
    rename(id, names) {
      const next = defined({ ...world.user(id), ...names });
      const kept = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== null));
      world.addUser(kept as unknown as SimUser);
    },
    setChatState(id, state, migratedTo) {
      const chat = world.chat(id);
      if (state === "migrated" && migratedTo === undefined) throw new Error("a migrated group needs its new chat id");
      chat.state = state;
      if (migratedTo !== undefined) chat.migratedTo = migratedTo;
      world.touch();
    },
    addTopic(id, topic) {
      world.chat(id).topics.push({ ...topic });
      world.touch();
    },
    deleteTopic(id, threadId) {
      const topic = world.chat(id).topics.find((known) => known.id === threadId);
      if (!topic) throw new Error(`no topic ${threadId} in chat ${id}`);
      topic.deleted = true;
      world.touch();
    },
    tap(userId, chatId, messageId, button, options = {}) {
      const { ledger } = world.message(chatId, messageId);
      if (ledger.deleted) throw new Error(`message ${messageId} was deleted`);
      const buttons = ledger.buttons.flat();
      const pressed = typeof button === "number" ? buttons[button] : buttons.find(({ text }) => text === button);
      if (!pressed) {
        const shown = buttons.map(({ text }) => `"${text}"`).join(", ") || "none";
        throw new Error(`message ${messageId} has no button ${JSON.stringify(button)}; its buttons: ${shown}`);
      }
      if (pressed.data === undefined) throw new Error(`button "${pressed.text}" sends nothing to the bot`);
      return tapMessage(userId, chatId, messageId, pressed.data, options);
    },
    tapRaw: (userId, chatId, messageId, data, options = {}) => tapMessage(userId, chatId, messageId, data, options),
    tapInline: (userId, inlineMessageId, data) =>
      tap(world.user(userId), data, { inlineMessageId }, { inline_message_id: inlineMessageId }),
    repeatTap(callbackId) {
      const first = world.taps.find((known) => known.callbackId === callbackId);
      if (!first) throw new Error(`no tap ${callbackId}`);
      if (first.chatId === undefined || first.messageId === undefined) {
        return people.tapInline(first.userId, first.inlineMessageId ?? "", first.data);
      }
      const inaccessible = !world.chat(first.chatId).messages.has(first.messageId);
      return tapMessage(first.userId, first.chatId, first.messageId, first.data, { inaccessible });
    },
    say: (userId, chatId, text, options = {}) => write(world.chat(chatId), world.user(userId).id, text, options),
    reply: (userId, chatId, toMessageId, text, options = {}) =>
      write(world.chat(chatId), world.user(userId).id, text, options, toMessageId),
    forward(userId, fromChat, messageId, toChat) {
      const source = world.message(fromChat, messageId);
      if (source.ledger.protected) throw new Error(`message ${messageId} is protected and cannot be forwarded`);
      const origin =
        source.ledger.from === "bot"
          ? { type: "user", sender_user: { id: world.bot.id, is_bot: true, first_name: world.bot.firstName } }
          : { type: "user", sender_user: wireUser(world.user(source.ledger.from)) };
      const chat = world.chat(toChat);
      const id = world.nextMessageId(chat);
      const stored: StoredMessage = {
        ledger: {
          ...source.ledger,
          chatId: toChat,
          id,
          from: world.user(userId).id,
          at: world.clock.now(),
          buttons: [],
          forwardedFrom: { chatId: fromChat, messageId },
          reactions: [],
          versions: [],
        },
        extra: { forward_origin: { ...origin, date: Math.floor(source.ledger.at / 1000) } },
      };
      for (const field of ["replyTo", "threadId", "editedAt", "forceReply", "placeholder"] as const) {
        delete stored.ledger[field];
      }
      chat.messages.set(id, stored);
      world.touch();
      return { messageId: id, updateId: hears(chat, stored) ? announce(chat, stored) : null };
    },
    editOwn(userId, chatId, messageId, text) {
      const chat = world.chat(chatId);
      const stored = world.message(chatId, messageId);
      const { ledger } = stored;
      if (ledger.from !== userId) throw new Error(`message ${messageId} is not by ${userId}`);
      const { at, entities, buttons } = ledger;
      ledger.versions.push({ at: ledger.editedAt ?? at, text: ledger.text, entities, buttons });
      Object.assign(ledger, withDetected({ text, entities: [] }));
      ledger.editedAt = world.clock.now();
      world.touch();
      return { messageId, updateId: hears(chat, stored) ? announce(chat, stored, {}, true) : null };
    },
    post(channelId, text) {
      const chat = world.chat(channelId);
      if (chat.type !== "channel") throw new Error(`chat ${channelId} is not a channel`);
      return write(chat, channelId, text, {});
    },
    remove(chatId, messageId) {
      const { ledger } = world.message(chatId, messageId);
      ledger.deleted = true;
      ledger.deletedAt = world.clock.now();
      world.touch();
    },
  };
  return people;
}
