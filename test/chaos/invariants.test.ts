// The checker of the chaos run can fail: each thing that may never be, put into a good ending by hand, is found by its own rule.
import { expect, test } from "vitest";

import type { LedgerMessage, SimState } from "../../adapters/telegram/sim/index.ts";
import type { Facts, MessageFact } from "./facts.ts";
import { violationsOf, type Evidence, type ListedEffect, type RuleName } from "./invariants.ts";
import { SHORT, turnsOf, WHOLE, type Turn } from "./plan.ts";
import { expectedOf } from "./play.ts";

const CHAT = 1_001;
const QUESTION = "Q1-1: shall it go on?";
const ALERT = "A1-1: it burns";

function message(id: number, text: string, part: Partial<LedgerMessage> = {}): LedgerMessage {
  const look = { at: 0, text, entities: [], buttons: [] };
  const fixed = { chatId: CHAT, id, from: "bot" as const, silent: false, linkPreview: true, protected: false };
  return { ...look, ...fixed, reactions: [], deleted: false, versions: [], ...part };
}

function chatWith(messages: readonly LedgerMessage[]): SimState {
  const chats = [{ id: CHAT, type: "private" as const, messages: [...messages] }];
  return { chats } as unknown as SimState;
}

function effect(effectNo: number, type: string, about: string, part: Partial<MessageFact> = {}): MessageFact {
  const purpose = type === "card" ? "delivery" : "alert";
  return {
    effectNo,
    shortId: `e-${effectNo}`,
    purpose,
    type,
    status: "applied",
    place: String(CHAT),
    error: null,
    about: [about],
    ...part,
  };
}

/** One question that was answered, and one alert that was shown. */
function goodEnding(): Evidence {
  return {
    expected: {
      runs: 1,
      decisions: [{ name: "Q1-1", chats: [CHAT] }],
      alerts: [{ name: "A1-1", chats: [CHAT] }],
    },
    facts: {
      runs: [{ title: "errand 1", status: "completed" }],
      decisions: [{ title: QUESTION, status: "accepted", resolutions: 1, continuations: 1, won: 1 }],
      alerts: [{ title: ALERT, audience: "team-1" }],
      messages: [effect(1, "card", QUESTION), effect(2, "alert.card", ALERT)],
      parts: [
        { effectNo: 1, place: String(CHAT), part: 1, state: "accepted", reference: `${CHAT}:1` },
        { effectNo: 2, place: String(CHAT), part: 1, state: "accepted", reference: `${CHAT}:2` },
      ],
    },
    ledger: chatWith([message(1, QUESTION), message(2, ALERT)]),
    listing: { effects: [], pending: [], runs: [] },
    leaks: [],
    verified: [],
  };
}

const facts = (change: (good: Facts) => Partial<Facts>): Evidence => {
  const good = goodEnding();
  return { ...good, facts: { ...good.facts, ...change(good.facts) } };
};
const more = (...messages: LedgerMessage[]): Evidence => ({
  ...goodEnding(),
  ledger: chatWith([message(1, QUESTION), message(2, ALERT), ...messages]),
});
/** The good ending with a further copy, whose place the effect's second attempt knows. */
const copied = (text: string, effectNo: number): Evidence => {
  const evidence = more(message(3, text));
  const second = { effectNo, place: String(CHAT), part: 1, state: "accepted", reference: `${CHAT}:3` };
  return { ...evidence, facts: { ...evidence.facts, parts: [...evidence.facts.parts, second] } };
};
const unclear = (evidence: Evidence, effectNo: number, state = "ambiguous"): Evidence => {
  const part = { effectNo, place: String(CHAT), part: 1, state, reference: null };
  return { ...evidence, facts: { ...evidence.facts, parts: [...evidence.facts.parts, part] } };
};
const listed = (part: Partial<ListedEffect>): Evidence => ({
  ...goodEnding(),
  listing: {
    effects: [{ shortId: "e-1", type: "card", status: "pending", name: null, error: null, settleWith: null, ...part }],
    pending: [],
    runs: [],
  },
});

