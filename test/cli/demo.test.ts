// The demo's parts that need no process: answers from the command line and the phone.

import { Readable } from "node:stream";

import { expect, test } from "vitest";

import { keyboardAnswerer, listAnswerer } from "../../src/cli/demo/answerer.ts";
import { APPROVE, choiceIndex, DEMO_CHOICES, parseAnswer } from "../../src/cli/demo/answers.ts";
import { Context, type Io } from "../../src/cli/context.ts";
import { drawMessage, liveButtons } from "../../src/cli/demo/phone.ts";
import type { PhoneMessage } from "../../src/cli/demo/stand-in.ts";
import { displayWidth } from "../../src/cli/layout.ts";
import deploy from "../../docs/examples/deploy.workflow.ts";
import { decisionSummary } from "../client/views.ts";

test("an answer is a choice, or a choice with text that may hold further equal signs", () => {
  expect(parseAnswer("approve")).toEqual({ choice: "approve", text: null });
  expect(parseAnswer("replan=use pool=blue")).toEqual({ choice: "replan", text: "use pool=blue" });
});

test("the choices that are known before anything is started are those of the example", () => {
  const { choices } = deploy.nodes["approve"] as unknown as {
    choices: Record<string, { label: string; input?: object }>;
  };
  const found = Object.entries(choices).map(([id, { label, input }]) => ({ id, label, input: input !== undefined }));
  expect(found).toEqual(DEMO_CHOICES);
});

test.each([
  ["approve", 0],
  ["APPROVE", 0],
  ["Replan=x", 1],
  ["stop", 2],
])("%s is choice number %i", (given, index) => {
  expect(choiceIndex(parseAnswer(given), decisionSummary().choices)).toBe(index);
});

test.each([
  ["aprove", /Did you mean approve\?/],
  ["replan", /--answer 'replan=/],
  ["approve=now", /takes no text|Give only/],
])("%s is refused with what to write instead", (given, remedy) => {
  expect(() => choiceIndex(parseAnswer(given), decisionSummary().choices)).toThrowError(
    expect.objectContaining({ kind: "usage", remedy: expect.stringMatching(remedy) }),
  );
});

const message: PhoneMessage = {
  id: 7,
  from: "bot",
  text: "🟡 Approve the deployment\nshop-api 4.12.0 to production\n\n• Three migrations, all reversible, and a line that is too long for the phone",
  entities: [{ type: "bold", offset: 3, length: 22 }],
  buttons: [
    [
      { text: "Approve", data: "a" },
      { text: "Replan…", data: "b" },
    ],
    [{ text: "Approved by Ann 12:03", disabled: true }],
  ],
  deleted: false,
  versions: [],
  at: 0,
};
const io: Io = {
  out: () => {},
  err: () => {},
  env: {},
  stdin: process.stdin,
  terminal: true,
  columns: 80,
  onSignal: () => () => {},
};

test("the phone shows the whole message in a box, its buttons numbered, the disabled one without a number", () => {
  const lines = drawMessage(new Context(io, "demo", {}), message, "Ann's phone");
  const text = lines.join("\n");
  expect(text).toContain("[1] Approve   [2] Replan…");
  expect(text).toContain("[ ] Approved by Ann 12:03");
  // oxlint-disable-next-line no-control-regex -- our own colours
  const widths = lines.map((line) => displayWidth(line.replace(/\u001b\[\d+m/g, "")));
  expect(new Set(widths).size).toBe(1);
  expect(text).toContain("\u001b[1m🟡 Approve the deployment");
});

test("--plain draws no box and no colour", () => {
  const text = drawMessage(new Context(io, "demo", { plain: true }), message, "Ann's phone").join("\n");
  expect(text).not.toMatch(/[│┌└]/);
  expect(text).not.toContain("\u001b");
  expect(text).toContain("[1] Approve");
});

test("only buttons that do something can be pressed", () => {
  expect(liveButtons(message).map((button) => button.text)).toEqual(["Approve", "Replan…"]);
});

const card: PhoneMessage = { ...message, id: 11 };
const prompt: PhoneMessage = { ...message, id: 12, buttons: [], forceReply: "only" };
const turn = { card, prompt: undefined, decision: decisionSummary() };

function typing(...lines: string[]): Context {
  return new Context({ ...io, stdin: Readable.from(lines.map((line) => `${line}\n`)) }, "demo", {});
}

test("at the keyboard a number presses a button, words are a reply, and what is neither is asked again", async () => {
  const answerer = keyboardAnswerer(typing("", "9", "2", "later please", "42"), new AbortController().signal);
  expect(await answerer.next(turn)).toEqual({ tap: 1 });
  expect(await answerer.next(turn)).toEqual({ text: "later please" });
  expect(await answerer.next({ ...turn, prompt })).toEqual({ text: "42" });
  answerer.close();
});

test("when the input ends the demo approves by itself", async () => {
  const answerer = keyboardAnswerer(typing(), new AbortController().signal);
  expect(await answerer.next(turn)).toEqual({ tap: 0 });
});

test("without a keyboard the given answers are used in order, one per card, then it approves", async () => {
  const answerer = listAnswerer(typing(), [parseAnswer("replan=use the blue pool")]);
  expect(await answerer.next(turn)).toEqual({ tap: 1 });
  expect(await answerer.next({ ...turn, prompt })).toEqual({ text: "use the blue pool" });
  expect(APPROVE.choice).toBe("approve");
  expect(answerer.unused()).toEqual([]);
  expect(await answerer.next({ ...turn, card: { ...card, id: 20 } })).toEqual({ tap: 0 });
});

test("what no card asked for is told at the end", async () => {
  const answerer = listAnswerer(typing(), ["approve", "stop"].map(parseAnswer));
  await answerer.next(turn);
  expect(answerer.unused()).toEqual([{ choice: "stop", text: null }]);
});

test("an answer that does not settle its card is an error, not a loop", async () => {
  const answerer = listAnswerer(typing(), []);
  await answerer.next(turn);
  await expect(answerer.next(turn)).rejects.toMatchObject({ kind: "demoFailed" });
});
