// One judgement for every answer: who, which version, decided or not, in time, which choice, which text, enough votes.

import { describe, expect, test } from "vitest";

import { resolutionSchema, type DecisionRequest, type DecisionVote } from "../../src/contracts/decision/index.ts";
import {
  cancelResolution,
  cardStatusOf,
  humanResolution,
  judgeAnswer,
  outageWindow,
  replyFor,
  replyForWinner,
  submissionOutcome,
  timeoutResolution,
  type AnswerVerdict,
  type Judgement,
} from "../../src/decision/index.ts";
import { exampleRequest, HOUR, NOON } from "./examples.ts";

const ANN = { allowed: true, personId: "ann", name: "Ann", mapped: true } as const;
const BEA = { allowed: true, personId: "bea", name: "Bea", mapped: true } as const;
const STRANGER = { allowed: false, reason: "notOnList" } as const;
const SOURCE = { channel: "telegram:ops", actorId: "4711", eventId: "tap-1" } as const;
const names = (id: string): string | undefined => ({ ann: "Ann", bea: "Bea" })[id];

const request = exampleRequest();
const deadline = request.expiresAt as number;

function judge(changes: Partial<Judgement> = {}, about: DecisionRequest = request): AnswerVerdict {
  return judgeAnswer({
    request: about,
    now: NOON + 1,
    requestDigest: about.requestDigest,
    choice: "approve",
    actor: ANN,
    votes: [],
    ...changes,
  });
}

function won(verdict: AnswerVerdict, about: DecisionRequest = request): ReturnType<typeof humanResolution> {
  if (verdict.kind !== "accepted") throw new Error(`expected an accepted answer, got ${verdict.kind}`);
  return resolutionSchema.parse(humanResolution(about, { ...verdict, source: SOURCE, assurance: "remote" }));
}

describe("the first valid answer wins", () => {
  test("a choice without text", () => {
    const verdict = judge();
    expect(verdict).toEqual({
      kind: "accepted",
      vote: { personId: "ann", choice: "approve", votedAt: NOON + 1 },
      graceAfterOutage: false,
    });
    expect(submissionOutcome(verdict)).toBe("won");
    expect(replyFor(verdict, request, { nameOf: names })).toEqual({ code: "chosen", label: "Approve" });
    expect(won(verdict)).toMatchObject({
      provenance: "human",
      choice: "approve",
      personId: "ann",
      assurance: "remote",
    });
  });

  test("a choice with its text exactly as it was typed, but for line ends", () => {
    const verdict = judge({ choice: "replan", input: " use the blue\r\npool " });
    expect(verdict).toMatchObject({ kind: "accepted", vote: { choice: "replan", input: " use the blue\npool " } });
    expect(replyFor(verdict, request, { nameOf: names })).toEqual({
      code: "textAccepted",
      label: "Replan",
      text: " use the blue\npool ",
    });
  });
});

