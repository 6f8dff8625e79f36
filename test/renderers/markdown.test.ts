// Markdown becomes text and marks; nothing in it leads away, fetches, hides or moves anything.

import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { isWellFormed } from "../../src/contracts/canonical.ts";
import { inert } from "../../src/contracts/decision/inert.ts";
import { markdownText } from "../../renderers/markdown/index.ts";
import { renderNotification } from "../../renderers/telegram/index.ts";
import { ROOT } from "../harness/paths.ts";
import { text as hostile } from "../property/arbitrary.ts";

const marked = (source: string): [string, string][] => {
  const { marks, text } = markdownText(source);
  return marks.map(({ end, start, type }) => [type, text.slice(start, end)]);
};

describe("markdown", () => {
  test.each([
    ["# Report *of* today\nand", "Report of today\n\nand"],
    ["a **b** `c` _d_\nnext line", "a b c d\nnext line"],
    ["- one\n- two\n  1. deep\n  2. er", "\u2022 one\n\u2022 two\n  1. deep\n  2. er"],
    ["7. seven\n8. eight", "7. seven\n8. eight"],
    ["-\n- b", "\u2022\n\u2022 b"],
    ["> quoted\n> > twice", "\u2502 quoted\n\n\u2502 \u2502 twice"],
    ["```sh\nrm -rf x\n  y\n```\nend", "rm -rf x\n  y\n\nend"],
    ["| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n1 | 2"],
    ["above\n\n---\n\nbelow", "above\n\n\u2014\u2014\u2014\n\nbelow"],
    ["&amp; \\* &copy;", "& * \u00a9"],
  ])("%j is shown as %j", (source, shown) => {
    expect(markdownText(source).text).toBe(shown);
  });

  test("marks what it emphasizes, and code alone has no other mark", () => {
    expect(marked("**a `b` *c***")).toEqual([
      ["bold", "a "],
      ["code", "b"],
      ["italic", "c"],
      ["bold", " c"],
    ]);
    expect(marked("# T\n\n```\nx\n```")).toEqual([
      ["bold", "T"],
      ["pre", "x"],
    ]);
    expect(marked("**__twice__**")).toEqual([["bold", "twice"]]);
  });

  test("shows where a link leads, whatever it says, and makes none of text", () => {
    expect(markdownText("[your bank](https://evil.example/x)").text).toBe("your bank (https://evil.example/x)");
    expect(markdownText("<https://a.example>").text).toBe("https://a.example");
    expect(markdownText("[x](javascript:alert)").text).toBe("x (javascript:alert)");
    expect(markdownText("[](https://a.example)").text).toBe("https://a.example");
    expect(markdownText("[x](<https://a.example/\u202e>)").text).toBe("x (https://a.example/\u27e8U+202E\u27e9)");
    expect(markdownText("see www.a.example").text).toBe("see www.a.example");
  });

  test("shows images and HTML as text", () => {
    expect(markdownText("![a *cat*](http://a.example/c.png)").text).toBe("a *cat* (http://a.example/c.png)");
    expect(markdownText('<script>alert(1)</script>\n\n<img src="x">').text).toBe(
      '<script>alert(1)</script>\n\n<img src="x">',
    );
  });

  test("makes visible what hides, also what is written as an entity", () => {
    expect(markdownText("a\u0000b &#x202e; \u200b").text).toBe("a\u2400b \u27e8U+202E\u27e9 \u27e8U+200B\u27e9");
    const family = "\u{1F468}\u200d\u{1F469}\u200d\u{1F467}";
    expect(markdownText(`**${family}**`).text).toBe(family);
  });
});

const MARKUP = [
  "# ",
  "**",
  "_",
  "`",
  "```\n",
  "> ",
  "- ",
  "1. ",
  "[x](",
  "](y)",
  "![",
  "| a | b |\n|-|-|\n",
  "<b>",
  "&#0;",
  "&lt;",
  "\\",
  "\n\n",
  "\n",
  "\u0000",
];
const source = fc
  .array(fc.oneof(hostile({ lines: true, max: 400 }), fc.constantFrom(...MARKUP)), { maxLength: 30 })
  .map((parts) => parts.join(""));

