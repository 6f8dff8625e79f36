/**
 * reply_markup: what the server accepts, what a person sees of it, and what goes back out. Written from
 * tdlib/telegram-bot-api (get_reply_markup, get_inline_keyboard_button) and tdlib/td (ReplyMarkup.cpp).
 */
import type { LedgerButton } from "./types.ts";
import { badRequest } from "./api-error.ts";
import { LIMITS } from "./limits.ts";
import { LONE_SURROGATE } from "./text.ts";

export interface Markup {
  kind: "none" | "inline" | "forceReply" | "other";
  buttons: LedgerButton[][];
  /** The keyboard for the wire; only inline keyboards go back out. */
  keyboard?: Record<string, unknown>;
  forceReply: boolean;
  placeholder?: string;
}

type Fields = Record<string, unknown>;

const NONE: Markup = { kind: "none", buttons: [], forceReply: false };
const STYLES = new Set(["danger", "success", "primary"]);
const ACTIONS = [
  "url",
  "callback_data",
  "copy_text",
  "disabled",
  "web_app",
  "login_url",
  "switch_inline_query",
  "switch_inline_query_current_chat",
  "switch_inline_query_chosen_chat",
  "callback_game",
  "pay",
];

/** @throws ApiError 400 with the server's text */
export function readMarkup(json: string | undefined): Markup {
  if (json === undefined || json === "") return NONE;
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw badRequest("can't parse reply keyboard markup JSON object");
  }
  if (parsed === null) return NONE;
  if (typeof parsed !== "object" || Array.isArray(parsed)) throw badRequest("object expected as reply markup");
  const fields = parsed as Fields;
  if (fields["inline_keyboard"] !== undefined) return inline(fields);
  if (fields["keyboard"] !== undefined || fields["remove_keyboard"] === true) return { ...NONE, kind: "other" };
  if (fields["force_reply"] === true) {
    const placeholder = fields["input_field_placeholder"];
    if (placeholder === undefined) return { ...NONE, kind: "forceReply", forceReply: true };
    if (typeof placeholder !== "string" || placeholder.length > LIMITS.placeholder) {
      throw badRequest("input field placeholder is too long");
    }
    return { ...NONE, kind: "forceReply", forceReply: true, placeholder };
  }
  return NONE;
}

function inline(fields: Fields): Markup {
  const rows = fields["inline_keyboard"];
  if (!Array.isArray(rows)) throw badRequest(`field "inline_keyboard" of the InlineKeyboardMarkup must be an Array`);
  const kept: Fields[][] = [];
  for (const row of rows as unknown[]) {
    if (!Array.isArray(row)) {
      throw badRequest(`field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays`);
    }
    if (row.length > 0) kept.push((row as unknown[]).map(checkButton));
  }
  if (kept.flat().length > LIMITS.buttons) throw badRequest("reply markup is too long");
  if (kept.length === 0) return NONE;
  const forceReply = fields["force_reply"] === true;
  return {
    kind: "inline",
    buttons: kept.map((row) => row.map(toLedger)),
    keyboard: { inline_keyboard: kept, ...(forceReply ? { force_reply: true } : {}) },
    forceReply,
  };
}

function checkButton(value: unknown): Fields {
  const fail = (message: string) => badRequest(`can't parse inline keyboard button: ${message}`);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw fail("InlineKeyboardButton must be an Object");
  }
  const fields = value as Fields;
  const { text, style } = fields;
  if (text === undefined) throw fail(`Can't find field "text"`);
  if (typeof text !== "string") throw fail(`Field "text" must be of type String`);
  if (text.trim() === "") throw badRequest("inline keyboard button text must be non-empty");
  if (LONE_SURROGATE.test(text)) throw badRequest("strings must be encoded in UTF-8");
  if (style !== undefined && !STYLES.has(String(style))) throw fail("Invalid button style specified");
  const action = ACTIONS.find((name) => fields[name] !== undefined && fields[name] !== "");
  if (!action) throw fail("Text buttons are unallowed in the inline keyboard");
  const button: Fields = { text };
  if (style !== undefined) button["style"] = style;
  button[action] = checkAction(action, fields[action], fail);
  return button;
}

function checkAction(action: string, value: unknown, fail: (message: string) => Error): unknown {
  switch (action) {
    case "callback_data":
      if (typeof value !== "string") throw fail(`Field "callback_data" must be of type String`);
      if (Buffer.byteLength(value) > LIMITS.callbackDataBytes) throw badRequest("BUTTON_DATA_INVALID");
      return value;
    case "url":
      if (typeof value !== "string" || !/^(https?:\/\/[^\s/]+\.|https?:\/\/localhost|tg:\/\/)/iu.test(value)) {
        throw badRequest(`inline keyboard button URL '${String(value)}' is invalid: Wrong HTTP URL`);
      }
      return value;
    case "copy_text": {
      const copied = typeof value === "object" && value !== null ? (value as Fields)["text"] : undefined;
      if (typeof copied !== "string") throw fail(`Field "copy_text" must be an Object with the field "text"`);
      if (copied.length === 0 || copied.length > LIMITS.copyText) throw badRequest("BUTTON_COPY_TEXT_INVALID");
      return { text: copied };
    }
    case "disabled":
      if (typeof value !== "object" || value === null) throw fail(`Field "disabled" must be of type Object`);
      return {};
    default:
      return value;
  }
}

function toLedger(button: Fields): LedgerButton {
  const seen: LedgerButton = { text: String(button["text"]) };
  const style = button["style"];
  if (style === "danger" || style === "success" || style === "primary") seen.style = style;
  if (button["disabled"] !== undefined) seen.disabled = true;
  else if (typeof button["callback_data"] === "string") seen.data = button["callback_data"];
  else if (typeof button["url"] === "string") seen.url = button["url"];
  else if (button["copy_text"] !== undefined) seen.copyText = String((button["copy_text"] as Fields)["text"]);
  else seen.other = ACTIONS.find((name) => button[name] !== undefined) ?? "";
  return seen;
}