describe("whoever comes later gets the stored winner, never an error", () => {
  const winner = won(judge());

  test("the same person's same answer is adopted", () => {
    const verdict = judge({ resolution: winner, now: NOON + 5 });
    expect(verdict).toEqual({ kind: "adopted", winner });
    expect(submissionOutcome(verdict)).toBe("adopted");
    expect(replyFor(verdict, request, { nameOf: names, personId: "ann" })).toEqual({
      code: "alreadyDecided",
      label: "Approve",
      by: "Ann",
      byReader: true,
      at: NOON + 1,
    });
  });

  test.each<[string, Partial<Judgement>]>([
    ["another choice of the same person", { choice: "stop" }],
    ["the same choice of another person", { actor: BEA }],
    ["another choice of another person", { actor: BEA, choice: "stop" }],
    ["an unknown choice", { choice: "nope" }],
    ["a text where none belongs", { input: "x" }],
    ["an answer after the deadline", { actor: BEA, now: deadline + 1 }],
  ])("%s", (_name, changes) => {
    const verdict = judge({ ...changes, resolution: winner });
    expect(verdict).toEqual({ kind: "alreadyDecided", winner });
    expect(submissionOutcome(verdict)).toBe("already_resolved");
    expect(replyFor(verdict, request, { nameOf: names, personId: "bea" })).toEqual({
      code: "alreadyDecided",
      label: "Approve",
      by: "Ann",
      at: NOON + 1,
    });
  });

  test("the same text is the same answer, whatever its line ends", () => {
    const replanned = won(judge({ choice: "replan", input: "use\nblue" }));
    expect(judge({ choice: "replan", input: "use\r\nblue", resolution: replanned }).kind).toBe("adopted");
    expect(judge({ choice: "replan", input: "use red", resolution: replanned }).kind).toBe("alreadyDecided");
  });

  test("the timeout's default, an expiry and a cancellation are winners too", () => {
    const ran = timeoutResolution(request, deadline + 7);
    expect(judge({ resolution: ran })).toEqual({ kind: "alreadyDecided", winner: ran });
    expect(replyForWinner(request, ran, { nameOf: names })).toEqual({ code: "expired", at: deadline, label: "Stop" });
    const open = exampleRequest({ onTimeout: undefined, expiresAt: NOON + HOUR });
    const expired = timeoutResolution(open, NOON + HOUR);
    expect(replyForWinner(open, expired, { nameOf: names })).toEqual({ code: "expired", at: NOON + HOUR });
    const cancelled = cancelResolution(request, { personId: "bea", source: null, assurance: null }, NOON + 3);
    expect(replyForWinner(request, cancelled, { nameOf: names })).toEqual({
      code: "cancelled",
      by: "Bea",
      at: NOON + 3,
    });
    for (const resolution of [ran, expired, cancelled]) expect(resolutionSchema.parse(resolution)).toEqual(resolution);
  });
});

describe("refused", () => {
  test("a stranger learns nothing, not even that it is decided or out of date", () => {
    const winner = won(judge());
    for (const changes of [{}, { resolution: winner }, { requestDigest: "sha256:0" }, { now: deadline }]) {
      const verdict = judge({ ...changes, actor: STRANGER });
      expect(verdict).toEqual({ kind: "notAllowed", reason: "notOnList" });
      expect(replyFor(verdict, request, { nameOf: names })).toEqual({ code: "notOnList" });
    }
  });

  test("an answer to another version of the question, decided or not", () => {
    const other = exampleRequest({ revision: 2 });
    expect(judge({ requestDigest: other.requestDigest })).toEqual({ kind: "stale" });
    expect(judge({ requestDigest: other.requestDigest, resolution: won(judge()) })).toEqual({ kind: "stale" });
    expect(submissionOutcome({ kind: "stale" })).toBe("rejected");
  });

  test("an unknown choice, also one that objects have by nature", () => {
    for (const choice of ["nope", "constructor", "__proto__", ""]) {
      expect(judge({ choice })).toEqual({ kind: "unknownChoice", choice, known: ["approve", "replan", "stop"] });
    }
  });

  test("a missing, needless, short or long text, with limit and value", () => {
    expect(replyFor(judge({ choice: "replan" }), request, { nameOf: names })).toEqual({
      code: "promptText",
      label: "Replan",
      prompt: "What should change?",
      minLength: 1,
      maxLength: 200,
    });
    expect(replyFor(judge({ input: "x" }), request, { nameOf: names })).toEqual({
      code: "textNotExpected",
      label: "Approve",
    });
    expect(replyFor(judge({ choice: "replan", input: "  " }), request, { nameOf: names })).toEqual({
      code: "textTooShort",
      limit: 1,
      seen: 0,
    });
    expect(replyFor(judge({ choice: "replan", input: "x".repeat(201) }), request, { nameOf: names })).toEqual({
      code: "textTooLong",
      limit: 200,
      seen: 201,
    });
    expect(replyFor(judge({ choice: "replan", input: "a\u0000" }), request, { nameOf: names })).toEqual({
      code: "textInvalid",
    });
  });
});