test("whatever the source, its text is inert, its marks are sound and do not cross, and its seams lie in it", () => {
  fc.assert(
    fc.property(source, (given) => {
      const { marks, seams, text } = markdownText(given);
      expect(inert(text, { lines: true })).toBe(text);
      expect(isWellFormed(text)).toBe(true);
      for (const { end, start } of marks) {
        expect(start).toBeGreaterThanOrEqual(0);
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(text.length);
      }
      for (const one of marks)
        for (const other of marks)
          expect(one.start < other.start && other.start < one.end && one.end < other.end).toBe(false);
      const verbatim = marks.filter(({ type }) => type === "code" || type === "pre");
      for (const code of verbatim)
        for (const other of marks)
          expect(other === code || other.end <= code.start || other.start >= code.end).toBe(true);
      expect(seams.every((at) => at > 0 && at < text.length)).toBe(true);
      expect([...seams].toSorted((a, b) => a - b)).toEqual(seams);
    }),
    { numRuns: 300 },
  );
});

test("text without markup is shown as it is", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z\u05d0-\u05ea\u4e00-\u4fff ]{0,200}$/), (words) => {
      const plain = words.trim().replace(/ +/g, " ");
      expect(markdownText(plain).text).toBe(plain);
    }),
  );
});

test.each([
  ["stars", "*a".repeat(32_000)],
  ["brackets", "[".repeat(64_000)],
  ["links", "[a](b".repeat(12_800)],
  ["quotes", `${">".repeat(32_000)}\n${"a\n".repeat(16_000)}`],
  ["backticks", Array.from({ length: 350 }, (_, at) => "`".repeat(at)).join(" ")],
  ["lists", `${"- ".repeat(32_000)}x`],
  ["families", "\u{1F468}\u200d\u{1F469}\u200d\u{1F467}".repeat(8_000)],
  ["combining", `e${"\u0301".repeat(63_999)}`],
  ["one letter", "\u{1F600}".repeat(32_000)],
])("64,000 units of %s are shown, each part within its limit", (_name, given) => {
  const notification = {
    level: "final",
    workflowName: "w",
    title: null,
    runShortId: "7k3f",
    message: given,
    format: "markdown",
    at: 0,
  } as const;
  const parts = renderNotification(notification, { timeZone: "UTC", reference: 0 });
  expect(parts.length).toBeGreaterThan(0);
  for (const part of parts) {
    expect(part.text.length).toBeLessThanOrEqual(4_096);
    expect(isWellFormed(part.text)).toBe(true);
    for (const { length, offset } of part.entities) expect(offset + length).toBeLessThanOrEqual(part.text.length);
  }
});

describe("the parser", () => {
  /** Files that an entry loads when it starts. */
  function closure(entry: string): Set<string> {
    const seen = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const code = readFileSync(file, "utf8").replace(/import type [^;]*;/g, "");
      for (const [, target = ""] of code.matchAll(/(?:from|import)\s+"(\.[^"]+)"/g))
        visit(resolve(dirname(file), target));
    };
    visit(join(ROOT, entry));
    return seen;
  }

  test.each(["src/runner/main.ts", "src/cli/main.ts", "src/server/main.ts"])("is no part of %s", (entry) => {
    const loaded = [...closure(entry)];
    expect(loaded.length).toBeGreaterThan(10);
    expect(loaded.filter((file) => file.includes("renderers/markdown"))).toEqual([]);
  });

  test("is loaded by the first text that is Markdown, not when an adapter starts", () => {
    const loaded = [...closure("adapters/telegram/main.ts")];
    expect(loaded.some((file) => file.endsWith("renderers/markdown/index.ts"))).toBe(true);
    const early = loaded.filter((file) => /^import (?!type)[^;]*"markdown-it"/m.test(readFileSync(file, "utf8")));
    expect(early).toEqual([]);
  });
});