/** Rule → endings that break it. */
const BROKEN: Readonly<Record<RuleName, readonly Evidence[]>> = {
  everyDecisionOnce: [
    facts(() => ({ decisions: [] })),
    facts(({ decisions }) => ({ decisions: [...decisions, ...decisions] })),
    facts(({ decisions }) => ({ decisions: decisions.map((row) => ({ ...row, resolutions: 2 })) })),
    facts(({ decisions }) => ({ decisions: decisions.map((row) => ({ ...row, won: 2 })) })),
    facts(({ decisions }) => ({ decisions: decisions.map((row) => ({ ...row, continuations: 2 })) })),
    facts(({ decisions }) => ({ decisions: decisions.map((row) => ({ ...row, status: "pending" })) })),
    facts(() => ({ runs: [{ title: "errand 1", status: "failed" }] })),
    facts(({ runs }) => ({ runs: [...runs, ...runs] })),
  ],
  everyCopyHasAttempt: [
    more(message(3, "Something that nobody sent")),
    // An unclear attempt of the question explains no copy of the alert.
    unclear(more(message(3, `${ALERT}\nPossible repeat of the message from 12:00.`)), 1),
  ],
  noSilentCopy: [copied(QUESTION, 1), copied(ALERT, 2), unclear(more(message(3, ALERT)), 2)],
  noAlertLost: [
    facts(() => ({ alerts: [] })),
    { ...goodEnding(), ledger: chatWith([message(1, QUESTION)]) },
    { ...goodEnding(), ledger: chatWith([message(1, QUESTION), message(2, ALERT, { deleted: true })]) },
  ],
  settledOrListed: [
    listed({ status: "pending" }),
    listed({ status: "applying" }),
    listed({ status: "ambiguous" }),
    { ...goodEnding(), listing: { effects: [], pending: [{ name: "Q1-1", pressable: 0 }], runs: [] } },
    {
      ...goodEnding(),
      listing: { effects: [], pending: [], runs: [{ title: "errand 1", status: "running", nextStep: null }] },
    },
  ],
  everythingEnds: [
    facts(({ messages }) => ({ messages: messages.map((row) => ({ ...row, status: "ambiguous" })) })),
    {
      ...goodEnding(),
      ledger: chatWith([message(1, QUESTION, { buttons: [[{ text: "Approve", data: "t" }]] }), message(2, ALERT)]),
    },
  ],
  tokenNowhere: [{ ...goodEnding(), leaks: ["a log (raw)"] }],
  chainIntact: [{ ...goodEnding(), verified: ["event 3 does not fit"] }],
};

test("a good ending breaks no rule", () => {
  expect(violationsOf(goodEnding())).toEqual([]);
});

test.each(
  Object.entries(BROKEN).flatMap(([rule, endings]) => endings.map((ending, at) => [rule, at + 1, ending] as const)),
)("%s finds what breaks it (%d)", (rule, _at, ending) => {
  expect(violationsOf(ending).map((found) => found.rule)).toContain(rule);
});

test("a copy that says so, an attempt that is unclear, a refusal on record and a doubt with its command break nothing", () => {
  const repeat = `${ALERT}\nPossible repeat of the message from 12:00.`;
  expect(violationsOf(copied(repeat, 2))).toEqual([]);
  expect(violationsOf(unclear(more(message(3, repeat)), 2))).toEqual([]);
  // Somebody said that it did arrive, and not which message it is.
  expect(violationsOf(unclear(more(message(3, repeat)), 2, "accepted"))).toEqual([]);
  const refused = facts(({ messages }) => ({
    messages: messages.map((row) => (row.effectNo === 2 ? { ...row, status: "rejected", error: "blocked" } : row)),
  }));
  expect(violationsOf({ ...refused, ledger: chatWith([message(1, QUESTION)]) })).toEqual([]);
  expect(violationsOf(listed({ status: "ambiguous", settleWith: "holdpoint channel recover e-1" }))).toEqual([]);
});

function firstTurns(seed: number): Turn[] {
  const turns = turnsOf(seed, WHOLE);
  return Array.from({ length: WHOLE.turns }, () => turns.next().value);
}

test("a seed repeats the order of faults and deaths, and another one has another order", () => {
  expect(firstTurns(7)).toEqual(firstTurns(7));
  expect(firstTurns(7)).not.toEqual(firstTurns(8));
});

test("the whole form is 500 decisions and 2,000 alerts, and each kind of fault is in it", () => {
  const { alerts, decisions } = expectedOf(WHOLE);
  expect([decisions.length, alerts.length]).toEqual([500, 2_000]);
  const turns = firstTurns(1);
  expect(turns.reduce((sum, { starts }) => sum + starts, 0)).toBe(WHOLE.runs);
  const kinds = new Set(turns.flatMap(({ faults }) => faults.map(({ kind }) => kind)));
  expect([...kinds].sort()).toEqual(["drop", "hang", "malformed", "reject", "serverError", "slow", "tooMany"]);
  for (const kill of ["server", "adapter"] as const) expect(turns.some(({ kills }) => kills.includes(kill))).toBe(true);
  expect(expectedOf(SHORT).decisions.length).toBeGreaterThan(0);
});
