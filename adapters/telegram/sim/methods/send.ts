/** sendMessage and sendDocument: a new message of the bot appears in a chat. */
import { createHash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import type { LedgerDocument } from "../types.ts";
import { badRequest } from "../api-error.ts";
import { LIMITS } from "../limits.ts";
import { readMarkup } from "../markup.ts";
import { type Formatted, formatText } from "../text.ts";
import { wireMessage } from "../wire-shapes.ts";
import type { StoredChat, StoredMessage } from "../world.ts";
import { type Call, chatOf, countMessage, flag, integer, json, requireAccess, text } from "./call.ts";

export function sendMessage(call: Call): unknown {
  const raw = text(call, "text");
  if (raw === "") throw badRequest("message text is empty");
  const body = formatText(raw, text(call, "parse_mode"), call.args.values["entities"], "text");
  return place(call, body);
}

export function sendDocument(call: Call): unknown {
  const caption = formatText(
    text(call, "caption"),
    text(call, "parse_mode"),
    call.args.values["caption_entities"],
    "caption",
  );
  return place(call, caption, readDocument(call));
}

/** The file: a part named `document`, or `attach://<part>`, or the id of a file that was sent before. */
function readDocument(call: Call): LedgerDocument {
  const value = text(call, "document");
  const field = value.startsWith("attach://") ? value.slice("attach://".length) : "document";
  const file = call.args.files.find((part) => part.field === field);
  if (!file) {
    if (value === "" || value.startsWith("attach://")) throw badRequest("there is no document in the request");
    const known = [...call.world.chats.values()]
      .flatMap((chat) => [...chat.messages.values()])
      .find((message) => message.ledger.document?.fileId === value)?.ledger.document;
    if (!known) throw badRequest("wrong file identifier/HTTP URL specified");
    return known;
  }
  if (file.content.length === 0) throw badRequest("file must be non-empty");
  if (file.content.length > LIMITS.uploadBytes) throw badRequest("file is too big");
  const sha256 = createHash("sha256").update(file.content).digest("hex");
  const readable = isUtf8(file.content) && file.content.length <= 256 * 1024;
  return {
    fileId: `BQAC${sha256.slice(0, 40)}`,
    fileName: file.fileName,
    mimeType: file.mimeType,
    size: file.content.length,
    sha256,
    ...(readable ? { text: file.content.toString("utf8") } : {}),
  };
}

function place(call: Call, body: Formatted, document?: LedgerDocument): unknown {
  const { world } = call;
  const chat = chatOf(call);
  const markup = readMarkup(call.args.values["reply_markup"]);
  requireAccess(chat, "write");
  const replyTo = findReplied(call, chat);
  const threadId = findThread(call, chat, replyTo);
  countMessage(call, chat);
  const id = world.nextMessageId(chat);
  const stored: StoredMessage = {
    ledger: {
      chatId: chat.id,
      id,
      from: "bot",
      at: world.clock.now(),
      text: body.text,
      entities: body.entities,
      buttons: markup.buttons,
      silent: flag(call, "disable_notification"),
      linkPreview: !previewDisabled(call),
      protected: flag(call, "protect_content"),
      reactions: [],
      deleted: false,
      versions: [],
    },
    keyboard: markup.keyboard,
    extra: {},
  };
  const { ledger } = stored;
  if (threadId !== undefined) ledger.threadId = threadId;
  if (replyTo !== undefined) ledger.replyTo = replyTo;
  if (document) ledger.document = document;
  if (markup.forceReply && chat.type !== "channel") ledger.forceReply = markup.kind === "inline" ? "keyboard" : "only";
  if (markup.placeholder !== undefined) ledger.placeholder = markup.placeholder;
  if (markup.kind === "other") ledger.otherMarkup = true;
  chat.messages.set(id, stored);
  world.touch();
  return wireMessage(world, chat, stored);
}

function previewDisabled(call: Call): boolean {
  const options = json(call, "link_preview_options", "can't parse link preview options JSON object");
  const disabled = typeof options === "object" && options !== null && "is_disabled" in options && options.is_disabled;
  return disabled === true || flag(call, "disable_web_page_preview");
}

/** The id of the message that is answered; undefined when there is none, or when it is gone and that is allowed. */
function findReplied(call: Call, chat: StoredChat): number | undefined {
  const given = json(call, "reply_parameters", "can't parse reply parameters JSON object") as
    | Record<string, unknown>
    | undefined;
  const id = given ? Number(given["message_id"]) : integer(call, "reply_to_message_id", 0);
  const otherChat = given?.["chat_id"];
  if (given && !(id > 0)) throw badRequest("message identifier is not specified");
  if (id === 0) return undefined;
  if (otherChat !== undefined && String(otherChat) !== String(chat.id)) return undefined;
  const message = chat.messages.get(id);
  if (!message || message.ledger.deleted) {
    if (given?.["allow_sending_without_reply"] === true || flag(call, "allow_sending_without_reply")) return undefined;
    throw badRequest("message to be replied not found");
  }
  const quote = given?.["quote"];
  if (typeof quote === "string" && (quote.length > LIMITS.quote || !message.ledger.text.includes(quote))) {
    throw badRequest("QUOTE_TEXT_INVALID");
  }
  return id;
}

/** General is addressed by leaving the thread out; 1 is not its name. A reply goes to the topic of what it answers. */
function findThread(call: Call, chat: StoredChat, replyTo: number | undefined): number | undefined {
  const id = integer(call, "message_thread_id", 0);
  if (id === 0) return replyTo === undefined ? undefined : chat.messages.get(replyTo)?.ledger.threadId;
  const topic = chat.forum ? chat.topics.find((known) => known.id === id && !known.deleted) : undefined;
  if (!topic || id === 1) throw badRequest("message thread not found");
  return id;
}
