/**
 * Reminders over a year of clocks that change and machines that sleep: never in the quiet part of the day, never early, never two for one
 * moment, and no later than they must be. The oracle asks the calendar of Intl minute by minute, in another way than the code does.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { QuietHours } from "../../src/contracts/decision/index.ts";
import { afterQuiet, nextReminder } from "../../src/decision/index.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Zones that change their clocks: at midnight, by half an hour, in the other half of the year, against the sun, or not at all. */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "America/Santiago",
  "Australia/Lord_Howe",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Asia/Kathmandu",
  "Pacific/Chatham",
  "UTC",
];
const wallTime = fc
  .record({ hour: fc.integer({ min: 0, max: 23 }), minute: fc.constantFrom(0, 1, 15, 30, 59) })
  .map(({ hour, minute }) => `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`);
const quiet: fc.Arbitrary<QuietHours> = fc
  .record({ from: wallTime, to: wallTime, timeZone: fc.constantFrom(...ZONES) })
  .filter(({ from, to }) => from !== to);

/** Nights in which clocks change somewhere, and any other moment of two years. */
const moment = fc.oneof(
  fc
    .record({
      night: fc.constantFrom(
        "2027-03-28T01:00Z",
        "2027-10-31T01:00Z",
        "2027-03-14T07:00Z",
        "2027-11-07T06:00Z",
        "2027-04-03T15:00Z",
        "2027-09-05T04:00Z",
        "2027-04-29T22:00Z",
      ),
      shift: fc.integer({ min: -DAY, max: DAY }),
    })
    .map(({ night, shift }) => Date.parse(night) + shift),
  fc.integer({ min: Date.parse("2026-06-01T00:00Z"), max: Date.parse("2028-06-01T00:00Z") }),
);

const formats = new Map<string, Intl.DateTimeFormat>();
/** The clock on the wall as text that sorts: "02:30". */
function wall(timeZone: string, at: number): string {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", { timeZone, hourCycle: "h23", hour: "2-digit", minute: "2-digit" });
    formats.set(timeZone, format);
  }
  return format.format(at);
}

function isQuiet({ from, timeZone, to }: QuietHours, at: number): boolean {
  const now = wall(timeZone, at);
  return from < to ? from <= now && now < to : from <= now || now < to;
}

const RUNS = { numRuns: Number(process.env["HOLDPOINT_PROPERTY_RUNS"] ?? 300) };

describe("quiet hours", () => {
  it("end at the first minute that is not quiet, whatever the clocks do", () => {
    let changed = 0;
    fc.assert(
      fc.property(quiet, moment, (hours, at) => {
        let expected = at;
        if (isQuiet(hours, at)) {
          expected = Math.floor(at / MINUTE) * MINUTE;
          while (isQuiet(hours, expected)) expected += MINUTE;
          const straight = wall(hours.timeZone, at - (at % MINUTE) + DAY) !== wall(hours.timeZone, at - (at % MINUTE));
          if (straight) changed += 1;
        }
        expect(new Date(afterQuiet(hours, at)).toISOString()).toBe(new Date(expected).toISOString());
      }),
      RUNS,
    );
    // Nights in which the clocks change were among them.
    expect(changed).toBeGreaterThan(0);
  });
});

describe("reminders of one question", () => {
  it("keep their order, their cap's distance and their quiet over every sleep", () => {
    fc.assert(
      fc.property(
        fc.record({
          afterMs: fc.integer({ min: 1, max: 48 * 60 }).map((minutes) => minutes * MINUTE),
          everyMs: fc.integer({ min: 1, max: 48 * 60 }).map((minutes) => minutes * MINUTE),
          quiet: fc.option(quiet, { nil: undefined }),
        }),
        moment,
        // How late each look at the clock is: a timer's jitter, or a machine that slept.
        fc.array(
          fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: HOUR, max: 36 * HOUR })),
          {
            minLength: 1,
            maxLength: 8,
          },
        ),
        ({ afterMs, everyMs, quiet: hours }, asked, delays) => {
          const policy = { afterMs, everyMs, atMost: 20, ...(hours === undefined ? {} : { quiet: hours }) };
          let due = nextReminder(policy, asked, asked);
          expect(due).toBeGreaterThanOrEqual(asked + afterMs);
          for (const delay of delays) {
            // What is due while nobody looks is sent when somebody does, and not in the night.
            const sent = hours === undefined ? due + delay : afterQuiet(hours, due + delay);
            if (hours !== undefined) expect(isQuiet(hours, sent)).toBe(false);
            const next = nextReminder(policy, asked, sent);
            expect(next).toBeGreaterThan(sent);
            // One beat ahead at most, but for the night.
            if (hours === undefined) {
              expect(next - sent).toBeLessThanOrEqual(everyMs);
              expect((next - asked - afterMs) % everyMs).toBe(0);
            } else expect(next - sent).toBeLessThanOrEqual(everyMs + 26 * HOUR);
            due = next;
          }
        },
      ),
      RUNS,
    );
  });
});
