// The words of a run's story: none of the events that the service writes is told by its type alone.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { timelineText } from "../../renderers/text/timeline.ts";

const STATE = fileURLToPath(new URL("../../src/state/", import.meta.url));
const EVENT =
  /"((?:run|runner|node|effect|decision|channel|operator)\.[A-Za-z]+|server\.(?:started|stopped|recovered))"/g;
/** Written by `tell` from an effect's purpose and a step, so that no literal stands in the sources. */
const MADE = [
  "delivery.recorded",
  "delivery.dispatching",
  "delivery.part",
  "delivery.outcome",
  "settlement.queued",
  "settlement.outcome",
  "reply.outcome",
];

test("every event type that src/state writes has words of its own", () => {
  const types = new Set(MADE);
  for (const file of readdirSync(STATE, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    for (const [, type = ""] of readFileSync(join(STATE, file), "utf8").matchAll(EVENT)) types.add(type);
  }
  expect(types).toContain("decision.refused");
  expect(types.size).toBeGreaterThan(30);
  for (const type of types) expect(timelineText({ type, detail: {} }), type).not.toBe(type);
});

test("a refused answer is told with who tried what, and why it did not count", () => {
  const detail = { reason: "unknownActor", choice: "approve", by: null, channel: "telegram:default" };
  expect(timelineText({ type: "decision.refused", detail })).toBe(
    "An answer did not count (unknown actor): approve by somebody who may not answer over telegram:default",
  );
});

test("a very long error is cut in the sentence", () => {
  const detail = { status: "failed", error: { message: "x".repeat(5_000) } };
  expect(timelineText({ type: "run.finished", detail }).length).toBeLessThan(250);
});

test("an unknown event is shown by its type", () => {
  expect(timelineText({ type: "future.event", detail: {} })).toBe("future.event");
});

test.each([
  ["observe", "Effect release may have happened; looking first (attempt 1)"],
  ["repeat", "Effect release is done again with the same key (attempt 1)"],
  ["fresh", "Effect release begins (attempt 1)"],
])("an effect that is reserved as %s is told as what it is", (state, words) => {
  expect(timelineText({ type: "effect.reserved", detail: { effectType: "release", attempt: 1, state } })).toBe(words);
});

test.each([
  "notOnList",
  "remoteOnly",
  "accountUnmapped",
  "terminalOff",
  "alreadyDecided",
  "stale",
  "expired",
  "unknownChoice",
  "tooLong: 4100",
])("an answer that was refused as %s is told in words", (reason) => {
  const text = timelineText({
    type: "decision.refused",
    detail: { reason, choice: "approve", by: "Ann", channel: "telegram" },
  });
  expect(text).not.toContain(reason.split(":")[0]);
  expect(text).toMatch(/^An answer did not count \([a-z ,]+(: 4100)?\): approve by Ann over telegram$/);
});

test("why a run waits for another runner is told in words", () => {
  const told = (cause: string): string => timelineText({ type: "run.requeued", detail: { cause, delayMs: 0 } });
  expect(told("timedOut")).toBe("Queued again after its runner gave no sign of life in time");
  expect(told("serverRestarted")).toBe("Queued again after a restart of the server");
});
