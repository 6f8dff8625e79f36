/**
 * Schedules: when a thing comes next. Cron lines by the clock on the wall of a named zone, intervals by elapsed time. An occurrence is
 * (schedule, local time, fold): a time that a clock change skips comes at the first moment after the gap, a time that happens twice
 * comes once for a line with one time of day, and twice for a line that repeats through the hours.
 */
import { Cron } from "croner";
import { HoldpointError, messageOf } from "./errors.ts";
import { SOURCE } from "./limits.ts";
import type { MaintenanceWindow } from "./monitor/spec.ts";

/** Exactly one of the two. */
export interface Rhythm {
  readonly everySeconds?: number | undefined;
  readonly schedule?: string | undefined;
  readonly timeZone?: string | undefined;
}

/** Reading a line costs more than asking it. Names from outside must not fill the memory. */
const known = new Map<string, Cron>();

/** Throws `scheduleInvalid` for a line that is none, or that never comes. */
export function cron(line: string, timeZone: string): Cron {
  const key = `${timeZone}\0${line}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  let made: Cron;
  try {
    made = new Cron(line, { timezone: timeZone, mode: "5-part" });
    if (made.nextRun(new Date(0)) === null) throw new Error("it never comes");
  } catch (error) {
    throw new HoldpointError(
      "scheduleInvalid",
      `Schedule "${line}" (${timeZone}) cannot be used: ${messageOf(error)}.`,
    );
  }
  if (known.size >= 10_000) known.clear();
  known.set(key, made);
  return made;
}

/**
 * The first occurrence after `after` (ms), or null when none is left. An interval counts from `after`, so that what took long or slept
 * is not followed by a burst.
 */
export function nextAfter(rhythm: Rhythm, after: number, zone: string): number | null {
  if (rhythm.everySeconds !== undefined) return after + rhythm.everySeconds * 1_000;
  const line = cron(rhythm.schedule ?? "", rhythm.timeZone ?? zone);
  // Croner looks at whole seconds: half a second before an occurrence must not skip it.
  return line.nextRun(new Date(Math.floor(after / 1_000) * 1_000))?.getTime() ?? null;
}

/** How many occurrences lie in (`due`, `now`]: those that nobody looked at while the machine slept. Counted up to a bound. */
export function missedBetween(rhythm: Rhythm, due: number, now: number, zone: string): number {
  if (now <= due) return 0;
  if (rhythm.everySeconds !== undefined) return Math.floor((now - due) / (rhythm.everySeconds * 1_000));
  let missed = 0;
  for (let at = nextAfter(rhythm, due, zone); at !== null && at <= now; at = nextAfter(rhythm, at, zone)) {
    missed += 1;
    if (missed >= SOURCE.missedCounted) break;
  }
  return missed;
}

/** Whether `at` lies within one of the windows. */
export function inWindow(windows: readonly MaintenanceWindow[], at: number, zone: string): boolean {
  return windows.some((window) => within(window, at, zone));
}

function within(window: MaintenanceWindow, at: number, zone: string): boolean {
  if ("from" in window) return Date.parse(window.from) <= at && at < Date.parse(window.to);
  const timeZone = window.timeZone ?? zone;
  if ("daily" in window) {
    const { from, to } = window.daily;
    const time = wallTime(at, timeZone);
    return from < to ? from <= time && time < to : time >= from || time < to;
  }
  // It began within its own length before `at`.
  const began = cron(window.schedule, timeZone).nextRun(new Date(at - window.minutes * 60_000));
  return began !== null && began.getTime() <= at;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** `HH:MM` on the wall. */
function wallTime(at: number, timeZone: string): string {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    formats.set(timeZone, format);
  }
  return format.format(at);
}
