// Doubles of a decision, for every pair of ways to answer: two different answers at once, a hundred times before the sending of what they
// answer is confirmed and some times after; and both again while the next question is open. Each is answered and followed once.
import { expect, test } from "vitest";

import { Scope } from "../../harness/index.ts";
import { until } from "../stage.ts";
import { Arena, ROOMS, type Outcome, type Question } from "./arena.ts";
import { allWays, type Way, type WayName } from "./ways.ts";

/** Answered before the sending is confirmed, and after it. */
const DECISIONS = { early: 100, confirmed: 20 };
type Pair = readonly [Way, Way];

/**
 * Both answers to all questions, without waiting for the fate of either: who begins changes from question to question. What does not
 * come through the chat is quicker; where the chat begins, the other follows when the update has been handed out, or has its verdict.
 */
async function answerAtOnce(arena: Arena, questions: readonly Question[], pair: Pair, round: number): Promise<void> {
  const answers: Promise<number | null>[] = [];
  const acts: Promise<void>[] = [];
  const half = questions.length / 2;
  for (const [index, question] of questions.entries()) {
    if (index === (round % 2 === 0 ? half : 0)) acts.push(...pair.flatMap(({ all }) => all?.now(arena) ?? []));
    // Of what is all at once, every other round leaves half of the questions to.
    if (index === half && round % 2 === 1) await Promise.all(acts);
    const [one, two] = index % 2 === 0 ? pair : [pair[1], pair[0]];
    const first = one.answer(arena, question);
    const begins = one.byChat && !two.byChat ? first : Promise.resolve(null);
    const passes = index < half ? (id: number) => arena.handedOut(id) : (id: number) => arena.heard([id]);
    answers.push(
      first,
      begins.then(async (id) => {
        if (id !== null) await passes(id);
        return two.answer(arena, question);
      }),
    );
  }
  const updates = (await Promise.all(answers)).filter((id) => id !== null);
  await Promise.all(acts);
  await arena.heard(updates);
}

/** Lets the questions appear in all rooms with what the pair needs, the last message of each room unconfirmed when `early`. */
async function open(arena: Arena, titles: readonly string[], pair: Pair, early: boolean) {
  const needs = pair.flatMap((way) => way.needs ?? []);
  // What is still on its way from the round before must not be held.
  await arena.confirmed();
  let held = early && needs.length === 0 ? arena.hold() : undefined;
  const questions = await arena.ask(titles);
  if (held === undefined) await arena.confirmed();
  for (const [index, need] of needs.entries()) {
    if (early && index === needs.length - 1) held = arena.hold();
    await Promise.all(questions.map((question) => need(arena, question)));
    if (held === undefined) await arena.confirmed();
  }
  for (const { all } of pair) await all?.soon(arena);
  if (early) expect(arena.unconfirmed()).toBe(questions.length);
  return { questions, release: () => held?.release() };
}

/** What must hold for one decision, whoever was first. */
function expectOnce(outcome: Outcome, pair: Pair): void {
  const winners = pair.map(({ makes }) => makes);
  expect(winners).toContainEqual({ choice: outcome.choice, provenance: outcome.provenance });
  const cancelled = outcome.choice === null;
  expect(outcome).toMatchObject({
    decision: cancelled ? "cancelled" : "accepted",
    resolutions: 1,
    continuations: cancelled ? 0 : 1,
    runStatus: cancelled ? "cancelled" : "waiting",
    next: cancelled ? null : "pending",
  });
  expect(outcome.lines).toEqual(cancelled ? [] : [expect.stringContaining(`: ${outcome.choice}`)]);
  expect(outcome.submissions.filter((word) => word === "won")).toHaveLength(1);
}

const PAIRS: readonly (readonly [WayName, WayName])[] = [
  ["Ann's tap", "Bea's tap"],
  ["Ann's tap", "Bea's text"],
  ["Ann's tap", "the deadline"],
  ["Ann's tap", "the cancellation"],
  ["Ann's text", "Bea's text"],
  ["Ann's text", "the deadline"],
  ["Ann's text", "the cancellation"],
  ["the deadline", "the cancellation"],
];

test.each(PAIRS)("%s and %s: each of 120 decisions is followed exactly once", async (...names) => {
  const ways = allWays();
  const pair: Pair = [ways[names[0]], ways[names[1]]];
  const scope = new Scope();
  try {
    const arena = await Arena.open(scope);
    const won = new Map<string | null, number>();
    const decisions = { early: 0, confirmed: 0 };
    for (let batch = 0; decisions.confirmed < DECISIONS.confirmed; batch += 1) {
      const early = decisions.early < DECISIONS.early;
      const titles = Array.from({ length: ROOMS }, (_, room) => `Question ${batch}-${room};`);
      const { questions, release } = await open(arena, titles, pair, early);
      await answerAtOnce(arena, questions, pair, batch);
      const first = await until(() => settled(arena, questions), "an outcome of every decision");
      release();
      await until(
        () => questions.every((question) => ["pending", null].includes(arena.outcome(question).next)) && idle(arena),
        "the next questions",
      );
      const seen = questions.map((question) => arena.outcome(question));
      for (const outcome of seen) expectOnce(outcome, pair);
      // The same again, with the next question open: it changes nothing but the record of what came too late.
      await answerAtOnce(arena, questions, pair, batch);
      for (const [index, question] of questions.entries()) {
        const again = arena.outcome(question);
        expectOnce(again, pair);
        expect(await arena.cards(question)).toBe(1);
        expect([again.choice, again.lines]).toEqual([first[index]?.choice, seen[index]?.lines]);
        won.set(again.choice, (won.get(again.choice) ?? 0) + 1);
      }
      decisions[early ? "early" : "confirmed"] += questions.length;
      await Promise.all(
        questions.map(({ run }) => arena.client.call("run.cancel", { run, reason: null }).catch(() => undefined)),
      );
    }
    expect(decisions).toEqual(DECISIONS);
    // Each of the two was the first somewhere.
    expect(new Set(won.keys())).toEqual(new Set(pair.map(({ makes }) => makes.choice)));
  } finally {
    await scope.close();
  }
});

/** The outcomes when every decision has one and what follows has been done. */
function settled(arena: Arena, questions: readonly Question[]): Outcome[] | false {
  const outcomes = questions.map((question) => arena.outcome(question));
  return outcomes.every(
    ({ decision, lines }) => decision === "cancelled" || (decision === "accepted" && lines.length > 0),
  )
    ? outcomes
    : false;
}

/** No runner works on anything. */
function idle(arena: Arena): boolean {
  return arena.rows("SELECT 1 FROM run_queue WHERE status IN ('queued', 'starting', 'running') LIMIT 1").length === 0;
}
