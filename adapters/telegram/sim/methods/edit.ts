/** editMessageText, editMessageReplyMarkup, deleteMessage and setMessageReaction: a shown message changes or goes. */
import { isDeepStrictEqual } from "node:util";
import { badRequest } from "../api-error.ts";
import { LIMITS } from "../limits.ts";
import { type Markup, readMarkup } from "../markup.ts";
import { formatText } from "../text.ts";
import { wireMessage } from "../wire-shapes.ts";
import type { StoredChat, StoredMessage, World } from "../world.ts";
import { type Call, chatOf, json, messageOf, requireAccess, text } from "./call.ts";

const NOT_MODIFIED =
  "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";

export function editMessageText(call: Call): unknown {
  const raw = text(call, "text");
  if (raw === "") throw badRequest("message text is empty");
  const body = formatText(raw, text(call, "parse_mode"), call.args.values["entities"], "text");
  const [chat, message] = editable(call);
  if (message.ledger.document) throw badRequest("there is no text in the message to edit");
  return change(call.world, chat, message, readEditMarkup(call), body);
}

export function editMessageReplyMarkup(call: Call): unknown {
  const [chat, message] = editable(call);
  return change(call.world, chat, message, readEditMarkup(call), message.ledger);
}

function readEditMarkup(call: Call): Markup {
  const markup = readMarkup(call.args.values["reply_markup"]);
  if (markup.kind === "forceReply" || markup.kind === "other") throw badRequest("inline keyboard expected");
  return markup;
}

function editable(call: Call): [StoredChat, StoredMessage] {
  if (text(call, "chat_id") === "" && text(call, "inline_message_id") !== "") throw badRequest("MESSAGE_ID_INVALID");
  const chat = chatOf(call);
  requireAccess(chat, "edit");
  const message = messageOf(call, chat, "message to edit");
  const { ledger } = message;
  const foreign = ledger.from !== "bot" || ledger.forwardedFrom !== undefined;
  if (foreign || ledger.forceReply === "only" || ledger.otherMarkup) throw badRequest("message can't be edited");
  return [chat, message];
}

/** Without a keyboard in the request the old one goes. force_reply stays as it was sent. */
function change(
  world: World,
  chat: StoredChat,
  message: StoredMessage,
  markup: Markup,
  body: Pick<StoredMessage["ledger"], "text" | "entities">,
): unknown {
  const { ledger } = message;
  const keyboard = markup.keyboard && {
    inline_keyboard: markup.keyboard["inline_keyboard"],
    ...(ledger.forceReply ? { force_reply: true } : {}),
  };
  const same =
    body.text === ledger.text &&
    isDeepStrictEqual(body.entities, ledger.entities) &&
    isDeepStrictEqual(keyboard?.inline_keyboard, message.keyboard?.["inline_keyboard"]);
  if (same) throw badRequest(NOT_MODIFIED);
  const now = world.clock.now();
  ledger.versions.push({
    at: ledger.editedAt ?? ledger.at,
    text: ledger.text,
    entities: ledger.entities,
    buttons: ledger.buttons,
  });
  ledger.text = body.text;
  ledger.entities = body.entities;
  ledger.buttons = markup.buttons;
  ledger.editedAt = now;
  message.keyboard = keyboard;
  world.touch();
  return wireMessage(world, chat, message);
}

/** Own messages for 48 hours; those of others where the bot may: in private chats, and as an admin. */
export function deleteMessage(call: Call): unknown {
  const chat = chatOf(call);
  requireAccess(chat, "edit");
  const { ledger } = messageOf(call, chat, "message to delete");
  const now = call.world.clock.now();
  const mayDelete = ledger.from === "bot" || chat.type === "private" || chat.botIsAdmin === true;
  if (!mayDelete || now - ledger.at >= LIMITS.deleteMs) throw badRequest("message can't be deleted");
  ledger.deleted = true;
  ledger.deletedAt = now;
  call.world.touch();
  return true;
}

export function setMessageReaction(call: Call): unknown {
  const chat = chatOf(call);
  requireAccess(chat, "edit");
  const message = messageOf(call, chat, "message to react");
  const list = json(call, "reaction", "can't parse reaction types JSON object") ?? [];
  if (!Array.isArray(list)) throw badRequest("expected an Array of ReactionType");
  const reactions = list.map((item: unknown) => {
    const emoji = typeof item === "object" && item !== null && "emoji" in item ? item.emoji : undefined;
    if (typeof emoji !== "string" || emoji === "") throw badRequest("REACTION_INVALID");
    return emoji;
  });
  if (reactions.length > 1) throw badRequest("REACTIONS_TOO_MANY");
  message.ledger.reactions = reactions;
  call.world.touch();
  return true;
}
