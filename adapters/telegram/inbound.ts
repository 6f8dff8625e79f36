/**
 * One Telegram update → one inbound frame. Nothing is judged here: properties that make a message unfit as an answer
 * are listed as traits, text is kept exactly, and what is not understood is still handed over, as `other` or
 * `unreadable`, so that the cursor can move past it. Unknown fields are ignored: new ones appear all the time.
 */
import { canonicalJson, digestHex, isWellFormed } from "../../src/contracts/canonical.ts";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import type { Inbound, Trait } from "../../src/contracts/protocol/channel.ts";
import { isObject } from "./call.ts";

/** Our callback data is this prefix and an unguessable token. */
export const TOKEN_PREFIX = "h:";

/** The account that stands for admins who write anonymously; their taps carry the real id, their texts this one. */
const GROUP_ANONYMOUS_BOT = 1_087_968_824;

type Json = Record<string, unknown>;
type Base = Pick<Inbound, "type" | "updateId" | "digest" | "sentAt">;

/** What the translation has to know of the bot. */
export interface Self {
  /** The bot's numeric id, as text. */
  readonly id: string;
  /** Without "@"; null if it has none. */
  readonly username: string | null;
  /** Known commands without the slash: the name under which Telegram has them → our name. */
  readonly commands: ReadonlyMap<string, string>;
}

/** The id of an update, or null when it has none and cannot be handled at all. */
export function updateIdOf(update: unknown): number | null {
  const id = isObject(update) ? update["update_id"] : undefined;
  return typeof id === "number" && Number.isSafeInteger(id) && id >= 0 ? id : null;
}

/** Translates an update whose id is `updateId`. Never throws. */
export function inboundOf(update: unknown, updateId: number, self: Self): Inbound {
  const base: Base = { type: "inbound", updateId, digest: digestOf(update), sentAt: null };
  try {
    const frame = translate(isObject(update) ? update : {}, base, self);
    // A lone surrogate has no UTF-8 and no canonical JSON: such a text could not be stored as it is.
    const sound = Object.values(frame).every((value) => typeof value !== "string" || isWellFormed(value));
    return sound ? frame : { ...base, kind: "unreadable", what: "text with a broken character" };
  } catch (error) {
    return { ...base, kind: "unreadable", what: error instanceof Error ? error.message.slice(0, 200) : "unknown" };
  }
}

function translate(update: Json, base: Base, self: Self): Inbound {
  const { callback_query: tap } = update;
  if (isObject(tap)) return tapOf(tap, base);
  for (const kind of ["message", "edited_message", "channel_post", "edited_channel_post"] as const) {
    const message = update[kind];
    if (!isObject(message)) continue;
    const traits = messageTraits(message);
    if (kind.startsWith("edited")) traits.add("edited");
    if (kind.endsWith("channel_post")) traits.add("channelPost");
    return messageOf(message, traits, base, self);
  }
  const kind = Object.keys(update).find((key) => key !== "update_id");
  return { ...base, kind: "other", what: (kind ?? "empty update").slice(0, 64) };
}

function tapOf(tap: Json, base: Base): Inbound {
  const data = tap["data"];
  if (typeof data !== "string") return { ...base, kind: "other", what: "button without data" };
  const message = isObject(tap["message"]) ? tap["message"] : null;
  const traits = message === null ? new Set<Trait>() : messageTraits(message);
  // The card is our own message, in a channel its post; the person who taps is known by id in any case.
  for (const ofAuthor of ["bot", "anonymous", "channelPost"] as const) traits.delete(ofAuthor);
  if (typeof tap["inline_message_id"] === "string" || message === null) traits.add("inline");
  if (message?.["date"] === 0) traits.add("inaccessible");
  const from = object(tap["from"], "a tap without sender");
  if (from["is_bot"] === true) traits.add("bot");
  return {
    ...base,
    kind: "answer",
    // Foreign data goes on as it is: the server knows no such token and says so.
    token: (data.startsWith(TOKEN_PREFIX) ? data.slice(TOKEN_PREFIX.length) : data).slice(0, 200),
    eventId: text(tap["id"], "a tap without id"),
    place: message === null ? null : placeOf(message),
    topic: message === null ? null : topicOf(message),
    reference: message === null ? null : referenceOf(message),
    sender: { id: idOf(from), name: nameOf(from) },
    traits: [...traits],
  };
}

function messageOf(message: Json, traits: Set<Trait>, base: Base, self: Self): Inbound {
  const at = message["edit_date"] ?? message["date"];
  const sentAt = typeof at === "number" && at > 0 ? at * 1_000 : null;
  const body = message["text"];
  const answered = isObject(message["reply_to_message"]) ? message["reply_to_message"] : null;
  // In a topic every message "replies" to the one that opened it.
  const replied = answered !== null && !("forum_topic_created" in answered) ? answered : null;
  const toUs = replied !== null && isObject(replied["from"]) && String(replied["from"]["id"]) === self.id;
  const chat = object(message["chat"], "a message without chat");
  const common = {
    ...base,
    sentAt,
    place: placeOf(message),
    topic: topicOf(message),
    reference: referenceOf(message),
    sender: senderOf(message),
  };
  const movedTo = message["migrate_to_chat_id"];
  if (typeof movedTo === "number" && Number.isSafeInteger(movedTo) && !traits.has("business") && !traits.has("guest"))
    return { ...base, sentAt, kind: "moved", place: placeOf(message), movedTo: String(movedTo) };
  if (typeof body !== "string") {
    // Something without text is of interest only as a reply to us: its sender is waiting for an effect.
    if (!toUs) return { ...base, sentAt, kind: "other", what: contentOf(message) };
    traits.add("noText");
  } else {
    const command = commandOf(body, self, toUs);
    if (command === "foreign") return { ...base, sentAt, kind: "other", what: "command for another bot" };
    if (command) return { ...common, kind: "command", ...command, traits: [...traits] };
  }
  return {
    ...common,
    kind: "message",
    text: typeof body === "string" ? body : "",
    replyTo: replied === null ? null : referenceOf(replied),
    traits: [...traits],
    direct: chat["type"] === "private",
  };
}

