// The keys of the extension: what the configuration says, and nothing that could keep Pi from starting.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shortcuts } from "../../../adapters/pi/extension/shortcuts.ts";

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), "hp-keys-"))));
afterEach(() => rmSync(home, { recursive: true }));

const USUAL = { scrollUp: "shift+up", scrollDown: "shift+down" };

function keys(config?: string): Record<string, string> {
  if (config !== undefined) writeFileSync(join(home, "config.json"), config);
  return Object.fromEntries(shortcuts({ HOLDPOINT_HOME: home }));
}

test("without a configuration they are the usual ones, and answering has none", () => {
  expect(keys()).toEqual(USUAL);
});

test("another key takes the place of the usual one, and null takes it away", () => {
  const given = { scrollUp: "alt+up", scrollDown: null, answer: "alt+a" };
  expect(keys(JSON.stringify({ pi: { shortcuts: given } }))).toEqual({ scrollUp: "alt+up", answer: "alt+a" });
});

test.each([
  ["that is no JSON", "{"],
  ["whose keys are no object", '{"pi": {"shortcuts": 5}}'],
  ["with unknown names", '{"pi": {"shortcuts": {"toString": "x", "jump": "y"}}}'],
])("a configuration %s leaves the usual ones", (_what, config) => {
  expect(keys(config)).toEqual(USUAL);
});

test("what is no text is no key", () => {
  expect(keys('{"pi": {"shortcuts": {"scrollUp": 5, "scrollDown": ""}}}')).toEqual({});
});
