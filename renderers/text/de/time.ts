// Times and durations in German.

import { dateNeed, formatter, plainPhrase, type Clock, type Phrase, type TimePiece } from "../phrase.ts";

/** "Di 14:30", "14:30", "Di 12. Jan 14:30", "in 2 Stunden"; with the zone's short name when the clock says so. */
export function writeTime(piece: TimePiece, { reference, ...where }: Clock): string {
  if (piece.style === "relative") return relative(piece.at - reference);
  const need = dateNeed(piece, { reference, ...where });
  const date: Intl.DateTimeFormatOptions =
    need === "none"
      ? {}
      : need === "weekday"
        ? { weekday: "short" }
        : { weekday: "short", day: "numeric", month: "short" };
  const parts = formatter("de-DE", where.timeZone, {
    ...date,
    hour: "2-digit",
    minute: "2-digit",
    ...(where.nameZone === true ? { timeZoneName: "short" as const } : {}),
  }).formatToParts(piece.at);
  const value = (type: string): string => parts.find((part) => part.type === type)?.value ?? "";
  const time = `${value("hour")}:${value("minute")}`;
  const dayOfMonth = value("day") === "" ? "" : `${value("day")}.`;
  return [value("weekday").replace(".", ""), dayOfMonth, value("month"), time, value("timeZoneName")]
    .filter((part) => part !== "")
    .join(" ");
}

const UNITS: readonly (readonly [size: number, one: string, more: string, afterPreposition: string])[] = [
  [86_400_000, "Tag", "Tage", "Tagen"],
  [3_600_000, "Stunde", "Stunden", "Stunden"],
  [60_000, "Minute", "Minuten", "Minuten"],
];

/** "45 Sekunden", "40 Minuten", "2 Stunden", "3 Tage"; the largest unit of which there are two, rounded. */
export function duration(ms: number): string {
  return lasts(ms, 2);
}

/** After "seit", "vor", "in" and "nach": "3 Tagen". */
export function durationAfter(ms: number): string {
  return lasts(ms, 3);
}

function lasts(ms: number, form: 2 | 3): string {
  for (const unit of UNITS) {
    const [size, one] = unit;
    const count = Math.round(ms / size);
    if (ms >= 2 * size || (one === "Minute" && ms >= size)) return `${count} ${count === 1 ? one : unit[form]}`;
  }
  const seconds = Math.max(0, Math.round(ms / 1_000));
  return `${seconds} ${seconds === 1 ? "Sekunde" : "Sekunden"}`;
}

function relative(ms: number): string {
  return ms >= 0 ? `in ${durationAfter(ms)}` : `vor ${durationAfter(-ms)}`;
}

/** A phrase as plain text in this language. */
export function plain(phrase: Phrase, at: Clock): string {
  return plainPhrase(phrase, at, writeTime);
}
