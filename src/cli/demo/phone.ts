/**
 * The phone on the terminal: a message of the bot as its person sees it, with buttons that can be pressed by number.
 */
import type { Context } from "../context.ts";
import { cleanLines, clean, displayWidth, padTo, wrapLine } from "../layout.ts";
import type { PhoneButton, PhoneMessage } from "./stand-in.ts";

/** A phone is narrow; cards should be seen as narrow. */
const PHONE_COLUMNS = 58;

/** The buttons of a message that do something, in reading order. */
export function liveButtons(message: PhoneMessage): PhoneButton[] {
  return message.buttons.flat().filter((button) => button.data !== undefined && button.disabled !== true);
}

/** A message as lines. `title` says whose it is and how it came. */
export function drawMessage(context: Context, message: PhoneMessage, title: string): string[] {
  const inner = Math.min(PHONE_COLUMNS, context.width) - 4;
  const body = bodyLines(context, message, inner);
  const buttons = buttonLines(message, inner).map((line) => ({ line, shown: context.paint("yellow", line) }));
  const lines = buttons.length > 0 ? [...body, { line: "", shown: "" }, ...buttons] : body;
  if (context.plain) return [`[${title}]`, ...lines.map(({ shown }) => `  ${shown}`.trimEnd())];
  const top = `\u250c ${title} `;
  return [
    `${padTo(top, inner + 3, "\u2500")}\u2510`,
    ...lines.map(({ line, shown }) => `\u2502 ${shown}${" ".repeat(Math.max(0, inner - displayWidth(line)))} \u2502`),
    `\u2514${"\u2500".repeat(inner + 2)}\u2518`,
  ];
}

interface Line {
  /** Without colour, for its width. */
  readonly line: string;
  readonly shown: string;
}

/** The text, wrapped; lines that the message sets in bold as a whole are bold here too. */
function bodyLines(context: Context, message: PhoneMessage, inner: number): Line[] {
  const lines: Line[] = [];
  let at = 0;
  for (const raw of message.text.split("\n")) {
    const bold = raw.trim() !== "" && coveredByBold(message, at, at + raw.trimEnd().length);
    at += raw.length + 1;
    const [text = ""] = cleanLines(raw);
    for (const line of wrapLine(text, inner, { words: true, indent: text.startsWith("\u2022 ") ? "  " : "" })) {
      lines.push({ line, shown: bold ? context.paint("bold", line) : line });
    }
  }
  return lines;
}

function coveredByBold(message: PhoneMessage, start: number, end: number): boolean {
  // A status line begins with a glyph that is not part of the bold words.
  return message.entities.some(
    ({ type, offset, length }) => type === "bold" && offset <= start + 3 && offset + length >= end,
  );
}

/** Rows of buttons: `[1] Approve   [2] Replan…`; those that do nothing have no number. */
function buttonLines(message: PhoneMessage, inner: number): string[] {
  let number = 0;
  return message.buttons.flatMap((row) => {
    const words = row.map((button) => {
      const live = button.data !== undefined && button.disabled !== true;
      if (live) number += 1;
      return `[${live ? number : " "}] ${clean(button.text)}`;
    });
    const line = words.join("   ");
    return displayWidth(line) <= inner ? [line] : words.flatMap((word) => wrapLine(word, inner, { words: true }));
  });
}
