// Digests do not depend on the order in which an object was built, and depend on everything else.

import fc from "fast-check";
import { expect, test } from "vitest";

import { canonicalJson, sha256Digest } from "../../src/contracts/canonical.ts";
import { normalizeRequest } from "../../src/contracts/decision/index.ts";
import { authoredRequest, BINDING, exampleRequest } from "../decision/examples.ts";

const json = fc.jsonValue({ maxDepth: 4 });

/** The same value, every object built in another order of keys. */
function rebuilt(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => rebuilt(item, order));
  if (typeof value !== "object" || value === null) return value;
  const made: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of order(Object.keys(value))) made[key] = rebuilt((value as Record<string, unknown>)[key], order);
  return made;
}

const reverse = (keys: string[]): string[] => [...keys].reverse();

test("canonical JSON is JSON: it parses back to the same value", () => {
  fc.assert(
    fc.property(json, (value) => {
      // JSON has one zero.
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("the order of keys changes neither text nor digest", () => {
  let reordered = 0;
  fc.assert(
    fc.property(json, (value) => {
      const other = rebuilt(value, reverse);
      if (JSON.stringify(other) !== JSON.stringify(value)) reordered += 1;
      expect(canonicalJson(other)).toBe(canonicalJson(value));
      expect(sha256Digest(other, { trailingNewline: true })).toBe(sha256Digest(value, { trailingNewline: true }));
    }),
  );
  expect(reordered).toBeGreaterThan(0);
});

test("different values have different canonical texts", () => {
  fc.assert(
    fc.property(json, json, (one, two) => {
      const same =
        JSON.stringify(rebuilt(one, (keys) => [...keys].sort())) ===
        JSON.stringify(rebuilt(two, (keys) => [...keys].sort()));
      expect(canonicalJson(one) === canonicalJson(two)).toBe(same);
    }),
  );
});

test("a request whose subject and presentation were built in another order is the same decision", () => {
  fc.assert(
    fc.property(json, (subject) => {
      const authored = authoredRequest({ subject });
      const presentation = rebuilt(authored["presentation"], reverse);
      const other = { ...authored, subject: rebuilt(subject, reverse), presentation };
      expect(normalizeRequest(other, BINDING).requestDigest).toBe(normalizeRequest(authored, BINDING).requestDigest);
      expect(normalizeRequest(other, BINDING).decisionId).toBe(normalizeRequest(authored, BINDING).decisionId);
    }),
  );
});

test("but the order of choices is what people see, so it counts", () => {
  const choices = authoredRequest()["choices"] as Record<string, unknown>;
  const turned = Object.fromEntries(Object.entries(choices).reverse());
  expect(exampleRequest({ choices: turned }).requestDigest).not.toBe(exampleRequest().requestDigest);
});
