/** Content → the arguments of sendMessage and editMessageText. Explicit entities only, never a parse mode. */
import { InputFile } from "grammy";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import { HoldpointError } from "../../src/contracts/errors.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";
import type { Language } from "../../src/contracts/language.ts";
import type { MessageContent, Perform } from "../../src/contracts/protocol/channel.ts";
import {
  renderAlert,
  renderCard,
  renderDocument,
  renderNotification,
  renderReply,
  wordsIn,
  type Clock,
  type Part,
  type PartEntity,
} from "../../renderers/telegram/index.ts";
import { TOKEN_PREFIX } from "./inbound.ts";

export type Arguments = Record<string, unknown>;

/** The messages that show the content of an attempt, at least one; a deletion has no content and counts as one, and so does a document. */
export function partCount(perform: Perform): number {
  return perform.content === null || perform.op === "document"
    ? 1
    : render(perform.content, perform.destination).length;
}

/**
 * Text, entities and markup of part `part` (1-based). Throws when there is no such part or a button has no usable
 * token. A closed card has no markup at all: an edit without it takes the buttons away.
 */
export function messageArguments(perform: Perform, part: number): Arguments {
  const { content } = perform;
  if (content === null) throw new HoldpointError("protocolRejected", `A ${perform.op} needs content.`);
  const parts = render(content, perform.destination);
  const shown = parts[part - 1];
  if (shown === undefined) {
    throw new HoldpointError("protocolRejected", `Part ${part} was asked for; the content has ${parts.length}.`);
  }
  const markup = markupOf(content, shown);
  const plain = perform.plain === true;
  return {
    text: plain && part === parts.length ? withNote(shown.text, languageOf(content)) : shown.text,
    entities: plain ? [] : shown.entities.map(entityOf),
    // Telegram would fetch addresses in the text.
    link_preview_options: { is_disabled: true },
    ...(markup === null ? {} : { reply_markup: markup }),
  };
}

/** The file and the caption of a document. */
export function documentArguments({ content }: Perform): Arguments {
  if (content?.kind !== "card") throw new HoldpointError("protocolRejected", "A document needs a card.");
  const { caption, name, text } = renderDocument(content.card);
  return { document: new InputFile(Buffer.from(text), name), caption };
}

/** Says that the marks are missing, where there is room for it. */
function withNote(text: string, language: Language | undefined): string {
  const noted = `${text}\n${wordsIn(language).plainNote}`;
  return noted.length <= TELEGRAM.messageUnits ? noted : text;
}

function languageOf(content: MessageContent): Language | undefined {
  if (content.kind === "session") return undefined;
  return content.kind === "card" ? content.card.language : content.language;
}

function render(content: MessageContent, destination: string): Part[] {
  switch (content.kind) {
    case "card":
      // Ids of chats with several people are negative.
      return renderCard(content.card, content.state, { group: destination.split("/")[1]?.startsWith("-") === true });
    case "notification": {
      const { language, notification, timeZone } = content;
      // Seen from when it was made, so that every attempt has the same parts.
      return renderNotification(notification, { timeZone, language, reference: notification.at });
    }
    case "alert":
      // Every attempt shows what is: its one message is never in parts that would have to agree.
      return [renderAlert(content.alert, alertClock(content))];
    case "reply":
      return [renderReply(content.reply, replyClock(content), content)];
    case "session":
      throw new HoldpointError("protocolRejected", "A message for a session of Pi cannot be sent to a chat.");
  }
}

function alertClock({ alert, language, timeZone }: Extract<MessageContent, { kind: "alert" }>): Clock {
  return { timeZone, language, reference: alert.at };
}

function replyClock({ language, timeZone }: Extract<MessageContent, { kind: "reply" }>): Clock {
  return { timeZone, language, reference: Date.now() };
}

function entityOf(entity: PartEntity): Arguments {
  const { type, offset, length } = entity;
  if (type !== "date_time") return { type, offset, length };
  return { type, offset, length, unix_time: entity.unixTime, date_time_format: entity.format };
}

function markupOf(content: MessageContent, part: Part): Arguments | null {
  if (content.kind === "reply" && content.prompt !== null) {
    // Not `selective`: the prompt answers our own card, and would then open a reply for nobody.
    const placeholder = cutToUnits(content.prompt.placeholder, TELEGRAM.placeholderChars);
    return { force_reply: true, ...(placeholder === "" ? {} : { input_field_placeholder: placeholder }) };
  }
  if (content.kind === "notification" || content.kind === "session") return null;
  return keyboardOf(part, content.tokens);
}

function keyboardOf(part: Part, tokens: Readonly<Record<string, string>> | undefined): Arguments | null {
  if (tokens === undefined || part.buttons.length === 0) return null;
  const rows = part.buttons.map((row) =>
    row
      .filter(({ choice, disabled }) => choice !== null && disabled !== true)
      .map(({ label, choice, style }) => ({
        text: label,
        callback_data: callbackData(tokens, choice),
        ...(style === undefined ? {} : { style }),
      })),
  );
  const live = rows.filter((row) => row.length > 0);
  return live.length === 0 ? null : { inline_keyboard: live };
}

function callbackData(tokens: Readonly<Record<string, string>>, choice: string | null): string {
  const token = choice !== null && Object.hasOwn(tokens, choice) ? tokens[choice] : undefined;
  if (token === undefined) throw new HoldpointError("protocolRejected", `Choice "${choice}" has no token.`);
  const data = `${TOKEN_PREFIX}${token}`;
  const bytes = Buffer.byteLength(data);
  if (bytes > TELEGRAM.callbackDataBytes) {
    throw new HoldpointError(
      "protocolRejected",
      `The token of choice "${choice}" makes ${bytes} bytes of button data; the limit is ${TELEGRAM.callbackDataBytes}.`,
    );
  }
  return data;
}
