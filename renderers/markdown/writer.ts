// Collects text and marks of one document: where blocks end, how far lists and quotes are indented, which marks are open.

import { inert } from "../../src/contracts/decision/inert.ts";

export interface TextMark {
  readonly type: "bold" | "code" | "italic" | "pre";
  /** In UTF-16 units; the end is not included. */
  readonly start: number;
  readonly end: number;
}

export interface MarkedText {
  readonly text: string;
  readonly marks: readonly TextMark[];
  /** Ends of blocks, without the white space after them. */
  readonly seams: readonly number[];
}

/** Levels of lists and quotes that are still indented; deeper ones stand at this one. */
const LEVELS = 8;

/** A list (`next` counts the items of an ordered one) or a quote. */
type Around = { readonly list: true; next: number | null } | { readonly list: false };

export class Writer {
  #text = "";
  readonly #marks: TextMark[] = [];
  readonly #seams: number[] = [];
  /** Marks that are open, outermost first, each from where its text began. */
  readonly #open: { readonly type: "bold" | "italic"; start: number | null }[] = [];
  /** Lists and quotes around the present place; a number counts the items of an ordered list. */
  readonly #around: Around[] = [];
  readonly #links: { readonly address: string; readonly start: number }[] = [];
  /** Stands before the next text of this line. */
  #lead: string | null = null;
  /** A list outside others began: its first item stands apart. */
  #newList = false;
  #cells = 0;

  /** A new block begins: after an empty line, or in a list without one. */
  begin(kind: "block" | "tight"): void {
    // The first text of an item stands behind its bullet.
    if (this.#lead !== null) return;
    this.#gap(kind === "tight" ? "\n" : "\n\n");
    this.#lead = this.#indent();
  }

  list(start: number | null): void {
    this.#newList = this.#around.length === 0;
    this.#around.push({ list: true, next: start });
  }

  endList(): void {
    this.#around.pop();
    this.#lead = null;
  }

  item(): void {
    const list = this.#around.at(-1);
    this.#gap(this.#newList ? "\n\n" : "\n");
    this.#newList = false;
    const number = list?.list === true && list.next !== null ? list.next : null;
    if (list?.list === true && number !== null) list.next = number + 1;
    const outer = this.#indent(this.#around.slice(0, -1));
    this.#lead = `${outer}${number === null ? "\u2022" : `${number}.`} `;
  }

  quote(): void {
    this.#around.push({ list: false });
  }

  endQuote(): void {
    this.#around.pop();
    this.#lead = null;
  }

  row(): void {
    this.#cells = 0;
    if (this.#lead === null) this.#gap("\n");
    this.#lead ??= this.#indent();
  }

  cell(): void {
    if (this.#cells > 0) this.add(" | ");
    this.#cells += 1;
  }

  open(type: "bold" | "italic"): void {
    this.#open.push({ type, start: null });
  }

  close(type: "bold" | "italic"): void {
    const at = this.#open.findLastIndex((mark) => mark.type === type);
    const [mark] = at === -1 ? [] : this.#open.splice(at, 1);
    // In another one of its kind it adds nothing.
    if (mark?.start == null || this.#open.some((outer) => outer.type === type)) return;
    this.#marks.push({ type, start: mark.start, end: this.#text.length });
  }

  add(given: string): void {
    const text = inert(given, { lines: true });
    if (text === "") return;
    const start = this.#write(text);
    for (const mark of this.#open) mark.start ??= start;
  }

  /** Monospace: no other mark goes with it. */
  code(type: "code" | "pre", given: string): void {
    const text = inert(given, { lines: true });
    if (text === "") return;
    const before = this.#text.length;
    // The marks around it end here and go on behind it.
    for (const [index, { start, type: outer }] of this.#open.entries()) {
      const isFirst = this.#open.findIndex((mark) => mark.type === outer) === index;
      if (isFirst && start !== null && start < before) this.#marks.push({ type: outer, start, end: before });
    }
    const start = this.#write(text);
    this.#marks.push({ type, start, end: this.#text.length });
    for (const mark of this.#open) mark.start = null;
  }

  breakLine(): void {
    this.#text += `\n${this.#indent()}`;
  }

  link(address: string): void {
    this.#links.push({ address, start: this.#text.length + (this.#lead?.length ?? 0) });
  }

  /** The address stands behind its text, unless that is the address. */
  endLink(): void {
    const link = this.#links.pop();
    if (link === undefined || link.address === "") return;
    const shown = this.#text.slice(link.start);
    if (shown.trim() === "") this.add(link.address);
    else if (shown !== inert(link.address) && `mailto:${shown}` !== link.address) this.add(` (${link.address})`);
  }

  end(): MarkedText {
    const text = this.#text.trimEnd();
    const marks = this.#marks
      .map(({ end, start, type }) => ({ type, start, end: Math.min(end, text.length) }))
      .filter(({ end, start }) => end > start);
    return { text, marks, seams: this.#seams.filter((at) => at < text.length) };
  }

  /** Where it begins. */
  #write(text: string): number {
    this.#text += this.#lead ?? "";
    this.#lead = null;
    const start = this.#text.length;
    // A line of its own in a list or quote stands where the others stand.
    this.#text += this.#around.length === 0 ? text : text.replaceAll("\n", `\n${this.#indent()}`);
    return start;
  }

  #gap(space: string): void {
    if (this.#text === "" && this.#lead === null) return;
    // An item without text has its bullet all the same.
    if (this.#lead !== null) this.#text += this.#lead.trimEnd();
    this.#lead = null;
    if (space === "\n\n") this.#seam();
    this.#text += space;
  }

  #seam(): void {
    const at = this.#text.trimEnd().length;
    if (at > 0 && this.#seams.at(-1) !== at) this.#seams.push(at);
  }

  #indent(around: readonly Around[] = this.#around): string {
    return around
      .slice(0, LEVELS)
      .map(({ list }) => (list ? "  " : "\u2502 "))
      .join("");
  }
}
