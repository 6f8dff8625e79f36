/** What a method gets to work with, and the questions that several methods ask about their arguments. */
import type { Arguments } from "../arguments.ts";
import { badRequest, forbidden, tooMany } from "../api-error.ts";
import { LIMITS } from "../limits.ts";
import type { Updates } from "../updates.ts";
import type { StoredChat, StoredMessage, World } from "../world.ts";

export interface Call {
  world: World;
  updates: Updates;
  args: Arguments;
  /** Aborted when the caller's connection ends. */
  caller: AbortSignal;
  /** getUpdates notes here what it hands out. */
  handedOut: number[];
}

export type Method = (call: Call) => unknown;

export function text(call: Call, name: string): string {
  return call.args.values[name] ?? "";
}

export function flag(call: Call, name: string): boolean {
  return ["true", "yes", "1"].includes(text(call, name).trim().toLowerCase());
}

/** An integer argument, forced into its range as the server does; the default when it is missing or not a number. */
export function integer(call: Call, name: string, fallback: number, min = -(2 ** 53), max = 2 ** 53): number {
  const value = Number.parseInt(text(call, name), 10);
  return Math.min(max, Math.max(min, Number.isNaN(value) ? fallback : value));
}

/** A JSON argument. @throws ApiError 400 with the given text */
export function json(call: Call, name: string, complaint: string): unknown {
  const raw = text(call, name);
  if (raw === "") return undefined;
  try {
    return JSON.parse(raw);
  } catch {
    throw badRequest(complaint);
  }
}

/** The chat of `chat_id`: a number, or @name for supergroups and channels. */
export function chatOf(call: Call, name = "chat_id"): StoredChat {
  return chatCalled(call, text(call, name).trim());
}

/** The same, for an id that stands elsewhere. */
export function chatCalled(call: Call, id: string): StoredChat {
  if (id === "") throw badRequest("chat_id is empty");
  const chat = id.startsWith("@")
    ? [...call.world.chats.values()].find(
        (known) => known.type !== "private" && known.username?.toLowerCase() === id.slice(1).toLowerCase(),
      )
    : call.world.chats.get(/^-?\d+$/u.test(id) ? Number(id) : Number.NaN);
  if (!chat) throw badRequest("chat not found");
  return chat;
}

/** Refuses a chat that the bot cannot write to. A migrated group refuses new messages, not edits. */
export function requireAccess(chat: StoredChat, purpose: "write" | "edit" | "read"): void {
  const kind = chat.type === "group" ? "group" : chat.type === "channel" ? "channel" : "supergroup";
  switch (chat.state) {
    case "kicked":
      throw forbidden(`bot was kicked from the ${kind} chat`);
    case "notMember":
      throw forbidden(`bot is not a member of the ${kind} chat`);
    case "migrated":
      if (purpose !== "write") return;
      throw badRequest("group chat was upgraded to a supergroup chat", { migrate_to_chat_id: chat.migratedTo });
    case "blocked":
      if (purpose !== "read") throw forbidden("bot was blocked by the user");
      return;
    case "deactivated":
      if (purpose !== "read") throw forbidden("user is deactivated");
      return;
    case "neverStarted":
      if (purpose !== "read") throw forbidden("bot can't initiate conversation with a user");
      return;
    case "noRights":
      if (purpose === "write") throw badRequest("not enough rights to send text messages to the chat");
      return;
    default:
  }
}

/** The message of `message_id`, not deleted. `what`: "message to edit", "message to delete", ... */
export function messageOf(call: Call, chat: StoredChat, what: string): StoredMessage {
  const id = integer(call, "message_id", 0);
  if (id === 0) throw badRequest("message identifier is not specified");
  const message = chat.messages.get(id);
  if (!message || message.ledger.deleted) throw badRequest(`${what} not found`);
  return message;
}

/** The published rates, when the stand-in was told to apply them; counts the message. */
export function countMessage(call: Call, chat: StoredChat): void {
  if (!call.world.floodControl) return;
  const now = call.world.clock.now();
  chat.sent = chat.sent.filter((at) => at > now - 60_000);
  const last = chat.sent.at(-1);
  if (last !== undefined && now - last < LIMITS.chatFloodMs) throw tooMany(1);
  const first = chat.sent[0];
  if (chat.type !== "private" && first !== undefined && chat.sent.length >= LIMITS.groupFloodPerMinute) {
    throw tooMany(Math.max(1, Math.ceil((first + 60_000 - now) / 1000)));
  }
  chat.sent.push(now);
}
