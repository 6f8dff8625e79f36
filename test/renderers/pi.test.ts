// What Pi draws of ours: never wider than its terminal by any measure, because Pi ends over such a line.

import fc from "fast-check";
import { expect, test } from "vitest";

import { messageLines, sessionText } from "../../renderers/pi/index.ts";
import { displayWidth } from "../../renderers/terminal/index.ts";
import { exampleCard } from "../decision/examples.ts";

/** Text, and the columns that Pi reckons for it. */
const WIDTHS: [string, number][] = [
  ["\u0e17\u0e33\u0e07\u0e32\u0e19", 5],
  ["\u0939\u093f\u0928\u094d\u0926\u0940 \u0915\u093e", 8],
  ["\u09ac\u09be\u0982\u09b2\u09be", 5],
  ["\u0ba4\u0bae\u0bbf\u0bb4\u0bcd", 4],
  ["\uff76\uff9e\uff77\uff9e", 4],
  ["\u2630", 2],
  ["\u4dc0", 2],
];

test.each(WIDTHS)("%s is %i columns wide", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

/** Columns that no terminal exceeds for the characters of this file. */
function most(text: string): number {
  const wide = /[\u2630\u4dc0]/u;
  return Array.from(text).reduce((sum, char) => sum + (/\p{Mn}/u.test(char) ? 0 : wide.test(char) ? 2 : 1), 0);
}

const options = (columns: number) => ({ columns, expanded: true, now: 0, timeZone: "UTC" });

test("no line of a message is wider than the terminal", () => {
  const hard = fc.array(fc.constantFrom(...WIDTHS.map(([text]) => text), " ", "x", "\u0e33", "\u093e"), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(hard, fc.integer({ min: 1, max: 60 }), (pieces, columns) => {
      const text = pieces.join("");
      const card = { ...exampleCard(), title: text === "" ? "x" : text };
      const lines = [
        ...messageLines({ kind: "notice", text }, options(columns)),
        ...messageLines({ kind: "decision", card, state: { status: { kind: "pending" } } }, options(columns)),
      ];
      for (const line of lines) expect(most(line.text)).toBeLessThanOrEqual(columns);
    }),
  );
});

test("what a step or a follow-up says reaches no terminal as an escape sequence", () => {
  const evil = "Look:\n\u001b]0;owned\u0007\u001b[2J";
  const run = { runId: "run-1", runShortId: "7k3f", workflow: "deploy", title: null };
  const step = {
    kind: "step",
    ...run,
    reason: "initial",
    requestId: "request-1",
    nodeId: "plan",
    contract: { kind: "assistantMessage", maxChars: 100 },
    statusDetail: null,
    text: evil,
  } as const;
  const followUp = { kind: "followUp", ...run, followUpId: "f-1", orderNumber: 1, prompt: evil } as const;
  for (const message of [step, followUp]) expect(sessionText(message)).toBe("Look:\n\u241b]0;owned\u2407\u241b[2J");
});
