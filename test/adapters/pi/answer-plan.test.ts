// What a line `/workflow answer …` means, and when one that names no decision counts.
import { expect, test } from "vitest";
import { planAnswer } from "../../../adapters/pi/extension/answer/plan.ts";
import type { CardState } from "../../../src/contracts/decision/card.ts";
import type { SessionDecision } from "../../../src/contracts/pi/session-view.ts";
import { exampleCard, HOUR, NOON } from "../../decision/examples.ts";

const card = exampleCard();

function decision(fingerprint: string, part: { shownAt?: number | null; state?: CardState } = {}): SessionDecision {
  const { shownAt = NOON, state = { status: { kind: "pending" } } } = part;
  return {
    messageId: "m",
    decisionId: `decision-${fingerprint}`,
    fingerprint,
    requestDigest: card.requestDigest,
    answerable: true,
    refusedBecause: null,
    shownAt,
    card: { ...card, fingerprint },
    state,
  };
}

const one = [decision("a91c4e")];

test("a line names decision and choice, and its text is kept as it is", () => {
  expect(planAnswer("a91c4e approve", one, NOON + HOUR)).toMatchObject({
    kind: "answer",
    choice: "approve",
    text: null,
    bare: false,
  });
  expect(planAnswer("a91c4e replan use  the 'blue' pool", one, NOON + HOUR)).toMatchObject({
    choice: "replan",
    text: "use  the 'blue' pool",
  });
});

test("what is left open is asked, and what does not fit is refused", () => {
  expect(planAnswer("", one, NOON)).toMatchObject({ kind: "ask" });
  expect(planAnswer("a91c4e", one, NOON)).toMatchObject({ kind: "ask" });
  expect(planAnswer("a91c4e publish", one, NOON)).toMatchObject({ kind: "refuse" });
  expect(planAnswer("a91c4e replan", one, NOON)).toMatchObject({ kind: "refuse" });
  expect(planAnswer("a91c4e approve really", one, NOON)).toMatchObject({ kind: "refuse" });
  expect(planAnswer("", [], NOON)).toMatchObject({ kind: "refuse" });
  expect(planAnswer("bbbbbb approve", one, NOON)).toMatchObject({ kind: "elsewhere", reference: "bbbbbb" });
});

test("a line that names no decision counts only for the only card, 2 s after it appeared and 30 s after another was settled", () => {
  expect(planAnswer("approve", one, NOON + 2_000)).toMatchObject({ kind: "answer", bare: true });
  expect(planAnswer("approve", one, NOON + 1_999)).toMatchObject({ kind: "refuse" });
  expect(planAnswer("approve", [decision("a91c4e", { shownAt: null })], NOON + HOUR)).toMatchObject({ kind: "refuse" });
  expect(planAnswer("approve", [...one, decision("bbbbbb")], NOON + HOUR)).toMatchObject({ kind: "refuse" });
  const settled: CardState = { status: { kind: "expired", at: NOON + HOUR } };
  const two = [...one, decision("bbbbbb", { state: settled })];
  expect(planAnswer("approve", two, NOON + HOUR + 29_999)).toMatchObject({ kind: "refuse" });
  expect(planAnswer("approve", two, NOON + HOUR + 30_000)).toMatchObject({ kind: "answer", bare: true });
});
