// What a renderer for a chat hands to its adapter: parts, each one message, with explicit marks instead of markup.

import type { ChoiceStyle } from "../src/contracts/decision/choices.ts";

/** A mark on a part's text; `offset` and `length` in UTF-16 units. */
export type PartEntity =
  | { readonly type: "bold" | "code" | "italic" | "pre"; readonly offset: number; readonly length: number }
  /** Shown in the reader's own zone; the text under it names the configured one. `format` as the Bot API has it. */
  | {
      readonly type: "date_time";
      readonly offset: number;
      readonly length: number;
      /** Seconds since the epoch. */
      readonly unixTime: number;
      readonly format: "r" | "t" | "wt" | "wDt";
    };

export interface PartButton {
  readonly label: string;
  /** Choice id, by which the adapter finds the button's token; null for a dead button. */
  readonly choice: string | null;
  readonly style?: ChoiceStyle;
  /** Shown where the client can show a button that does nothing; left out otherwise. */
  readonly disabled?: true;
}

/** One message of at most 4,096 UTF-16 units. */
export interface Part {
  readonly text: string;
  readonly entities: readonly PartEntity[];
  /** Rows; only the last part has any. */
  readonly buttons: readonly (readonly PartButton[])[];
  /** From 1. */
  readonly index: number;
  readonly of: number;
  /** Which piece of `text` is the decision's own content. */
  readonly body: { readonly offset: number; readonly length: number };
}

/** The decision's content as a reader gets it over all parts, exactly, without the lines that the renderer adds. */
export function bodyOf(parts: readonly Part[]): string {
  return parts.map(({ body, text }) => text.slice(body.offset, body.offset + body.length)).join("");
}
