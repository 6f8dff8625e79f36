// Whatever a model puts around its JSON, the JSON is found; whatever else it writes costs a bounded number of looks.

import fc from "fast-check";
import { expect, test } from "vitest";

import { AGENT } from "../../src/contracts/limits.ts";
import { jsonCandidates } from "../../src/workflow/engine/json-text.ts";

/** An object or list, as JSON has it. */
const value = fc
  .oneof(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), fc.array(fc.jsonValue({ maxDepth: 3 })))
  .map((one) => JSON.parse(JSON.stringify(one)) as unknown);
const words = fc.stringMatching(/^[A-Za-z0-9 ,.:;!?'\n-]{0,60}$/);
/** Words with brackets and quotes that nobody closes. */
const litter = fc
  .array(fc.oneof(words, fc.constantFrom("{", "[", '"', '{"a', "[1,", "\\")), { maxLength: 20 })
  .map((parts) => parts.join(" "));
const written = fc
  .tuple(value, fc.constantFrom(undefined, 2))
  .map(([one, indent]) => ({ one, json: JSON.stringify(one, null, indent) }));

/** The readings of a text. */
const readings = (text: string): unknown[] => [...jsonCandidates(text)].map((candidate) => candidate.value);

test("JSON that is the whole text is the only reading", () => {
  fc.assert(
    fc.property(written, fc.constantFrom("", " ", "\n"), ({ json, one }, space) => {
      expect(readings(`${space}${json}${space}`)).toEqual([one]);
    }),
  );
});

test("JSON in a code block is found among words, and the last block comes first", () => {
  fc.assert(
    fc.property(written, written, words, words, fc.constantFrom("", "json"), (first, last, before, after, tag) => {
      fc.pre(!`${first.json}${last.json}`.includes("```"));
      const block = (json: string): string => `\`\`\`${tag}\n${json}\n\`\`\``;
      const found = readings(`${before}x\n${block(first.json)}\nor\n${block(last.json)}\n${after}`);
      expect(found[0]).toEqual(last.one);
      expect(found).toContainEqual(first.one);
    }),
  );
});

test("JSON among words and litter is found", () => {
  fc.assert(
    fc.property(written, litter, words, ({ json, one }, before, after) => {
      expect(readings(`So ${before} ${json} ${after}`)).toContainEqual(one);
    }),
  );
});

test("of any text there are at most as many readings as places that are tried, all of them objects or lists", () => {
  const hostile = fc
    .array(fc.constantFrom("{", "}", "[", "]", '"', "\\", "```", "\n", "1", ","), { maxLength: 2_000 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 500 }), hostile), (text) => {
      const found = readings(text);
      expect(found.length).toBeLessThanOrEqual(AGENT.jsonCandidates);
      for (const one of found) expect(typeof one === "object" && one !== null).toBe(true);
    }),
  );
});
