// Normalization of presentations: it decides the same way twice, keeps every character, and what it lets through is valid.

import fc from "fast-check";
import { expect, test } from "vitest";

import { normalizePresentation, presentationSchema } from "../../src/contracts/decision/index.ts";
import { isHoldpointError } from "../../src/contracts/errors.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.constantFrom("a\r\nb", "a\rb", "\ud83d", "a\u0000", " ", "x".repeat(16_001), "\u202e", "tab\there"),
);
const anyBlock = fc.oneof(
  fc.record({ kind: fc.constantFrom("paragraph", "preformatted"), text: anyText }),
  fc.record({ kind: fc.constant("section"), title: anyText }),
  fc.record({ kind: fc.constant("bullets"), items: fc.array(anyText, { maxLength: 4 }) }),
  fc.record({
    kind: fc.constant("fields"),
    items: fc.array(fc.record({ label: anyText, value: anyText }), { maxLength: 3 }),
  }),
  fc.jsonValue({ maxDepth: 2 }),
);
const authored = fc.record({
  schema: fc.constantFrom("holdpoint.decision-presentation.v1", "pi-workflows.decision-presentation.v1"),
  summary: fc.oneof(fc.constant("What it is"), anyText),
  blocks: fc.array(anyBlock, { maxLength: 4 }),
});

/** The value with LF line ends in every text. */
function unixLines(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  if (Array.isArray(value)) return value.map(unixLines);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, unixLines(part)]));
}

test("a presentation is stored whole or refused with a named place; nothing in between", () => {
  let [stored, refused] = [0, 0];
  fc.assert(
    fc.property(authored, (value) => {
      let once;
      try {
        once = normalizePresentation(value);
      } catch (error) {
        refused += 1;
        expect(isHoldpointError(error) && error.kind).toBe("presentationInvalid");
        expect((error as Error).message).toMatch(/^presentation/);
        return;
      }
      stored += 1;
      expect(normalizePresentation(once)).toEqual(once);
      expect(presentationSchema.parse(JSON.parse(JSON.stringify(once)))).toEqual(once);
      expect({ summary: once.summary, blocks: once.blocks }).toEqual(
        unixLines({ summary: value.summary, blocks: value.blocks }),
      );
      for (const character of JSON.stringify(once))
        expect(character === "\\" || !/\p{Surrogate}/u.test(character)).toBe(true);
    }),
    { numRuns: 400 },
  );
  expect(stored).toBeGreaterThan(10);
  expect(refused).toBeGreaterThan(10);
});
