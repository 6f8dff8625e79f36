// Text from outside is shown literally: what could hide or reorder is made visible, what people need is left alone.

import { describe, expect, test } from "vitest";

import { cutToUnits, inert, judgeInput, type Choice } from "../../../src/contracts/decision/index.ts";

describe("made visible", () => {
  test.each([
    ["NUL", "a\u0000b", "a\u2400b"],
    ["ESC and its sequence", "\u001b[2Jx", "\u241b[2Jx"],
    ["C1 CSI", "\u009b31mx", "\u27e8U+009B\u27e931mx"],
    ["DEL", "a\u007f", "a\u2421"],
    ["right-to-left override", "invoice\u202efdp.exe", "invoice\u27e8U+202E\u27e9fdp.exe"],
    ["bidi isolates", "\u2066a\u2069", "\u27e8U+2066\u27e9a\u27e8U+2069\u27e9"],
    ["zero-width space", "a\u200bb", "a\u27e8U+200B\u27e9b"],
    ["word joiner and BOM", "\ufeffa\u2060", "\u27e8U+FEFF\u27e9a\u27e8U+2060\u27e9"],
    ["soft hyphen", "ap\u00adprove", "ap\u27e8U+00AD\u27e9prove"],
    ["Hangul filler", "a\u3164b", "a\u27e8U+3164\u27e9b"],
    ["line separator", "a\u2028b", "a\u27e8U+2028\u27e9b"],
    ["tag characters that smuggle text", "a\u{E0068}\u{E0069}", "a\u27e8U+E0068\u27e9\u27e8U+E0069\u27e9"],
    ["a second variation selector", "\u2764\ufe0f\ufe0f", "\u2764\ufe0f\u27e8U+FE0F\u27e9"],
    ["a joiner between Latin letters", "a\u200db", "a\u27e8U+200D\u27e9b"],
    ["half of a surrogate pair", "a\ud83d", "a\u27e8U+D83D\u27e9"],
  ])("%s", (_name, text, shown) => {
    expect(inert(text)).toBe(shown);
    expect(inert(shown)).toBe(shown);
  });

  test("line breaks and tabs, where one line must stay one", () => {
    expect(inert("a\n\tb\r")).toBe("a\u240a\u2409b\u240d");
    expect(inert("a\n\tb\r", { lines: true })).toBe("a\n\tb\u240d");
  });
});

test.each([
  ["a family", "\u{1F468}\u200d\u{1F469}\u200d\u{1F467}"],
  ["a heart in colour", "\u2764\ufe0f"],
  ["a heart on fire", "\u2764\ufe0f\u200d\u{1F525}"],
  ["a keycap", "1\ufe0f\u20e3"],
  ["the flag of Scotland", "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}"],
  ["Persian with its non-joiner", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"],
  ["Hindi with its joiner", "\u0915\u094d\u200d\u0937"],
  ["Hebrew and Arabic", "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"],
  ["Markdown and HTML, literally", "<script>&_*[x](http://evil)"],
])("left alone: %s", (_name, text) => {
  expect(inert(text)).toBe(text);
});

test("cutting never splits what a reader sees as one character", () => {
  const family = "\u{1F468}\u200d\u{1F469}\u200d\u{1F467}";
  expect(cutToUnits(`ab${family}`, 8)).toBe("ab\u2026");
  expect(cutToUnits("short", 5)).toBe("short");
  expect(cutToUnits("longer text", 7)).toBe("longer\u2026");
  expect(cutToUnits("\u{1F600}\u{1F600}", 3)).toBe("\u{1F600}\u2026");
});

describe("the text of an answer", () => {
  const choice: Choice = {
    id: "replan",
    label: "Replan",
    input: { type: "text", name: "instructions", prompt: "What?", minLength: 3, maxLength: 10 },
  };

  test("is measured in UTF-16 units and kept exactly, with the white space around it", () => {
    expect(judgeInput(choice, "\n\u{1F600}a \r\n")).toEqual({ kind: "ok", input: "\n\u{1F600}a \n" });
    expect(judgeInput(choice, "ab")).toEqual({ kind: "inputInvalid", rule: "minLength", limit: 3, seen: 2 });
    expect(judgeInput(choice, "     ")).toEqual({ kind: "inputInvalid", rule: "minLength", limit: 3, seen: 0 });
    expect(judgeInput(choice, "\u{1F600}".repeat(6))).toEqual({
      kind: "inputInvalid",
      rule: "maxLength",
      limit: 10,
      seen: 12,
    });
  });

  test.each([
    "\u200b\u200b\u200b",
    "\u2060\u2060\u2060",
    "\ufeff \ufe0f\u{E0100}",
    "\u3164\u115f\u2800",
    "\u{E0061}\u200d\u00ad",
  ])("of only invisible characters counts as empty: %j", (text) => {
    expect(judgeInput(choice, text)).toEqual({ kind: "inputInvalid", rule: "minLength", limit: 3, seen: 0 });
  });

  test("keeps its invisible characters where something can be seen", () => {
    expect(judgeInput(choice, "\u200babc")).toEqual({ kind: "ok", input: "\u200babc" });
    expect(judgeInput(choice, "\u2764\ufe0f\u200d")).toEqual({ kind: "ok", input: "\u2764\ufe0f\u200d" });
  });

  test("is required where it is declared and refused where it is not", () => {
    expect(judgeInput(choice, undefined)).toMatchObject({ kind: "inputRequired", name: "instructions" });
    expect(judgeInput({ id: "stop", label: "Stop" }, "why")).toEqual({ kind: "inputUnexpected" });
    expect(judgeInput({ id: "stop", label: "Stop" }, undefined)).toEqual({ kind: "ok" });
  });

  test("may hold lines but no other control characters and no broken pairs", () => {
    expect(judgeInput(choice, "a\nb\tc")).toEqual({ kind: "ok", input: "a\nb\tc" });
    expect(judgeInput(choice, "ab\u001bc")).toMatchObject({ kind: "inputInvalid", rule: "characters" });
    expect(judgeInput(choice, "abc\ud83d")).toMatchObject({ kind: "inputInvalid", rule: "characters" });
  });
});
