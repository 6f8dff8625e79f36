// JSON that people wrote: what JSON.parse takes, unless a key stands twice in one object.

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { parseJsonText } from "../../src/contracts/json-text.ts";

test("every JSON text with keys that differ is parsed as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseJsonText(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("a key that stands twice is named, however it is written and wherever it is", () => {
  const value = fc.jsonValue({ maxDepth: 2 }).map((given) => JSON.stringify(given));
  fc.assert(
    fc.property(fc.string(), value, value, fc.constantFrom("", " ", "\n"), (key, first, second, space) => {
      const name = JSON.stringify(key);
      const escaped = `"${units(key).join("")}"`;
      const object = `{${name}${space}:${first},${space}${escaped}:${second}}`;
      expect(() => parseJsonText(`{"a":[1,${object}]}`)).toThrow("stands twice in one object");
    }),
  );
});

test("the same key in two objects, or as a value, is no fault", () => {
  expect(parseJsonText('{"a":{"a":"a"},"b":["a","a",{"a":1}]}')).toEqual({ a: { a: "a" }, b: ["a", "a", { a: 1 }] });
});

/** A character as escapes, one for each UTF-16 unit. */
function units(character: string): string[] {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
  );
}
