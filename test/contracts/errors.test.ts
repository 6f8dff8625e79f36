// The text of what was thrown, as people read it.
import { expect, test } from "vitest";
import { z } from "zod";

import { messageOf } from "../../src/contracts/errors.ts";

const thrownBy = (schema: z.ZodType, value: unknown): unknown => {
  try {
    return schema.parse(value);
  } catch (error) {
    return error;
  }
};

test("what a Zod schema refused is a sentence with its places, not JSON over many lines", () => {
  const schema = z.object({ title: z.string(), steps: z.array(z.object({ id: z.number() })) });
  const message = messageOf(thrownBy(schema, { steps: [{ id: "x" }] }));
  expect(message).toMatch(/^title: .*; steps\.0\.id: .*number/);
  expect(message).not.toMatch(/[{}\n]/);
});

test("many issues of a schema are counted instead of told", () => {
  const message = messageOf(
    thrownBy(
      z.array(z.string()),
      Array.from({ length: 50 }, () => 1),
    ),
  );
  expect(message).toMatch(/; and 40 more$/);
});

test("an error whose name is no text keeps its message", () => {
  expect(messageOf(Object.assign(new Error("mine"), { name: 5, issues: [{ message: "no" }] }))).toBe("mine");
});

test("what only looks like a validation keeps its own message, whatever it holds", () => {
  for (const issues of [[], "none", [null]])
    expect(messageOf(Object.assign(new Error("mine"), { name: "ZodError", issues }))).toMatch(/mine|cannot be read/);
});