describe("the deadline", () => {
  test("the last millisecond before it counts, the deadline itself does not", () => {
    expect(judge({ now: deadline - 1 }).kind).toBe("accepted");
    const verdict = judge({ now: deadline });
    expect(verdict).toEqual({ kind: "expired", deadlineAt: deadline });
    expect(replyFor(verdict, request, { nameOf: names })).toEqual({ code: "expired", at: deadline });
  });

  test("an answer from the window after an outage is accepted to a deadline that fell inside it", () => {
    const outage = outageWindow(deadline - HOUR, deadline + HOUR);
    const inside = judge({ now: deadline + HOUR + 1, outage });
    expect(inside).toMatchObject({ kind: "accepted", graceAfterOutage: true });
    expect(won(inside).graceAfterOutage).toBe(true);
    expect(replyFor(inside, request, { nameOf: names })).toMatchObject({ code: "chosen", graceAfterOutage: true });
    expect(judge({ now: outage.until, outage }).kind).toBe("expired");
    expect(judge({ now: deadline + 5, outage: { from: NOON, to: deadline - 1, until: deadline + HOUR } }).kind).toBe(
      "expired",
    );
    expect(
      judge({ now: deadline + HOUR, outage: { from: deadline + 1, to: deadline + HOUR, until: deadline + 2 * HOUR } })
        .kind,
    ).toBe("expired");
  });

  test("a decision without a deadline never runs out", () => {
    const open = exampleRequest({ onTimeout: undefined });
    expect(judge({ now: Number.MAX_SAFE_INTEGER }, open).kind).toBe("accepted");
  });
});

describe("several persons", () => {
  const choices = { approve: { label: "Approve" }, stop: { label: "Stop" } };
  const two = exampleRequest({ choices }, { quorum: 2, veto: ["stop"] });
  const ann: DecisionVote = { personId: "ann", choice: "approve", votedAt: NOON };

  test("the first vote is recorded, the second decides", () => {
    const first = judge({}, two);
    expect(first).toMatchObject({ kind: "recorded", have: 1, need: 2, vote: { personId: "ann" } });
    expect(submissionOutcome(first)).toBe("recorded");
    expect(replyFor(first, two, { nameOf: names })).toEqual({
      code: "votesRecorded",
      label: "Approve",
      have: 1,
      need: 2,
    });
    expect(judge({ actor: BEA, votes: [ann] }, two)).toMatchObject({ kind: "accepted", vote: { personId: "bea" } });
  });

  test("one person is one vote, however often they tap", () => {
    expect(judge({ votes: [ann] }, two)).toMatchObject({ kind: "recorded", have: 1, need: 2 });
  });

  test("a veto decides alone", () => {
    expect(judge({ actor: BEA, choice: "stop", votes: [ann] }, two)).toMatchObject({
      kind: "accepted",
      vote: { choice: "stop" },
    });
  });
});

test("the card's state says who, where and when, or that nobody did", () => {
  const winner = won(judge({ choice: "replan", input: "use blue" }));
  expect(cardStatusOf(request, winner, names)).toEqual({
    kind: "chosen",
    provenance: "human",
    label: "Replan",
    text: "use blue",
    by: "Ann",
    channel: "telegram:ops",
    assurance: "remote",
    at: NOON + 1,
  });
  expect(cardStatusOf(request, timeoutResolution(request, deadline + 9), names)).toEqual({
    kind: "chosen",
    provenance: "timeout_policy",
    label: "Stop",
    at: deadline,
  });
  const open = exampleRequest({ onTimeout: undefined, expiresAt: NOON + HOUR });
  expect(cardStatusOf(open, timeoutResolution(open, NOON + HOUR), names)).toEqual({ kind: "expired", at: NOON + HOUR });
  const cancelled = cancelResolution(request, { personId: null, source: null, assurance: null }, NOON);
  expect(cardStatusOf(request, cancelled, names)).toEqual({ kind: "cancelled", at: NOON });
});
