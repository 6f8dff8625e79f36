// When people are reminded: a schedule from the moment of the question, moved out of the quiet part of the day. Wall
// clocks jump twice a year and machines sleep, so that a moment is quiet exactly if the clock on the wall says so then.

import type { QuietHours, RemindAfter } from "../contracts/decision/policy.ts";

const MINUTE = 60_000;
const DAY_MINUTES = 24 * 60;

/**
 * The first reminder after `now` of a question of `askedAt`, both in milliseconds since the epoch. What fell between is not made up for:
 * after a sleep over several of them one is due.
 */
export function nextReminder(policy: RemindAfter, askedAt: number, now: number): number {
  const first = askedAt + policy.afterMs;
  const missed = now < first ? 0 : Math.floor((now - first) / policy.everyMs) + 1;
  const at = first + missed * policy.everyMs;
  return policy.quiet === undefined ? at : afterQuiet(policy.quiet, at);
}

/** `at`, or the first full minute after it at which the quiet part of the day is over. */
export function afterQuiet(quiet: QuietHours, at: number): number {
  const [from, to] = [minutesOf(quiet.from), minutesOf(quiet.to)];
  const isQuiet = (time: number): boolean => {
    const wall = wallMinutes(quiet.timeZone, time);
    return from < to ? from <= wall && wall < to : wall >= from || wall < to;
  };
  if (!isQuiet(at)) return at;
  const minute = Math.floor(at / MINUTE) * MINUTE;
  const left = (to - wallMinutes(quiet.timeZone, minute) + DAY_MINUTES) % DAY_MINUTES;
  const straight = minute + left * MINUTE;
  if (offset(quiet.timeZone, straight) === offset(quiet.timeZone, minute)) return straight;
  // The clocks change on the way: the end may come earlier, later, or twice. The first one counts.
  let time = minute + MINUTE;
  while (isQuiet(time)) time += MINUTE;
  return time;
}

function minutesOf(wall: string): number {
  const [hours = 0, minutes = 0] = wall.split(":").map(Number);
  return hours * 60 + minutes;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** What the calendar and the clock on the wall show, as numbers by the names of Intl. */
function wall(timeZone: string, at: number): Record<string, number> {
  let format = formats.get(timeZone);
  if (format === undefined) {
    const numeric = "numeric";
    format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
    });
    // Zones come from a configuration of few; the bound only guards against one that is not.
    if (formats.size >= 200) formats.clear();
    formats.set(timeZone, format);
  }
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
}

/** Minutes since midnight on the wall. */
function wallMinutes(timeZone: string, at: number): number {
  const { hour = 0, minute = 0 } = wall(timeZone, at);
  return hour * 60 + minute;
}

/** How far the wall is ahead of UTC, in whole minutes; `at` is a full minute. */
function offset(timeZone: string, at: number): number {
  const { day = 1, hour = 0, minute = 0, month = 1, year = 0 } = wall(timeZone, at);
  return (Date.UTC(year, month - 1, day, hour, minute) - at) / MINUTE;
}
