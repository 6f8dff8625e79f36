// The body of a card: a presentation as one plain text with marks, from which every chat channel cuts its parts.
// It holds no word of ours, so that it is the same in every language and state. Here because the limit on parts is
// checked before a decision becomes pending.

import { TELEGRAM } from "../limits.ts";
import { cutToUnits } from "./graphemes.ts";
import { inert } from "./inert.ts";
import type { Presentation, PresentationBlock } from "./presentation.ts";

/** A mark on the text; `start` and `end` in UTF-16 units. */
export interface BodyMark {
  readonly type: "bold" | "pre";
  readonly start: number;
  readonly end: number;
}

/** A choice as far as its button goes. */
export interface ButtonSource {
  readonly label: string;
  readonly hasInput: boolean;
}

/** What is laid out; a card model has it, and a request can make it. */
export interface BodySource {
  readonly title: string;
  readonly presentation: Presentation;
  readonly choices: readonly ButtonSource[];
}

export interface CardBody {
  /** The exact text that a reader gets over all parts, in order. */
  readonly text: string;
  readonly marks: readonly BodyMark[];
  /** Where one block ends and another may begin a new part: the offset of the white space between them. */
  readonly seams: readonly number[];
}

/** Units of the status line besides the title: glyph, "· part 20/20", fingerprint. */
const STATUS_REST = 32;

/** The title as the status line shows it: inert, on one line, cut to fit. */
export function statusTitle(title: string): string {
  return cutToUnits(inert(title), TELEGRAM.statusUnits - STATUS_REST);
}

/** The label as a button shows it: inert, cut to fit, ending in "…" when a text is asked for. */
export function buttonLabel(choice: ButtonSource): string {
  return cutToUnits(wholeButton(choice), TELEGRAM.buttonUnits);
}

function wholeButton({ label, hasInput }: ButtonSource): string {
  const shown = inert(label).trim();
  return hasInput && !shown.endsWith("\u2026") ? `${shown}\u2026` : shown;
}

/**
 * Lays out a body: the title if the status line cannot hold it, the summary, the blocks, and every choice label that
 * a button cannot hold. Nothing is shortened; hidden characters are made visible.
 */
export function layoutBody(source: BodySource): CardBody {
  let text = "";
  const marks: BodyMark[] = [];
  const seams: number[] = [];
  const add = (piece: string, type?: BodyMark["type"]): void => {
    if (type !== undefined && piece !== "") marks.push({ type, start: text.length, end: text.length + piece.length });
    text += piece;
  };
  const gap = (space: string, seam: boolean): void => {
    // Chats drop white space at the end of a message, so a cut stands before all of it.
    if (seam) seams.push(text.trimEnd().length);
    text += space;
  };

  const title = inert(source.title);
  if (title !== statusTitle(source.title)) {
    add(title, "bold");
    gap("\n", false);
  }
  add(inert(source.presentation.summary));
  let previous: PresentationBlock | undefined;
  for (const block of source.presentation.blocks) {
    // A heading keeps its first block; lists and fields that follow each other stand together.
    const close = previous?.kind === "section" || (isList(previous) && isList(block));
    gap(close ? "\n" : "\n\n", previous?.kind !== "section");
    addBlock(block, add);
    previous = block;
  }
  const long = source.choices.filter((choice) => wholeButton(choice) !== buttonLabel(choice));
  for (const [index, choice] of long.entries()) {
    gap(index === 0 ? "\n\n" : "\n", index === 0);
    add(`\u2022 ${inert(choice.label)}`);
  }
  return { text, marks, seams };
}

function isList(block: PresentationBlock | undefined): boolean {
  return block?.kind === "bullets" || block?.kind === "fields";
}

function addBlock(block: PresentationBlock, add: (piece: string, type?: BodyMark["type"]) => void): void {
  switch (block.kind) {
    case "paragraph":
      return add(inert(block.text, { lines: true }));
    case "preformatted":
      return add(inert(block.text, { lines: true }), "pre");
    case "section":
      return add(inert(block.title), "bold");
    case "bullets":
      return add(block.items.map((item) => `\u2022 ${inert(item)}`).join("\n"));
    case "fields":
      for (const [index, { label, value }] of block.items.entries()) {
        if (index > 0) add("\n");
        add(`${inert(label)}:`, "bold");
        add(` ${inert(value)}`);
      }
  }
}
