// Text with explicit entities, built piece by piece; offsets are UTF-16 units as Telegram counts them.

import type { TextMark } from "../markdown/writer.ts";
import type { PartEntity } from "../part.ts";
import { dateNeed, type Clock, type Phrase, type TimePiece } from "../text/phrase.ts";
import { wordsIn } from "../text/index.ts";

export class RichText {
  text = "";
  readonly entities: PartEntity[] = [];

  add(piece: string, mark?: TextMark["type"]): this {
    if (mark !== undefined) this.mark(mark, this.text.length, this.text.length + piece.length);
    this.text += piece;
    return this;
  }

  /** Marks what is or will be at [start, end); nothing is marked where there is nothing. */
  mark(type: TextMark["type"], start: number, end: number): this {
    if (end > start) this.entities.push({ type, offset: start, length: end - start });
    return this;
  }

  /** Adds a piece of a marked text with its marks; returns where it stands. */
  piece(
    { marks, text }: { readonly text: string; readonly marks: readonly TextMark[] },
    { end, start }: { readonly start: number; readonly end: number },
  ): { offset: number; length: number } {
    const offset = this.text.length;
    this.text += text.slice(start, end);
    for (const mark of marks)
      this.mark(mark.type, Math.max(mark.start, start) - start + offset, Math.min(mark.end, end) - start + offset);
    return { offset, length: this.text.length - offset };
  }

  /** Adds a phrase; its times become date_time entities over their text in the configured zone. */
  phrase(phrase: Phrase, clock: Clock): this {
    for (const piece of phrase) {
      if (typeof piece === "string") this.text += piece;
      else this.#time(piece, clock);
    }
    return this;
  }

  #time(piece: TimePiece, clock: Clock): void {
    const text = wordsIn(clock.language).writeTime(piece, clock);
    const need = dateNeed(piece, clock);
    const format = piece.style === "relative" ? "r" : need === "none" ? "t" : need === "weekday" ? "wt" : "wDt";
    const unixTime = Math.floor(piece.at / 1_000);
    this.entities.push({ type: "date_time", offset: this.text.length, length: text.length, unixTime, format });
    this.text += text;
  }
}
