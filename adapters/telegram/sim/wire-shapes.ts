/** How people, chats and messages look in the Bot API's JSON. */
import type { SimChat, SimUser } from "./types.ts";
import { createHash } from "node:crypto";
import type { StoredChat, StoredMessage, World } from "./world.ts";

type Wire = Record<string, unknown>;

export function wireUser(user: SimUser): Wire {
  return defined({
    id: user.id,
    is_bot: false,
    first_name: user.firstName,
    last_name: user.lastName,
    username: user.username,
    language_code: user.languageCode,
  });
}

export function wireBot(world: World): Wire {
  return { id: world.bot.id, is_bot: true, first_name: world.bot.firstName, username: world.bot.username };
}

export function wireChat(world: World, chat: SimChat): Wire {
  if (chat.type === "private") {
    const person = world.user(chat.id);
    return defined({
      id: chat.id,
      first_name: person.firstName,
      last_name: person.lastName,
      username: person.username,
      type: "private",
    });
  }
  return defined({
    id: chat.id,
    title: chat.title ?? `Chat ${chat.id}`,
    username: chat.username,
    is_forum: chat.forum ? true : undefined,
    type: chat.type,
  });
}

/** The message as the API returns it. A reply carries the message it answers, one level deep. */
export function wireMessage(world: World, chat: StoredChat, stored: StoredMessage, withReply = true): Wire {
  const { ledger } = stored;
  const answered = ledger.replyTo === undefined ? undefined : chat.messages.get(ledger.replyTo);
  const body = ledger.document
    ? {
        document: {
          file_name: ledger.document.fileName,
          mime_type: ledger.document.mimeType,
          file_id: ledger.document.fileId,
          file_unique_id: ledger.document.sha256.slice(0, 16),
          file_size: ledger.document.size,
        },
        caption: ledger.text || undefined,
        caption_entities: ledger.entities.length > 0 ? ledger.entities : undefined,
      }
    : { text: ledger.text, entities: ledger.entities.length > 0 ? ledger.entities : undefined };
  return defined({
    message_id: ledger.id,
    ...sender(world, chat, ledger.from),
    chat: wireChat(world, chat),
    date: Math.floor(ledger.at / 1000),
    edit_date: ledger.editedAt === undefined ? undefined : Math.floor(ledger.editedAt / 1000),
    message_thread_id: ledger.threadId,
    is_topic_message: ledger.threadId !== undefined && chat.forum ? true : undefined,
    reply_to_message:
      withReply && answered && !answered.ledger.deleted ? wireMessage(world, chat, answered, false) : undefined,
    ...body,
    link_preview_options: ledger.linkPreview ? undefined : { is_disabled: true },
    has_protected_content: ledger.protected ? true : undefined,
    reply_markup: stored.keyboard,
    ...stored.extra,
  });
}

function sender(world: World, chat: StoredChat, from: LedgerFrom): Wire {
  if (chat.type === "channel") return { sender_chat: wireChat(world, chat) };
  if (from === "bot") return { from: wireBot(world) };
  const person = world.users.get(from);
  return person ? { from: wireUser(person) } : {};
}

type LedgerFrom = "bot" | number;

/** Stable per chat, as `chat_instance` is. */
export function chatInstance(chatId: number | string): string {
  return String(createHash("sha256").update(String(chatId)).digest().readBigInt64BE(0));
}

/** The object without its undefined fields. */
export function defined(fields: Wire): Wire {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
