// Lines on a terminal: they fit, and nothing from outside can move the cursor.

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { clean, cleanLines, displayWidth, hang, table } from "../../src/cli/layout.ts";

// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

test("cleaned text holds no control character, whatever it held before", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !CONTROL.test(clean(text))));
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => cleanLines(text).every((line) => !CONTROL.test(line))),
  );
});

test("an escape sequence is shown, not obeyed", () => {
  expect(clean("\u001b[31mred\u001b[0m\r\nline")).toBe("␛[31mred␛[0m line");
});

test("a paragraph fits the width with both indents", () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 60 }), fc.integer({ min: 40, max: 100 }), (text, width) =>
      hang(text, width, "To do: ", "  ").every((line) => displayWidth(line) <= width),
    ),
  );
});

test("a table fits the width by cutting its flexible column", () => {
  const columns = [{ title: "run" }, { title: "what", flexible: true }, { title: "started" }];
  const lines = table(columns, [["7k3f", "x".repeat(200), "Mon 30 Nov 12:00 UTC"]], 80);
  expect(lines[0]).toMatch(/^RUN {3}WHAT +STARTED$/);
  expect(displayWidth(lines[1] ?? "")).toBe(80);
  expect(lines[1]).toContain("…  Mon 30 Nov");
});
