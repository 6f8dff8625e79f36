/** What a model may have meant by what it submitted. */
import { describe, expect, test } from "vitest";
import { readings, validateSubmitted } from "../../../src/runner/agent/submitted.ts";

const all = (text: string): unknown[] => [...readings(text)];

describe("the readings of a submitted text", () => {
  test("a value that is no text has one reading", () => {
    expect([...readings({ a: 1 })]).toEqual([{ a: 1 }]);
  });
  test("JSON as a whole comes first, the text itself second", () => {
    expect(all(' {"a":1} ')).toEqual([{ a: 1 }, ' {"a":1} ']);
  });
  test("a fence around everything is taken off", () => {
    const text = '```json\n{"a":1}\n```';
    expect(all(text)).toEqual([{ a: 1 }, text]);
  });
  test("a scalar stays the text that it is", () => {
    expect(all("42")).toEqual(["42"]);
  });
  test("objects among words come after the text, brackets in strings do not count", () => {
    const text = 'See [1]: {"a":"}{","b":[2]} and {"c":3}.';
    expect(all(text)).toEqual([text, [1], { a: "}{", b: [2] }, { c: 3 }]);
  });
  test("a hostile text costs a bounded number of scans", () => {
    const text = "{".repeat(100_000);
    expect(all(text)).toEqual([text]);
  });
});

test("a report that holds JSON is taken as the report, if the step accepts text", async () => {
  const report = 'The answer was {"code": 7}.';
  expect(await validateSubmitted(report, (value) => Promise.resolve({ ok: true, value }))).toEqual({
    ok: true,
    value: report,
  });
});

test("when no reading fits, the model is told what was wrong with the first", async () => {
  const validated = await validateSubmitted('{"a":1}', (value) =>
    Promise.resolve({ ok: false, message: typeof value === "string" ? "a text" : "a is missing" }),
  );
  expect(validated).toEqual({ ok: false, message: "a is missing" });
});
