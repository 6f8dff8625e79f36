import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cron, inWindow, missedBetween, nextAfter } from "../../src/contracts/schedule.ts";

const at = (text: string): number => Date.parse(text);
const shown = (ms: number | null): string => new Date(ms ?? 0).toISOString();

/** `YYYY-MM-DD HH:MM` on the wall. */
function wall(ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(ms);
}

function occurrences(line: string, from: string, to: string, zone: string): string[] {
  const found: string[] = [];
  for (let next = nextAfter({ schedule: line }, at(from), zone); next !== null && next <= at(to);) {
    found.push(shown(next));
    next = nextAfter({ schedule: line }, next, zone);
  }
  return found;
}

describe("a schedule over a change of the clocks", () => {
  test("a time that the change skips comes at the first moment after the gap", () => {
    expect(occurrences("30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-31T00:00:00Z", "Europe/Berlin")).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  test("a time of day that happens twice comes once, at the first of them", () => {
    expect(occurrences("30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z", "Europe/Berlin")).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });

  test("what comes every half hour comes in both of the hours that are called the same", () => {
    expect(occurrences("*/30 * * * *", "2026-10-24T23:59:00Z", "2026-10-25T02:00:00Z", "Europe/Berlin")).toHaveLength(
      5,
    );
  });

  test("an interval counts elapsed time, whatever the clock on the wall does", () => {
    const before = at("2026-03-29T00:30:00Z");
    expect(nextAfter({ everySeconds: 3_600 }, before, "Europe/Berlin")).toBe(before + 3_600_000);
  });
});

const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "UTC"];
const line = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 23 })).map(([m, h]) => `${m} ${h} * * *`),
  fc.integer({ min: 5, max: 30 }).map((n) => `*/${n} * * * *`),
  fc.tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 6 })).map(([m, d]) => `${m} 1-3 * * ${d}`),
);
const moment = fc.integer({ min: at("2026-01-01T00:00:00Z"), max: at("2027-12-31T00:00:00Z") });

describe("for any line, zone and time", () => {
  test("occurrences only go forward, and asking from any time before one of them gives it", () => {
    fc.assert(
      fc.property(
        line,
        fc.constantFrom(...ZONES),
        moment,
        fc.integer({ min: 0, max: 999 }),
        (schedule, zone, from, ms) => {
          const first = nextAfter({ schedule }, from, zone);
          if (first === null) return;
          expect(first).toBeGreaterThan(from - 1_000);
          const second = nextAfter({ schedule }, first, zone);
          expect(second).toBeGreaterThan(first);
          // Asked within the second before: the same one, never the one after it.
          expect(nextAfter({ schedule }, first - 1_000 + ms, zone)).toBe(first);
        },
      ),
    );
  });

  test("a line with one time of day comes exactly once on each date of the wall", () => {
    const daily = fc.tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 23 }));
    fc.assert(
      fc.property(daily, fc.constantFrom(...ZONES), moment, ([minute, hour], zone, from) => {
        const dates: string[] = [];
        for (
          let next = nextAfter({ schedule: `${minute} ${hour} * * *` }, from, zone);
          next !== null && dates.length < 10;
        ) {
          dates.push(wall(next, zone).slice(0, 10));
          next = nextAfter({ schedule: `${minute} ${hour} * * *` }, next, zone);
        }
        expect(new Set(dates).size).toBe(10);
        expect(Date.parse(dates[9] ?? "") - Date.parse(dates[0] ?? "")).toBe(9 * 86_400_000);
      }),
      { numRuns: 60 },
    );
  });

  test("what a sleep missed is counted: as many as one by one, and then it goes on with the next", () => {
    fc.assert(
      fc.property(
        line,
        fc.constantFrom(...ZONES),
        moment,
        fc.integer({ min: 0, max: 36 * 3_600 }),
        (schedule, zone, from, slept) => {
          const due = nextAfter({ schedule }, from, zone) ?? 0;
          const now = due + slept * 1_000;
          const one = occurrences(schedule, shown(due), shown(now), zone).length;
          expect(missedBetween({ schedule }, due, now, zone)).toBe(one);
          expect(nextAfter({ schedule }, now, zone)).toBeGreaterThan(now - 1_000);
        },
      ),
      { numRuns: 60 },
    );
    expect(missedBetween({ everySeconds: 60 }, 0, 36 * 3_600_000, "UTC")).toBe(36 * 60);
  });

  test("a window that recurs covers its minutes and nothing else", () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), moment, fc.integer({ min: 1, max: 300 }), (zone, from, minutes) => {
        const window = { schedule: "15 3 * * *", minutes };
        const begins = nextAfter(window, from, zone) ?? 0;
        expect(inWindow([window], begins, zone)).toBe(true);
        expect(inWindow([window], begins + minutes * 60_000 - 1_000, zone)).toBe(true);
        expect(inWindow([window], begins + minutes * 60_000, zone)).toBe(false);
        expect(inWindow([window], begins - 1_000, zone)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});

test("a window by the clock on the wall may reach over midnight", () => {
  const window = { daily: { from: "23:00", to: "01:00" }, timeZone: "Europe/Berlin" };
  expect(inWindow([window], at("2026-06-01T21:30:00Z"), "UTC")).toBe(true);
  expect(inWindow([window], at("2026-06-01T22:59:00Z"), "UTC")).toBe(true);
  expect(inWindow([window], at("2026-06-01T23:00:00Z"), "UTC")).toBe(false);
  expect(
    inWindow([{ from: "2026-06-01T10:00:00Z", to: "2026-06-01T11:00:00Z" }], at("2026-06-01T10:59:59Z"), "UTC"),
  ).toBe(true);
});

test("a line that is none says so, with the line", () => {
  expect(() => cron("61 * * * *", "UTC")).toThrow(/"61 \* \* \* \*".*61/);
  expect(() => cron("0 0 31 2 *", "UTC")).toThrow("never comes");
  expect(() => cron("* * * * * *", "UTC")).toThrow("cannot be used");
  expect(() => cron("* * * * *", "Mars/Olympus")).toThrow("Mars/Olympus");
});
