/**
 * Times and durations as people read them: in the zone of this machine, which is named.
 */

const DAY: Intl.DateTimeFormatOptions = { weekday: "short", day: "numeric", month: "short" };

/** `12:03:05` in the local zone. */
export function clockTime(at: number): string {
  return format(at, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}

/** `12:03:05.123` in the local zone. */
export function preciseTime(at: number): string {
  return `${clockTime(at)}.${String(((at % 1_000) + 1_000) % 1_000).padStart(3, "0")}`;
}

/** `12:03:05` on the day of `now`, else with the day: a look may be days away. */
export function dayTime(at: number, now: number): string {
  return new Date(at).toDateString() === new Date(now).toDateString() ? clockTime(at) : when(at, now);
}

/** `Mon 30 Nov 12:03 UTC`; with the year where it is not the year of `now`. */
export function when(at: number, now = Date.now()): string {
  const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? "" : ` ${new Date(at).getFullYear()}`;
  return `${format(at, DAY).replace(",", "")}${year} ${format(at, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })} ${zoneName(at)}`;
}

/** As short as it can be told: `14:30` within the next 24 hours, else `Tue 1 Dec`. */
export function shortWhen(at: number, now: number): string {
  if (at - now < 86_400_000) return format(at, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return format(at, DAY).replace(",", "");
}

/** The short name of the local zone at that time, for example `CET` or `GMT+5:30`. */
export function zoneName(at: number): string {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(at);
  return parts.find((part) => part.type === "timeZoneName")?.value ?? "UTC";
}

/** `850 ms`, `1.2 s`, `3 min 4 s`, `2 h 5 min`, `3 d 4 h`. Milliseconds; negative ones count as 0. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 10_000) return `${(whole / 1_000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return two(seconds, 60, "min", 1, "s");
  if (seconds < 86_400) return two(seconds, 3_600, "h", 60, "min");
  return two(seconds, 86_400, "d", 3_600, "h");
}

function two(seconds: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % big) / small);
  return `${Math.floor(seconds / big)} ${bigName}${rest > 0 ? ` ${rest} ${smallName}` : ""}`;
}

function format(at: number, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat("en-GB", options).format(at);
}
