// When people are reminded: repeats, what was missed, and the quiet part of the day by the clock on the wall.

import { describe, expect, test } from "vitest";

import { policySchema } from "../../src/contracts/decision/index.ts";
import { afterQuiet, nextReminder } from "../../src/decision/index.ts";
import { HOUR, NOON } from "./examples.ts";

const MINUTE = 60_000;
const berlin = { from: "22:00", to: "07:00", timeZone: "Europe/Berlin" };
const at = (text: string): number => Date.parse(text);

describe("the schedule", () => {
  const policy = { afterMs: 30 * MINUTE, everyMs: HOUR, atMost: 3 };

  test("begins after its time and goes on at its pace", () => {
    expect(nextReminder(policy, NOON, NOON)).toBe(NOON + 30 * MINUTE);
    expect(nextReminder(policy, NOON, NOON + 30 * MINUTE)).toBe(NOON + 90 * MINUTE);
    expect(nextReminder(policy, NOON, NOON + 90 * MINUTE - 1)).toBe(NOON + 90 * MINUTE);
  });

  test("makes up for nothing: after a sleep of 36 hours the next one is ahead, on the same beat", () => {
    expect(nextReminder(policy, NOON, NOON + 36 * HOUR)).toBe(NOON + 36 * HOUR + 30 * MINUTE);
  });

  test("waits for the morning; what fell into the night is one reminder", () => {
    const quiet = { ...policy, quiet: berlin };
    const asked = at("2026-12-01T20:45:00Z"); // 21:45 in Berlin
    const first = nextReminder(quiet, asked, asked);
    expect(new Date(first).toISOString()).toBe("2026-12-02T06:00:00.000Z");
    expect(new Date(nextReminder(quiet, asked, first)).toISOString()).toBe("2026-12-02T06:15:00.000Z");
  });
});

describe("the quiet part of the day", () => {
  test.each([
    ["before it", "2026-12-01T20:59:59Z", "2026-12-01T20:59:59.000Z"],
    ["at its first second", "2026-12-01T21:00:00Z", "2026-12-02T06:00:00.000Z"],
    ["after midnight", "2026-12-02T01:23:45Z", "2026-12-02T06:00:00.000Z"],
    ["at its end", "2026-12-02T06:00:00Z", "2026-12-02T06:00:00.000Z"],
    ["in the night in which clocks go forward, an hour shorter", "2027-03-27T22:00:00Z", "2027-03-28T05:00:00.000Z"],
    ["in the night in which clocks go back, an hour longer", "2027-10-30T21:00:00Z", "2027-10-31T06:00:00.000Z"],
  ])("%s", (_name, from, until) => {
    expect(new Date(afterQuiet(berlin, at(from))).toISOString()).toBe(until);
  });

  test("that ends in the hour that does not exist ends when it would have come", () => {
    const quiet = { ...berlin, to: "02:30" };
    expect(new Date(afterQuiet(quiet, at("2027-03-27T23:00:00Z"))).toISOString()).toBe("2027-03-28T01:00:00.000Z");
  });

  test("that ends in the hour that comes twice ends the first time", () => {
    const quiet = { ...berlin, to: "02:30" };
    expect(new Date(afterQuiet(quiet, at("2027-10-30T22:00:00Z"))).toISOString()).toBe("2027-10-31T00:30:00.000Z");
  });

  test("must begin and end at different times, in a zone that exists", () => {
    const policy = (quiet: unknown): boolean =>
      policySchema.safeParse({ quorum: 1, remindAfter: { afterMs: 1, everyMs: 1, atMost: 1, quiet } }).success;
    expect(policy(berlin)).toBe(true);
    expect(policy({ ...berlin, to: "22:00" })).toBe(false);
    expect(policy({ ...berlin, timeZone: "Europe/Nowhere" })).toBe(false);
    expect(policy({ ...berlin, from: "24:00" })).toBe(false);
  });
});