/**
 * A command at the very start of a text, by its form and not by Telegram's mark, which ends at a hyphen. In a reply to
 * one of our messages only known commands count: a typed answer may well begin with a slash.
 */
function commandOf(body: string, self: Self, toUs: boolean): { command: string; args: string } | "foreign" | null {
  const match = /^\/([A-Za-z0-9_-]{1,64})(?:@([A-Za-z0-9_]{1,64}))?(?=\s|$)/.exec(body);
  if (match === null) return null;
  const [whole, name = "", bot] = match;
  const known = self.commands.get(registeredName(name));
  if (toUs && known === undefined) return null;
  if (bot !== undefined && bot.toLowerCase() !== self.username?.toLowerCase()) return "foreign";
  return { command: known ?? name.toLowerCase(), args: body.slice(whole.length).trim() };
}

/** A command as Telegram can register it: lower case, no hyphens. */
export function registeredName(command: string): string {
  return command.toLowerCase().replaceAll("-", "_");
}

function messageTraits(message: Json): Set<Trait> {
  const traits = new Set<Trait>();
  const from = isObject(message["from"]) ? message["from"] : null;
  const chat = isObject(message["chat"]) ? message["chat"] : null;
  if (from?.["id"] === GROUP_ANONYMOUS_BOT || isObject(message["sender_chat"])) traits.add("anonymous");
  else if (from?.["is_bot"] === true) traits.add("bot");
  if (chat?.["type"] === "channel") traits.add("channelPost");
  if (isObject(message["forward_origin"]) || "forward_date" in message || message["is_automatic_forward"] === true) {
    traits.add("forwarded");
  }
  // The chat id of these may be equal to that of another chat.
  if (typeof message["business_connection_id"] === "string") traits.add("business");
  if (typeof message["guest_query_id"] === "string") traits.add("guest");
  // Written by another bot and only sent by this person.
  if (isObject(message["via_bot"])) traits.add("inline");
  return traits;
}

function senderOf(message: Json): { id: string; name: string | null } {
  const from = message["from"];
  if (isObject(from)) return { id: idOf(from), name: nameOf(from) };
  // Posts of a channel have no person behind them.
  const chat = isObject(message["sender_chat"]) ? message["sender_chat"] : object(message["chat"], "no chat");
  return { id: idOf(chat), name: nameOf(chat) };
}

/** The name a person goes by; shown, never used to recognise anybody. */
function nameOf(who: Json): string | null {
  const parts = [who["first_name"], who["last_name"]].filter((part) => typeof part === "string" && part !== "");
  const name = parts.length > 0 ? parts.join(" ") : who["title"];
  if (typeof name !== "string") return null;
  // Broken characters are replaced, because a name must never make a tap unreadable.
  return cutToUnits(name.replaceAll(/\p{Surrogate}/gu, "\uFFFD"), 200);
}

function placeOf(message: Json): string {
  return idOf(object(message["chat"], "a message without chat"));
}

/** A forum topic; General has none, although replies in it may carry a thread id. */
function topicOf(message: Json): string | null {
  const thread = message["message_thread_id"];
  return message["is_topic_message"] === true && typeof thread === "number" ? String(thread) : null;
}

function referenceOf(message: Json): string {
  const id = message["message_id"];
  if (typeof id !== "number" || !Number.isSafeInteger(id)) throw new Error("a message without id");
  return `${placeOf(message)}:${id}`;
}

function contentOf(message: Json): string {
  const envelope =
    /^(message_|date$|edit_date$|chat$|from$|sender_|forward_|reply_|is_|via_|author_|has_|business_|guest_|entities$|effect_id$|quote$)/;
  return (Object.keys(message).find((key) => !envelope.test(key)) ?? "message without text").slice(0, 64);
}

function idOf(who: Json): string {
  const id = who["id"];
  if (typeof id !== "number" || !Number.isSafeInteger(id)) throw new Error("an id that is no integer");
  return String(id);
}

function object(value: unknown, missing: string): Json {
  if (!isObject(value)) throw new Error(missing);
  return value;
}

function text(value: unknown, missing: string): string {
  if (typeof value !== "string" || value === "") throw new Error(missing);
  return value;
}

/** Digest of the update's canonical form; of its plain JSON when it has none (a lone surrogate). */
function digestOf(update: unknown): string {
  try {
    return digestHex(canonicalJson(update));
  } catch {
    return digestHex(JSON.stringify(update) ?? "");
  }
}
