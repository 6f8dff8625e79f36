// The card on a terminal: boxed as in Pi, plain for everything else, right with wide characters.

import { expect, test } from "vitest";

import { inert } from "../../src/contracts/decision/index.ts";
import { cutToColumns, displayWidth, renderTerminalCard, wrapLine } from "../../renderers/terminal/index.ts";
import { exampleCard, HOUR, NOON } from "../decision/examples.ts";

const card = exampleCard();

test("waiting, in a box of 60 columns", () => {
  expect(
    renderTerminalCard(card, { status: { kind: "pending" } }, { columns: 60, answer: { command: "/workflow answer" } }),
  ).toEqual([
    "\u250c Decision \u2500 Approve the deployment \u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500 waiting \u2510",
    "\u2502 shop-api 4.12.0 to production                            \u2502",
    "\u2502                                                          \u2502",
    "\u2502 Changes                                                  \u2502",
    "\u2502 \u2022 Three migrations, all reversible                       \u2502",
    "\u2502 \u2022 Cache keys renamed                                     \u2502",
    "\u2502 Repository: shop-api                                     \u2502",
    "\u2502 Commit: 9f2c1e7                                          \u2502",
    "\u2502                                                          \u2502",
    `\u2502 /workflow answer ${card.fingerprint} approve | replan <text> | stop   \u2502`,
    `\u2514 deploy \u00b7 run 7k3f \u00b7 ${card.fingerprint} \u00b7 until 14:30, then: stop \u2500\u2500\u2500\u2500\u2518`,
  ]);
});

test("settled and plain, with nothing left to choose", () => {
  const state = {
    status: {
      kind: "chosen",
      provenance: "human",
      label: "Approve",
      by: "Ann",
      channel: "telegram:ops",
      at: NOON + HOUR,
    },
  } as const;
  const lines = renderTerminalCard(card, state, {
    columns: 80,
    plain: true,
    answer: "numbers",
    now: NOON + 30 * HOUR,
    nameZone: true,
  });
  expect(lines[0]).toBe("Decision: Approve the deployment (decided)");
  expect(lines.slice(-4)).toEqual([
    "Answer by Tue 14:30 CET. Without an answer: Stop.",
    "",
    "Approved by Ann, Tue 13:30 CET, in Telegram.",
    `deploy \u00b7 run 7k3f \u00b7 ${card.fingerprint}`,
  ]);
  expect(lines.join("\n")).not.toContain("[1]");
});

test("numbers for a demo", () => {
  const lines = renderTerminalCard(
    card,
    { status: { kind: "pending" } },
    { columns: 80, plain: true, answer: "numbers" },
  );
  expect(lines).toEqual(expect.arrayContaining(["[1] Approve", "[2] Replan <text>", "[3] Stop"]));
});

test("escape sequences and operating system commands reach no terminal", () => {
  const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31m";
  const lines = renderTerminalCard(
    { ...card, title: evil, workflowName: evil },
    { status: { kind: "cancelled", at: NOON, by: evil } },
    { columns: 80 },
  );
  expect(lines.join("\n")).toContain("owned");
  for (const line of lines) expect(inert(line)).toBe(line);
});

test.each([
  ["plain", 5],
  ["\u65e5\u672c\u8a9e", 6],
  ["\u{1F600}", 2],
  ["\u{1F468}\u200d\u{1F469}\u200d\u{1F467}", 2],
  ["\u{1F1E9}\u{1F1EA}", 2],
  ["e\u0301", 1],
  ["\u2764\ufe0f", 2],
  ["\u2764", 1],
  ["\uff21", 2],
  ["\u2022 \u00b7 \u2500", 5],
  ["\uac00", 2],
])("%s is %i columns wide", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test("lines wrap at words, words wrap at graphemes, hanging lines are indented", () => {
  expect(wrapLine("one two three four", 9, { words: true })).toEqual(["one two", "three", "four"]);
  expect(wrapLine("\u2022 one two three", 9, { words: true, indent: "  " })).toEqual(["\u2022 one two", "  three"]);
  expect(wrapLine("abcdefghij", 4, { words: true })).toEqual(["abcd", "efgh", "ij"]);
  expect(wrapLine("\u65e5\u672c\u8a9e\u6587", 5, { words: true })).toEqual(["\u65e5\u672c", "\u8a9e\u6587"]);
  expect(wrapLine("  a  b", 4, { words: false })).toEqual(["  a", " b"]);
  expect(wrapLine("", 10, { words: true })).toEqual([""]);
  expect(cutToColumns("\u65e5\u672c\u8a9e", 5)).toBe("\u65e5\u672c\u2026");
});
