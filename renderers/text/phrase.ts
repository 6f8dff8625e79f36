// A phrase: text with times in it. Chats show the times in the reader's zone, everything else in the configured one,
// so the words stay the same and only the times are written differently.

import type { Language } from "../../src/contracts/language.ts";

/** A time inside a phrase. `day` names the day always, `clock` only when it is another day than the reference. */
export interface TimePiece {
  readonly at: number;
  readonly style: "day" | "clock" | "relative";
}

export type Phrase = readonly (string | TimePiece)[];

/** How times are written, and for whom. */
export interface Clock {
  readonly timeZone: string;
  /** Left out: English. */
  readonly language?: Language | undefined;
  /** The instant from which "in 2 hours" and the choice between time, day and date are seen; ms. */
  readonly reference: number;
  /** Whether to write the zone's short name after a time; for readers who may be elsewhere. */
  readonly nameZone?: boolean | undefined;
}

const DAY_MS = 86_400_000;

/** The phrase as plain text. `write` turns a time into the language's words. */
export function plainPhrase(phrase: Phrase, clock: Clock, write: (piece: TimePiece, clock: Clock) => string): string {
  return phrase.map((piece) => (typeof piece === "string" ? piece : write(piece, clock))).join("");
}

/** How much of a date a time needs next to its reference: nothing, the weekday, or the date too. */
export function dateNeed({ at, style }: TimePiece, { reference, timeZone }: Clock): "none" | "weekday" | "date" {
  if (Math.abs(at - reference) >= 6 * DAY_MS) return "date";
  if (style === "day") return "weekday";
  const day = formatter("en-GB", timeZone, { year: "numeric", month: "numeric", day: "numeric" });
  return day.format(at) === day.format(reference) ? "none" : "weekday";
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** A cached date format; making one costs more than using it a thousand times. */
export function formatter(locale: string, timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, timeZone, options]);
  let found = formatters.get(key);
  if (found === undefined) {
    // Zones come from a configuration of few; the bound only guards against one that is not.
    if (formatters.size >= 200) formatters.clear();
    found = new Intl.DateTimeFormat(locale, { ...options, timeZone, hourCycle: "h23" });
    formatters.set(key, found);
  }
  return found;
}
