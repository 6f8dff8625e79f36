/** Texts that show nothing are none: nobody can read such a title, and nobody can tell such a button from another. */
import { describe, expect, test } from "vitest";
import { normalizeChoices } from "../../../src/contracts/decision/choices.ts";
import { normalizePresentation } from "../../../src/contracts/decision/presentation.ts";
import { isVisible } from "../../../src/contracts/decision/text.ts";
import { compute, defineWorkflow } from "../../../src/workflow/index.ts";

const INVISIBLE = {
  "zero-width space": "\u200b",
  "zero-width joiners": "\u200d\u200c",
  "direction controls": "\u202e\u2066\u2069",
  "byte order mark": "\ufeff",
  "no-break and em spaces": "\u00a0\u2003\u3000",
  "Hangul filler": "\u3164",
  "empty Braille cell": "\u2800",
  "variation selectors": "\ufe0f",
  "tag characters": "\u{e0041}",
  "soft hyphen": "\u00ad",
};

describe.each(Object.entries(INVISIBLE))("%s", (_name, text) => {
  test("is refused as a choice's label, naming the field", () => {
    expect(() => normalizeChoices([{ id: "yes", label: text }])).toThrow(/label.*(invisible characters only|is empty)/);
  });

  test("is refused as summary and as a section's title, naming the field", () => {
    const schema = "holdpoint.decision-presentation.v1";
    expect(() => normalizePresentation({ schema, summary: text, blocks: [] })).toThrow(/summary/);
    const blocks = [{ kind: "section", title: text }];
    expect(() => normalizePresentation({ schema, summary: "Deploy", blocks })).toThrow(/title/);
  });

  test("is refused as name and title of a workflow, naming the field", () => {
    const nodes = { a: compute({ run: () => 1 }) };
    expect(() => defineWorkflow({ name: text, startAt: "a", nodes })).toThrow(/name shows nothing/);
    expect(() => defineWorkflow({ name: "n", title: text, startAt: "a", nodes })).toThrow(/title shows nothing/);
  });
});

test("an emoji, a letter beside invisible characters, and other scripts can be seen", () => {
  for (const text of ["\u2705", "\u200bA", "\u0939\u093e\u0901", "👩‍💻", "\u200f\u05db\u05df"])
    expect(isVisible(text)).toBe(true);
});
