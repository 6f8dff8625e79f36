/** getMe, getChat and setMyCommands: who is who, and the menu that people see. */
import { badRequest } from "../api-error.ts";
import { LIMITS } from "../limits.ts";
import { wireBot, wireChat } from "../wire-shapes.ts";
import { type Call, chatCalled, chatOf, json, requireAccess, text } from "./call.ts";

export function getMe({ world }: Call): unknown {
  return {
    ...wireBot(world),
    can_join_groups: true,
    can_read_all_group_messages: !world.privacyMode,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
  };
}

export function getChat(call: Call): unknown {
  const chat = chatOf(call);
  requireAccess(chat, "read");
  return {
    ...wireChat(call.world, chat),
    accent_color_id: 0,
    max_reaction_count: 11,
    accepted_gift_types: {
      unlimited_gifts: false,
      limited_gifts: false,
      unique_gifts: false,
      premium_subscription: false,
    },
    ...(chat.type === "private" ? {} : { permissions: { can_send_messages: chat.state !== "noRights" } }),
  };
}

/** "typing …": nothing of it stays, but it needs the right to write. */
export function sendChatAction(call: Call): unknown {
  requireAccess(chatOf(call), "write");
  if (text(call, "action") === "") throw badRequest("wrong parameter action in request");
  return true;
}

const CHAT_SCOPES = new Set(["chat", "chat_administrators", "chat_member"]);
const SCOPES = new Set(["default", "all_private_chats", "all_group_chats", "all_chat_administrators", ...CHAT_SCOPES]);

/** The scope of a chat needs one that the bot knows and may see. */
function checkScope(call: Call, scope: unknown): void {
  if (typeof scope !== "object" || scope === null) throw badRequest("BotCommandScope must be an Object");
  const { type, chat_id: id } = scope as Record<string, unknown>;
  if (typeof type !== "string" || !SCOPES.has(type))
    throw badRequest("can't parse BotCommandScope: Unsupported type specified");
  if (!CHAT_SCOPES.has(type)) return;
  if (typeof id !== "string" && typeof id !== "number")
    throw badRequest(`can't parse BotCommandScope: Can't find field "chat_id"`);
  requireAccess(chatCalled(call, String(id).trim()), "read");
}

export function setMyCommands(call: Call): unknown {
  const list = json(call, "commands", "can't parse commands JSON object");
  if (list === undefined) throw badRequest('can\'t find field "commands"');
  if (!Array.isArray(list)) throw badRequest("expected an Array of BotCommand");
  if (list.length > LIMITS.commands) throw badRequest("BOT_COMMANDS_TOO_MUCH");
  const commands = list.map((item: unknown) => {
    if (typeof item !== "object" || item === null) throw badRequest("expected an Array of BotCommand");
    const { command, description } = item as Record<string, unknown>;
    const name = typeof command === "string" ? command.replace(/^\//u, "") : "";
    if (!/^[a-z0-9_]+$/u.test(name) || name.length > LIMITS.command) throw badRequest("BOT_COMMAND_INVALID");
    if (typeof description !== "string" || description === "" || description.length > LIMITS.commandDescription) {
      throw badRequest("BOT_COMMAND_DESCRIPTION_INVALID");
    }
    return { command: name, description };
  });
  const scope = json(call, "scope", "can't parse BotCommandScope") ?? { type: "default" };
  checkScope(call, scope);
  const languageCode = text(call, "language_code");
  const key = JSON.stringify([scope, languageCode]);
  const others = call.world.commands.filter((set) => JSON.stringify([set.scope, set.languageCode]) !== key);
  call.world.commands = commands.length === 0 ? others : [...others, { scope, languageCode, commands }];
  call.world.touch();
  return true;
}
