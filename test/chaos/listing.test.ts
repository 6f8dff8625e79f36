// The operator of the chaos run tells the truth: what is in the chat is found there, also when no name stands in it.
import { describe, expect, test } from "vitest";

import type { LedgerMessage } from "../../adapters/telegram/sim/index.ts";
import type { MessageFact } from "./facts.ts";
import { looksLike } from "./listing.ts";

const QUESTION = "Q1-1: shall it go on?";

function shown(text: string, part: Partial<LedgerMessage> = {}): LedgerMessage {
  return { from: "bot", text, versions: [], buttons: [], ...part } as unknown as LedgerMessage;
}

function sent(type: string, ...about: string[]): MessageFact {
  const purpose = type.startsWith("reply.") ? "reply" : "delivery";
  return { effectNo: 1, shortId: "e-1", purpose, type, status: "ambiguous", place: "1001", error: null, about };
}

const CARD = shown(QUESTION);
const PROMPT = shown("How? Reply to this message.", { forceReply: "only" });
const STATUS = shown("Service: running");

describe("a message in doubt", () => {
  test.each([
    ["a card", sent("card.post", QUESTION), [CARD]],
    ["a question for text", sent("reply.promptText", QUESTION), [PROMPT]],
    ["the answer to a command", sent("reply.serviceStatus"), [STATUS]],
  ])("%s is found by what it is, and nothing else is taken for it", (_what, message, expected) => {
    expect([CARD, PROMPT, STATUS].filter((each) => looksLike(message, each))).toEqual(expected);
  });

  test("a card whose look has changed since is found by its first look", () => {
    const settled = shown("Approved.", { versions: [CARD] });
    expect(looksLike(sent("card.post", QUESTION), settled)).toBe(true);
  });
});
