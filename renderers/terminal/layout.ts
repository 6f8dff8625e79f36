/**
 * Text on a terminal: paragraphs and tables at a width. Everything from outside goes through `clean` first, so that no
 * escape sequence and nothing invisible reaches the terminal.
 */
import { inert } from "../../src/contracts/decision/inert.ts";
import { cutToColumns, displayWidth, padTo, wrapLine } from "./width.ts";

export { cutToColumns, displayWidth, padTo, wrapLine };

/** Text from outside on one line: inert, line ends and tabs as spaces. */
export function clean(text: string): string {
  return inert(text.replace(/\r\n?|\n|\t/g, " "));
}

/** Text from outside that may have lines: inert but for them. Tabs become spaces. */
export function cleanLines(text: string): string[] {
  return inert(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    "), { lines: true }).split("\n");
}

// oxlint-disable-next-line no-control-regex -- our own colours take no room
const COLOUR = /\u001b\[\d+m/g;

/** Wraps a paragraph with a first indent (which may be words, also coloured ones) and a following one. */
export function hang(text: string, width: number, first: string, rest: string): string[] {
  const room = Math.max(20, width - Math.max(displayWidth(first.replace(COLOUR, "")), displayWidth(rest)));
  return wrapLine(text, room, { words: true }).map((line, i) => `${i === 0 ? first : rest}${line}`);
}

export interface Column {
  readonly title: string;
  /** Takes what is left of the width; at most one column. */
  readonly flexible?: boolean;
}

/** A table without lines: titles in capitals, cells cut so that a row fits the width. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const widths = columns.map((column, i) =>
    Math.max(displayWidth(column.title), ...rows.map((row) => displayWidth(row[i] ?? ""))),
  );
  const total = widths.reduce((sum, one) => sum + one, 0) + 2 * (columns.length - 1);
  const flexible = columns.findIndex((column) => column.flexible === true);
  if (flexible >= 0 && total > width) {
    widths[flexible] = Math.max(10, (widths[flexible] as number) - (total - width));
  }
  const line = (cellsOf: readonly string[]): string =>
    cellsOf
      .map((cell, i) => padTo(cutToColumns(cell, widths[i] as number), widths[i] as number))
      .join("  ")
      .trimEnd();
  return [line(columns.map((column) => column.title.toUpperCase())), ...rows.map(line)];
}
