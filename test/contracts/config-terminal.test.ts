// The destination `terminal` in a configuration: nothing is sent there, and it is refused where it could never work.

import { expect, test } from "vitest";

import { parseConfig, postedTo } from "../../src/contracts/config.ts";

function parse(more: object): ReturnType<typeof parseConfig> {
  return parseConfig(JSON.stringify({ schema: "holdpoint.config.v1", ...more }), "config.json");
}

test("an audience may name the terminal, alone or beside chats, and nothing is sent to it", () => {
  const { audiences } = parse({ audiences: { desk: { destinations: ["terminal"] } } });
  expect(postedTo(audiences["desk"]?.destinations ?? [])).toEqual([]);
  expect(postedTo(["telegram:a/1", "terminal", "telegram:a/1", "telegram:b/2"])).toEqual([
    "telegram:a/1",
    "telegram:b/2",
  ]);
});

test("an audience for remote answers cannot name the terminal", () => {
  const desk = { destinations: ["terminal"], assurance: "remote" };
  expect(() => parse({ audiences: { desk } })).toThrow(/refuses answers from this machine/);
});

test("a user of this machine belongs to one person, by number", () => {
  const person = (id: string): object => ({ name: "A", terminal: [id] });
  expect(parse({ people: { a: person("uid:1000") } }).people["a"]?.terminal).toEqual(["uid:1000"]);
  expect(() => parse({ people: { a: person("root") } })).toThrow(/id -u/);
  expect(() => parse({ people: { a: person("uid:1"), b: person("uid:1") } })).toThrow(
    /people\.b\.terminal: id uid:1 already/,
  );
});

test("figures are served only at a port that exists", () => {
  expect(parse({}).metrics).toBeUndefined();
  expect(() => parse({ metrics: { port: 0 } })).toThrow(/metrics.port/);
});
