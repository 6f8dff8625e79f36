/** Sleeps and the built-in workflows that plan and watch: HP306 to HP319. */
import type { ErrorEntry } from "./entry.ts";

export const PLANNING_ERRORS = {
  sleepInvalid: {
    code: "HP306",
    when: "The time of a sleep is no time, or further away than a run may sleep.",
    remedy: "Return milliseconds: a number from 0 to 366 days for `ms`, a time since the epoch for `until`.",
  },
} as const satisfies Record<string, ErrorEntry>;
