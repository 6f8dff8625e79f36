// Messages and entries of ours in a Pi session, as lines of a width, collapsed or expanded. Pure. No colour: marks for what
// is a heading are returned beside the lines, so that the extension can paint them with Pi's theme.

import type { CardState } from "../../src/contracts/decision/card.ts";
import { PI_CARD } from "../../src/contracts/limits.ts";
import type { SessionMessage } from "../../src/contracts/pi/session-message.ts";
import { cleanLines } from "../terminal/layout.ts";
import { duration } from "../terminal/times.ts";
import { renderTerminalCard } from "../terminal/card.ts";
import { cutToColumns, cutToScreen, wrapLine } from "../terminal/width.ts";
import { answerCommand, notificationGlyph, notificationRepeat, pi as words, plain } from "../text/en.ts";

type Of<K extends SessionMessage["kind"]> = Extract<SessionMessage, { kind: K }>;

export interface MessageOptions {
  readonly columns: number;
  readonly expanded: boolean;
  /** How the decision of a card stands now, where that is known better than the message says. */
  readonly state?: CardState | undefined;
  /** When this is drawn, ms. */
  readonly now: number;
  /** The zone of times that name none. */
  readonly timeZone: string;
}

/** One line and what it is. */
export interface MessageLine {
  readonly text: string;
  readonly role: "title" | "text" | "dim";
}

/** The message as lines of at most `columns`; Pi ends when a line is wider than its terminal. */
export function messageLines(message: SessionMessage, options: MessageOptions): MessageLine[] {
  return layOut(message, options).map(({ role, text }) => ({ role, text: cutToScreen(text, options.columns) }));
}

function layOut(message: SessionMessage, options: MessageOptions): MessageLine[] {
  switch (message.kind) {
    case "decision":
    case "settlement":
      return cardLines(message, options);
    case "notification":
      return notificationLines(message, options);
    case "notice":
      return paragraphs(message.text, "text", options);
    case "step":
      return stepLines(message, options);
    case "terminal":
      return terminalLines(message, options);
    case "followUp":
      return followUpLines(message, options);
  }
}

/** A card waits with all that it says; a settled one, and a settlement, fold to their beginning and end. */
function cardLines(message: Of<"decision"> | Of<"settlement">, options: MessageOptions): MessageLine[] {
  const state = options.state ?? message.state;
  const { columns, expanded, now } = options;
  const lines = renderTerminalCard(message.card, state, { columns, now, answer: { command: answerCommand } });
  const folds = message.kind === "settlement" || state.status.kind !== "pending";
  const shown = !expanded && folds && lines.length > PI_CARD.foldedLines ? fold(lines, columns) : lines;
  return shown.map((text, index) => ({ text, role: index === 0 ? "title" : "text" }));
}

/** The title and the last lines, where verdict and origin stand. */
function fold(lines: readonly string[], columns: number): string[] {
  const tail = lines.slice(1 - PI_CARD.foldedLines);
  const left = lines.length - 1 - tail.length;
  const more = `\u2502 ${words.moreLines(left)}`;
  const boxed = lines[0]?.startsWith("\u250c") === true;
  const middle = boxed ? `${cutToColumns(more, columns - 2).padEnd(columns - 2)} \u2502` : words.moreLines(left);
  return [lines[0] ?? "", middle, ...tail];
}

function notificationLines({ notification, timeZone }: Of<"notification">, options: MessageOptions): MessageLine[] {
  const { level, message, possibleRepeatOf, runShortId, title, workflowName } = notification;
  const heading = `${notificationGlyph(level)} ${title ?? words.runName(workflowName, runShortId)}`;
  const lines = [...paragraphs(heading, "title", options), ...paragraphs(message, "text", options)];
  if (possibleRepeatOf !== undefined) {
    const repeat = plain(notificationRepeat(possibleRepeatOf), { timeZone, reference: notification.at });
    lines.push(...paragraphs(repeat, "dim", options));
  }
  if (title !== null) lines.push(...paragraphs(words.runName(workflowName, runShortId), "dim", options));
  return lines;
}

function stepLines(message: Of<"step">, options: MessageOptions): MessageLine[] {
  const title = line(`\u25b8 ${words.stepTitle(message)}`, "title", options);
  const detail = message.statusDetail ?? words.stepWaits;
  if (!options.expanded) return [title, line(`  ${detail}`, "dim", options)];
  const { contract } = message;
  const expected = contract.kind === "submit" ? contract.expectedOutput : `\u2264 ${contract.maxChars}`;
  return [
    title,
    ...section(words.idsWord, `${message.requestId} \u00b7 ${message.runId}`, options),
    ...section(words.expectedWord, expected, options),
    ...section(words.promptWord, message.text, options),
  ];
}

function terminalLines(message: Of<"terminal">, options: MessageOptions): MessageLine[] {
  const took = duration(message.finishedAt - message.startedAt);
  const lines = paragraphs(
    `${words.terminalGlyph(message.status)} ${words.terminalTitle(message, took)}`,
    "title",
    options,
  );
  if (message.title !== null) lines.push(...paragraphs(message.title, "text", options));
  const { error, result } = message;
  if (error !== null) {
    const text = `${error.message} (${error.code})`;
    lines.push(...(options.expanded ? paragraphs(text, "text", options) : beginning(text, "text", options)));
    if (options.expanded) lines.push(...paragraphs(error.remedy, "dim", options));
  }
  if (result !== null) {
    const short = `${words.resultWord}: ${result}`;
    lines.push(...(options.expanded ? section(words.resultWord, result, options) : beginning(short, "text", options)));
  }
  if (options.expanded) {
    const clock = { timeZone: options.timeZone, reference: message.startedAt };
    lines.push(
      ...paragraphs(plain(words.startedAndEnded(message.startedAt, message.finishedAt), clock), "dim", options),
    );
    lines.push(...section(words.idsWord, message.runId, options));
  }
  return lines;
}

function followUpLines(message: Of<"followUp">, options: MessageOptions): MessageLine[] {
  const title = line(`\u25b8 ${words.followUpTitle(message)}`, "title", options);
  if (!options.expanded) return [title, line(`  ${message.prompt}`, "text", options)];
  return [
    title,
    ...paragraphs(message.prompt, "text", options),
    ...section(words.idsWord, message.followUpId, options),
  ];
}

function section(word: string, text: string, options: MessageOptions): MessageLine[] {
  return [line(`${word}:`, "dim", options), ...paragraphs(text, "text", options, "  ")];
}

/** The first lines of a text, the rest cut off. */
function beginning(text: string, role: MessageLine["role"], options: MessageOptions): MessageLine[] {
  const lines = paragraphs(text, role, options);
  const last = lines[PI_CARD.beginningLines - 1];
  if (last === undefined || lines.length === PI_CARD.beginningLines) return lines;
  const cut = cutToColumns(`${last.text} \u2026`, options.columns);
  return [...lines.slice(0, PI_CARD.beginningLines - 1), { text: cut, role }];
}

/** One line of a text, the rest cut off. */
function line(text: string, role: MessageLine["role"], { columns }: MessageOptions): MessageLine {
  return { text: cutToColumns(cleanLines(text).join(" ").trimEnd(), columns), role };
}

function paragraphs(text: string, role: MessageLine["role"], { columns }: MessageOptions, indent = ""): MessageLine[] {
  return cleanLines(text)
    .flatMap((one) => wrapLine(indent + one, columns, { words: true, indent }))
    .map((one) => ({ text: one, role }));
}
