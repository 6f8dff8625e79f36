// Times and durations as people read them.

import { expect, test } from "vitest";

import { clockTime, duration, preciseTime, when, zoneName } from "../../src/cli/times.ts";
import { NOON } from "../client/views.ts";

test.each([
  [-5, "0 ms"],
  [0, "0 ms"],
  [850, "850 ms"],
  [999.6, "1.0 s"],
  [1_234, "1.2 s"],
  [59_400, "59 s"],
  [59_600, "1 min"],
  [184_000, "3 min 4 s"],
  [7_500_000, "2 h 5 min"],
  [86_400_000 * 3 + 3_600_000 * 4, "3 d 4 h"],
])("%d ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test("a time names the zone of this machine", () => {
  expect(when(NOON, NOON)).toMatch(/^\w{3} \d{1,2} \w+ \d\d:\d\d \S+$/);
  expect(when(NOON, NOON).endsWith(zoneName(NOON))).toBe(true);
});

test("a precise time has milliseconds", () => {
  expect(preciseTime(NOON + 7)).toBe(`${clockTime(NOON)}.007`);
});

test("a time of another year names it", () => {
  const later = Date.UTC(2031, 5, 15, 12);
  expect(when(Date.UTC(2030, 5, 15, 12), later)).toContain("2030");
  expect(when(Date.UTC(2031, 1, 15, 12), later)).not.toContain("2031");
});
