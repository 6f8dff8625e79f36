// A decision's card for a terminal: in a box, or plain for readers of another kind (screen readers, files, pipes).
// No colour and no escape sequence: everything from outside was made inert, so nothing can move the cursor.

import { layoutBody } from "../../src/contracts/decision/body.ts";
import type { CardModel, CardState } from "../../src/contracts/decision/card.ts";
import { inert } from "../../src/contracts/decision/inert.ts";
import { cardClock, closingLines, footerLines } from "../card.ts";
import { wordsIn } from "../text/index.ts";
import type { Clock } from "../text/phrase.ts";
import { cutToColumns, displayWidth, padTo, wrapLine } from "./width.ts";

export interface TerminalOptions {
  /** Width of the terminal; at least 4 are used, and below 40 there is no box. */
  readonly columns: number;
  /** No box. */
  readonly plain?: boolean;
  /** When this is shown, ms; absent = seen from the card's creation. */
  readonly now?: number;
  /** Name the zone after times, because the reader may be in another. */
  readonly nameZone?: boolean;
  /**
   * How the choices are offered while the card waits: as a command line that begins with this text and the
   * fingerprint, or as numbered labels. Absent = not at all.
   */
  readonly answer?: { readonly command: string } | "numbers";
}

/** A narrower terminal gets no box: its frame could not hold title and status. */
const BOX_COLUMNS = 40;

/** The whole card as lines without trailing white space or line ends, each at most `columns` wide. */
export function renderTerminalCard(card: CardModel, state: CardState, options: TerminalOptions): string[] {
  const columns = Math.max(4, options.columns);
  const plain = options.plain === true || columns < BOX_COLUMNS;
  const given = { ...options, plain };
  return plain ? plainCard(card, state, given, columns) : boxedCard(card, state, given, columns);
}

function plainCard(card: CardModel, state: CardState, options: TerminalOptions, columns: number): string[] {
  const words = wordsIn(card.language);
  const heading = `${words.decisionWord}: ${inert(card.title)} (${words.statusWord(state.status)})`;
  return [
    ...wrapLine(heading, columns, { words: true }),
    ...content(card, state, options, columns),
    ...wrapLine(origin(card), columns, { words: true }),
  ].map((line) => line.trimEnd());
}

function boxedCard(card: CardModel, state: CardState, options: TerminalOptions, columns: number): string[] {
  const words = wordsIn(card.language);
  const inner = columns - 4;
  const status = words.statusWord(state.status);
  const lines = content(card, state, options, inner);
  // A title that the frame must cut stands whole in the first line.
  const room = inner - displayWidth(`${words.decisionWord} \u2500 `) - displayWidth(` ${status}`) - 2;
  const title = inert(card.title);
  const whole = displayWidth(title) <= room ? [] : wrapLine(title, inner, { words: true });
  const top = `\u250c ${words.decisionWord} \u2500 ${cutToColumns(title, Math.max(1, room))} `;
  const foot = wrapFoot(footText(card, state, options), inner);
  const bottom = `\u2514 ${foot.last} `;
  return [
    `${padTo(top, columns - displayWidth(status) - 3, "\u2500")} ${status} \u2510`,
    ...[...whole, ...lines, ...foot.above].map((line) => `\u2502 ${padTo(line, inner)} \u2502`),
    `${padTo(bottom, columns - 1, "\u2500")}\u2518`,
  ];
}

/** The foot of the box takes one line; what does not fit stands above it. */
function wrapFoot(text: string, inner: number): { above: string[]; last: string } {
  const lines = wrapLine(text, inner, { words: true });
  return { above: lines.slice(0, -1), last: (lines.at(-1) ?? "").trimEnd() };
}

function content(card: CardModel, state: CardState, options: TerminalOptions, columns: number): string[] {
  const clock = clockOf(card, options);
  const words = wordsIn(card.language);
  const lines = bodyLines(card, columns);
  const paragraph = (text: string): void => void lines.push(...wrapLine(text, columns, { words: true }));
  // While a boxed card waits, its deadline stands in the foot.
  const inFoot = options.plain !== true && state.status.kind === "pending" && card.deadlineAt !== undefined;
  const notes = footerLines(card, state)
    .slice(inFoot ? 1 : 0)
    .map((line) => words.plain(line, clock));
  const closing = closingLines(card, state).map((line) => words.plain(line, clock));
  const answers = state.status.kind === "pending" ? answerLines(card, options) : [];
  for (const group of [notes, closing, answers]) {
    if (group.length === 0) continue;
    lines.push("");
    for (const line of group) paragraph(line);
  }
  return lines;
}

/** A terminal is read when it is written, so times are seen from then if it is known. */
function clockOf(card: CardModel, options: TerminalOptions): Clock {
  const { nameZone = false, now = card.createdAt } = options;
  return { ...cardClock(card, nameZone), reference: now };
}

/** The body line by line: preformatted text keeps its spaces, list items hang. */
function bodyLines(card: CardModel, columns: number): string[] {
  const body = layoutBody({ title: "", presentation: card.presentation, choices: card.choices });
  const pre = body.marks.filter(({ type }) => type === "pre");
  const lines: string[] = [];
  let at = 0;
  for (const line of body.text.split("\n")) {
    const start = at;
    at += line.length + 1;
    const shown = line.replaceAll("\t", "    ");
    const verbatim = pre.some((mark) => start >= mark.start && start < mark.end);
    const indent = !verbatim && line.startsWith("\u2022 ") ? "  " : "";
    lines.push(...wrapLine(shown, columns, { words: !verbatim, indent }));
  }
  return lines;
}

function answerLines(card: CardModel, options: TerminalOptions): string[] {
  if (options.answer === undefined) return [];
  const words = wordsIn(card.language);
  if (options.answer === "numbers") {
    return card.choices.map(
      ({ hasInput, label }, index) => `[${index + 1}] ${inert(label)}${hasInput ? ` ${words.textPlaceholder}` : ""}`,
    );
  }
  const choices = card.choices.map(({ hasInput, id }) => (hasInput ? `${id} ${words.textPlaceholder}` : id));
  return [`${options.answer.command} ${card.fingerprint} ${choices.join(" | ")}`];
}

function origin(card: CardModel): string {
  return `${wordsIn(card.language).originLine(card.workflowName, card.runShortId)} \u00b7 ${card.fingerprint}`;
}

function footText(card: CardModel, state: CardState, options: TerminalOptions): string {
  if (card.deadlineAt === undefined || state.status.kind !== "pending") return origin(card);
  const words = wordsIn(card.language);
  const until = words.untilPhrase(card.deadlineAt, card.defaultLabel);
  return `${origin(card)} \u00b7 ${words.plain(until, clockOf(card, options))}`;
}
