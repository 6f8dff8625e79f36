// Twenty monitors over one change of the clocks and a sleep of 36 hours, in fast-forward: what people were told is what happened.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { playDay } from "../day/day.ts";
import { SHORT_DAY } from "../day/plan.ts";

test("a day of twenty monitors: every outage is told once with its end, whatever sleeps, flaps or stops reporting", async () => {
  const { alerts, checks, closed, duplicates, missed, monitors, problems, transcript, unseen } = await playDay(
    20,
    SHORT_DAY,
  );
  expect(problems).toEqual([]);
  expect({ monitors, missed, duplicates }).toEqual({ monitors: 20, missed: 0, duplicates: 0 });
  // Three outages, one target that flaps, one job that died.
  expect([alerts, closed]).toEqual([5, 3]);
  expect(checks).toBeGreaterThan(900);
  expect(unseen).toBeGreaterThan(5_000);
  // As the documentation shows it, but for the remark behind a line.
  const docs = readFileSync(new URL("../../docs/monitors.md", import.meta.url), "utf8");
  const shown = /people saw this and no more:\n\n```\n(.*?)\n```/s.exec(docs)?.[1]?.split("\n") ?? [];
  expect(shown.map((line) => line.split("   ")[0])).toEqual(transcript.map((text) => text.split("\n")[0]));
});
