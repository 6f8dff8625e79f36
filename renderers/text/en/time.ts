// Times and durations in English.

import { dateNeed, formatter, plainPhrase, type Clock, type Phrase, type TimePiece } from "../phrase.ts";

/** A time that always names its day: "Tue 14:30". */
export const day = (at: number): TimePiece => ({ at, style: "day" });
/** A time that names its day only when it is another one than the reference's: "14:30". */
export const clock = (at: number): TimePiece => ({ at, style: "clock" });

/** "Tue 14:30", "14:30", "Tue 12 Jan 14:30", "in 2 hours"; with the zone's short name when the clock says so. */
export function writeTime(piece: TimePiece, { reference, ...where }: Clock): string {
  if (piece.style === "relative") return relative(piece.at - reference);
  const need = dateNeed(piece, { reference, ...where });
  const date: Intl.DateTimeFormatOptions =
    need === "none"
      ? {}
      : need === "weekday"
        ? { weekday: "short" }
        : { weekday: "short", day: "numeric", month: "short" };
  const parts = formatter("en-GB", where.timeZone, {
    ...date,
    hour: "2-digit",
    minute: "2-digit",
    ...(where.nameZone === true ? { timeZoneName: "short" as const } : {}),
  }).formatToParts(piece.at);
  const value = (type: string): string => parts.find((part) => part.type === type)?.value ?? "";
  const time = `${value("hour")}:${value("minute")}`;
  return [value("weekday"), value("day"), value("month"), time, value("timeZoneName")]
    .filter((part) => part !== "")
    .join(" ");
}

/** "45 seconds", "40 minutes", "2 hours", "3 days"; the largest unit of which there are two, rounded. */
export function duration(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
  ];
  for (const [size, name] of units) {
    const count = Math.round(ms / size);
    if (ms >= 2 * size || (name === "minute" && ms >= size)) return `${count} ${name}${count === 1 ? "" : "s"}`;
  }
  const seconds = Math.max(0, Math.round(ms / 1_000));
  return `${seconds} second${seconds === 1 ? "" : "s"}`;
}

function relative(ms: number): string {
  return ms >= 0 ? `in ${duration(ms)}` : `${duration(-ms)} ago`;
}

/** A phrase as plain text in this language. */
export function plain(phrase: Phrase, at: Clock): string {
  return plainPhrase(phrase, at, writeTime);
}
