// Text with explicit entities, built piece by piece; offsets are UTF-16 units as Telegram counts them.

import type { PartEntity } from "../part.ts";
import { dateNeed, type Clock, type Phrase, type TimePiece } from "../text/phrase.ts";
import { wordsIn } from "../text/index.ts";

type Mark = "bold" | "code" | "italic" | "pre";

export class RichText {
  text = "";
  readonly entities: PartEntity[] = [];

  add(piece: string, mark?: Mark): this {
    if (mark !== undefined) this.mark(mark, this.text.length, this.text.length + piece.length);
    this.text += piece;
    return this;
  }

  /** Marks what is or will be at [start, end); nothing is marked where there is nothing. */
  mark(type: Mark, start: number, end: number): this {
    if (end > start) this.entities.push({ type, offset: start, length: end - start });
    return this;
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
