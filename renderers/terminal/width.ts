// How many columns a text takes on a terminal, and how it is wrapped to a width.

import { graphemesOf } from "../../src/contracts/decision/graphemes.ts";

/** East Asian wide and full-width blocks (Unicode's EastAsianWidth W and F), as ranges of code points. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x20000, 0x3fffd],
];
const EMOJI =
  /^\p{Emoji_Presentation}|^\p{Extended_Pictographic}\ufe0f|^[#*0-9]\ufe0f?\u20e3|^\p{Regional_Indicator}{2}/u;
const NOTHING = /^[\p{M}\p{Default_Ignorable_Code_Point}]+$/u;
// Printable ASCII, where one unit is one column: most of all text.
const PLAIN = /^[ -~]*$/;

/** Columns of one grapheme: 0, 1 or 2. */
function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  // Most graphemes by far: one unit below the combining marks.
  if (grapheme.length === 1 && code < 0x300 && code !== 0xad) return 1;
  if (EMOJI.test(grapheme)) return 2;
  if (code < 0x1100) return NOTHING.test(grapheme) ? 0 : 1;
  if (NOTHING.test(grapheme)) return 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
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
