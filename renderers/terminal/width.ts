// How many columns a text takes on a terminal, and how it is wrapped to a width.

import { graphemesOf } from "../../src/contracts/decision/graphemes.ts";

/** East Asian wide and full-width blocks (Unicode's EastAsianWidth W and F), as ranges of code points. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  // Trigrams and monograms, since Unicode 16.
  [0x2630, 0x2637],
  [0x268a, 0x268f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1d300, 0x1d376],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];
const EMOJI =
  /^\p{Emoji_Presentation}|^\p{Extended_Pictographic}\ufe0f|^[#*0-9]\ufe0f?\u20e3|^\p{Regional_Indicator}{2}/u;
/** Drawn as nothing, alone or on another character. */
const NOTHING = /^[\p{M}\p{Default_Ignorable_Code_Point}]$/u;
/** Marks that take a column of their own: the spacing ones, and what terminals have always treated so. */
const SPACING = /^[\p{Mc}\u065f\u0f7f\u102b\u102c\u1031\u1033-\u1035\u1038\u103a-\u103e]$/u;
const RGI_EMOJI = new RegExp("^\\p{RGI_Emoji}$", "v");
// Printable ASCII, where one unit is one column: most of all text.
const PLAIN = /^[ -~]*$/;

/** Columns of one grapheme: mostly 0, 1 or 2; more where it holds spacing marks, or letters after marks. */
function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  // Most graphemes by far: one unit below the combining marks.
  if (grapheme.length === 1 && code < 0x300 && code !== 0xad) return 1;
  if (EMOJI.test(grapheme)) return 2;
  let [width, based, marked] = [0, false, false];
  for (const char of grapheme) {
    if (SPACING.test(char)) {
      width += 1;
      marked = false;
    } else if (NOTHING.test(char)) {
      marked ||= based;
    } else {
      if (!based || marked || hasOwnColumns(char)) width += charWidth(char);
      [based, marked] = [true, false];
    }
  }
  return width;
}

function charWidth(char: string): number {
  const code = char.codePointAt(0) as number;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Half- and full-width forms, and the vowel AM of Thai and Lao, are drawn beside what they are joined to. */
function hasOwnColumns(char: string): boolean {
  return /^[\u0e33\u0eb3\uff00-\uffef]$/.test(char);
}

const PICTURE = /^[\p{Emoji_Presentation}\p{Extended_Pictographic}\p{Regional_Indicator}\u{1f000}-\u{1faff}]$/u;

/** Columns that no terminal exceeds for one grapheme: every character of it counts, except marks without a width. */
function mostColumns(grapheme: string): number {
  if (RGI_EMOJI.test(grapheme)) return 2;
  let width = 0;
  for (const char of grapheme) {
    if (char === "\t") width += 8;
    else if (SPACING.test(char)) width += 1;
    else if (!NOTHING.test(char)) width += PICTURE.test(char) ? 2 : charWidth(char);
  }
  return width;
}

/** Columns of a text on one line. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemesOf(text)) width += graphemeWidth(grapheme);
  return width;
}

/** The text followed by as many `fill` as make it `columns` wide. */
export function padTo(text: string, columns: number, fill = " "): string {
  return text + fill.repeat(Math.max(0, columns - displayWidth(text)));
}

/** The beginning of a text that fits, ending in "…" where something was cut off. */
export function cutToColumns(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let [kept, width] = ["", 0];
  for (const grapheme of graphemesOf(text)) {
    width += graphemeWidth(grapheme);
    if (width > columns - 1) break;
    kept += grapheme;
  }
  return `${kept.trimEnd()}\u2026`;
}

/** Like `cutToColumns`, by a measure that no terminal exceeds: for screens that fail at a line that is too long. */
export function cutToScreen(text: string, columns: number): string {
  if (PLAIN.test(text) && text.length <= columns) return text;
  let [kept, short, width] = ["", "", 0];
  for (const grapheme of graphemesOf(text)) {
    width += mostColumns(grapheme);
    if (width > columns) return columns < 1 ? "" : `${short}\u2026`;
    kept += grapheme;
    if (width < columns) short = kept;
  }
  return text;
}

interface Cell {
  readonly text: string;
  readonly width: number;
}

function cellsOf(line: string): Cell[] {
  return Array.from(graphemesOf(line), (text) => ({ text, width: graphemeWidth(text) }));
}

/**
 * Wraps one line to `columns` (at least 2), at spaces where there are any (`words`), else between graphemes; lines
 * after the first begin with `indent`. Nothing but the spaces at the breaks is dropped.
 */
export function wrapLine(line: string, columns: number, options: { words: boolean; indent?: string }): string[] {
  if (displayWidth(line) <= columns) return [line];
  const indent = options.indent ?? "";
  const cells = cellsOf(line);
  const lines: string[] = [];
  for (let start = 0; start < cells.length;) {
    const prefix = lines.length === 0 ? "" : indent;
    const room = Math.max(2, columns - displayWidth(prefix));
    const end = lineEnd(cells, start, room, options.words);
    const piece = cells.slice(start, end).map(({ text }) => text);
    lines.push((prefix + piece.join("")).trimEnd());
    start = end;
    if (options.words) while (cells[start]?.text === " ") start += 1;
  }
  return lines;
}

/** Where the line that begins at `start` ends: past its last cell. */
function lineEnd(cells: readonly Cell[], start: number, room: number, words: boolean): number {
  let width = 0;
  let space: number | undefined;
  let filled = false;
  for (let at = start; at < cells.length; at += 1) {
    const cell = cells[at] as Cell;
    const blank = cell.text === " ";
    // A break inside the leading spaces would make an empty line.
    if (words && blank && filled) space = at;
    width += cell.width;
    if (width > room) return space ?? Math.max(at, start + 1);
    if (!blank) filled = true;
  }
  return cells.length;
}
