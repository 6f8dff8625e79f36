// The checker can fail: each violation that is seeded into a good ending is found, by its own rule.
import { expect, test } from "vitest";

import { startSim, type SimState } from "../../adapters/telegram/sim/index.ts";
import { chainsOf } from "./chains.ts";
import type { Facts } from "./facts.ts";
import { RULES, violationsOf, type Evidence } from "./invariants.ts";
import { allPoints, shortPoints, unreachable } from "./points.ts";
import { SCENARIO_NAMES, SCENARIOS } from "./scenarios/index.ts";

const DECISION = "decision-1";
const FINGERPRINT = "abc123";

/** A run that was approved and is over, with its card settled. */
async function goodEnding(): Promise<Evidence> {
  return {
    facts: {
      runs: [
        { runNo: 1, runId: "run-1", status: "completed", queue: "done", steps: 3, leaseOwner: null, title: "good" },
      ],
      attempts: [
        { runNo: 1, nodeId: "plan", status: "completed", step: 0 },
        { runNo: 1, nodeId: "ask", status: "interrupted", step: null },
        { runNo: 1, nodeId: "ask", status: "completed", step: 1 },
        { runNo: 1, nodeId: "deploy", status: "completed", step: 2 },
      ],
      decisions: [{ decisionId: DECISION, runNo: 1, fingerprint: FINGERPRINT, status: "accepted" }],
      resolutions: [{ decisionId: DECISION, outcome: "accepted", provenance: "human", choice: "approve", input: null }],
      submissions: [submission("won")],
      continuations: [
        { runNo: 1, cause: "start", causeId: "run-1" },
        { runNo: 1, cause: "decision", causeId: DECISION },
      ],
      effects: [
        effect("delivery", { decisionId: DECISION, place: "1001" }),
        effect("settlement", { decisionId: DECISION, place: "1001", reference: "1001:1" }),
        effect("action", { runNo: 1, recovery: "manual" }),
      ],
      effectAttempts: [
        { effectId: "delivery", attempt: 1, state: "accepted", repeatOf: null },
        { effectId: "action", attempt: 1, state: "accepted", repeatOf: null },
      ],
      parts: [{ effectId: "delivery", attempt: 1, part: 1, state: "accepted", reference: "1001:1" }],
      events: [{ runNo: 1, type: "run.finished", payload: "{}" }],
      checkpoints: [],
      timers: [],
      inbox: [500],
      alive: [],
    },
    ledger: await chatWith([{ text: `Deploy ${FINGERPRINT}`, button: true }], true),
    acts: [{ kind: "tap", answers: true, user: 1_001, updateId: 500, messageId: 1, chat: 1_001 }],
    executions: new Map([["run-1", [{ node: "deploy", effectId: "action", attempt: 1 }]]]),
    endings: new Map([["run-1", { status: "completed", decisions: ["approve human"], actions: ["deploy"] }]]),
    verified: [],
    inboxKept: true,
    commands: [],
    needsResume: false,
    runnerDeaths: 0,
  };
}

/** Ann's answer. */
function submission(outcome: string): Facts["submissions"][number] {
  return { decisionId: DECISION, source: "channel", actorId: "1001", choice: "approve", input: null, outcome };
}

function effect(purpose: string, part: Partial<Facts["effects"][number]>): Facts["effects"][number] {
  return {
    effectId: purpose,
    shortId: `e-${purpose}`,
    purpose,
    type: purpose,
    recovery: null,
    runNo: null,
    decisionId: null,
    place: null,
    reference: null,
    status: "applied",
    prompt: 0,
    ...part,
  };
}

/** The state of a real stand-in to which these messages were sent, and whose buttons were taken off when `settled`. */
async function chatWith(messages: readonly { text: string; button: boolean }[], settled: boolean): Promise<SimState> {
  const sim = await startSim({ users: [{ id: 1_001, firstName: "Ann" }], chats: [{ id: 1_001, type: "private" }] });
  const api = async (method: string, body: object): Promise<void> => {
    const response = await fetch(`${sim.url}/bot${sim.token}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chat_id: 1_001, ...body }),
    });
    expect(response.ok).toBe(true);
  };
  try {
    for (const [index, { button, text }] of messages.entries()) {
      const reply_markup = { inline_keyboard: button ? [[{ text: "Approve", callback_data: "t" }]] : [] };
      await api("sendMessage", { text, reply_markup });
      if (settled) await api("editMessageText", { message_id: index + 1, text: `${text} is done` });
    }
    return sim.ledger.state();
  } finally {
    await sim.close();
  }
}

/** The good ending with a part of its facts replaced. */
async function withFacts(change: (facts: Facts) => Partial<Facts>): Promise<Evidence> {
  const good = await goodEnding();
  return { ...good, facts: { ...good.facts, ...change(good.facts) } };
}

async function rulesBroken(evidence: Evidence | Promise<Evidence>): Promise<string[]> {
  return [...new Set(violationsOf(await evidence).map(({ rule }) => rule))];
}

test("a good ending breaks no rule", async () => {
  expect(violationsOf(await goodEnding())).toEqual([]);
});

/** Rule → endings that break it. */
const SEEDED: Readonly<Record<keyof typeof RULES, readonly (() => Promise<Evidence>)[]>> = {
  oneResolution: [
    () => withFacts(({ resolutions }) => ({ resolutions: [...resolutions, ...resolutions] })),
    () => withFacts(() => ({ resolutions: [] })),
    () => withFacts(({ decisions }) => ({ decisions: decisions.map((row) => ({ ...row, status: "pending" })) })),
  ],
  oneContinuation: [
    () => withFacts(() => ({ checkpoints: [{ requestId: "c", runNo: 1, status: "settled" }] })),
    () => withFacts(() => ({ timers: [{ timerId: "t", status: "fired" }] })),
    () => withFacts(({ continuations }) => ({ continuations: [...continuations, ...continuations.slice(1)] })),
    () => withFacts(({ continuations }) => ({ continuations: continuations.slice(0, 1) })),
    () => withFacts(({ continuations }) => ({ continuations: continuations.slice(1) })),
    () =>
      withFacts(({ continuations }) => ({
        continuations: [...continuations, { runNo: 1, cause: "decision", causeId: "other" }],
      })),
  ],
  stepsInOrder: [
    () => withFacts(({ attempts }) => ({ attempts: attempts.slice(1) })),
    () => withFacts(({ attempts }) => ({ attempts: [...attempts, ...attempts.slice(-1)] })),
  ],
  referencesSettled: [
    () => withFacts(({ effects }) => ({ effects: effects.filter(({ purpose }) => purpose !== "settlement") })),
    () =>
      withFacts(({ effects }) => ({
        effects: effects.map((row) => (row.purpose === "settlement" ? { ...row, status: "rejected" } : row)),
      })),
    () =>
      withFacts(({ parts }) => ({
        parts: [...parts, { effectId: "delivery", attempt: 2, part: 1, state: "accepted", reference: "1001:2" }],
      })),
  ],
  nothingToPress: [
    async () => ({
      ...(await goodEnding()),
      ledger: await chatWith([{ text: `Deploy ${FINGERPRINT}`, button: true }], false),
    }),
    async () => ({ ...(await goodEnding()), ledger: await chatWith([{ text: "of nobody", button: true }], false) }),
  ],
  noSilentSecondCard: [
    async () => ({
      ...(await goodEnding()),
      ledger: await chatWith(
        ["", ""].map(() => ({ text: `Deploy ${FINGERPRINT}`, button: true })),
        true,
      ),
    }),
    async () => ({
      ...(await withFacts(({ effectAttempts }) => ({
        effectAttempts: [...effectAttempts, { effectId: "delivery", attempt: 2, state: "accepted", repeatOf: 1 }],
      }))),
      ledger: await chatWith(
        ["", ""].map(() => ({ text: `Deploy ${FINGERPRINT}`, button: true })),
        true,
      ),
    }),
  ],
  noLostAct: [() => withFacts(() => ({ inbox: [] })), () => withFacts(() => ({ inbox: [500, 500] }))],
  handledOnce: [
    () => withFacts(({ submissions }) => ({ submissions: [...submissions, submission("already_resolved")] })),
    () => withFacts(({ effects }) => ({ effects: [...effects, effect("reply", {})] })),
    () => withFacts(() => ({ submissions: [{ ...submission("won"), actorId: "6666" }] })),
  ],
  goesOnByItself: [
    async () => ({ ...(await goodEnding()), commands: ["resume run-1"] }),
    () =>
      withFacts(({ events }) => ({
        events: [...events, { runNo: 1, type: "run.parked", payload: '{"reason":"runnerNoProgress"}' }],
      })),
  ],
  noSilentSecondAction: [
    async () => withExecutions([1, 1]),
    async () => withExecutions([1, 2]),
    async () => ({
      ...(await goodEnding()),
      executions: new Map([["run-1", [{ node: "deploy", effectId: "unknown", attempt: 1 }]]]),
    }),
  ],
  nothingStuck: [
    () => withFacts(({ runs }) => ({ runs: runs.map((row) => ({ ...row, status: "waiting" })) })),
    () => withFacts(({ runs }) => ({ runs: runs.map((row) => ({ ...row, queue: "parked" })) })),
    () => withFacts(({ runs }) => ({ runs: runs.map((row) => ({ ...row, leaseOwner: "somebody" })) })),
    () =>
      withFacts(({ attempts }) => ({
        attempts: [...attempts, { runNo: 1, nodeId: "deploy", status: "running", step: null }],
      })),
    () => withFacts(({ effects }) => ({ effects: [...effects, effect("reply", { status: "ambiguous" })] })),
    () =>
      withFacts(({ effectAttempts }) => ({
        effectAttempts: [...effectAttempts, { effectId: "action", attempt: 2, state: "dispatching", repeatOf: null }],
      })),
    () => withFacts(() => ({ alive: ["runner run-1"] })),
  ],
  sameEnding: [
    async () => ({ ...(await goodEnding()), endings: new Map() }),
    () => withFacts(({ resolutions }) => ({ resolutions: resolutions.map((row) => ({ ...row, choice: "stop" })) })),
    () =>
      withFacts(({ resolutions }) => ({ resolutions: resolutions.map((row) => ({ ...row, input: "other words" })) })),
    () => withFacts(({ events }) => ({ events: [...events, ...events] })),
    async () => ({ ...(await goodEnding()), executions: new Map() }),
    () => withFacts(({ effects }) => ({ effects: effects.filter(({ purpose }) => purpose !== "action") })),
  ],
  chainIntact: [async () => ({ ...(await goodEnding()), verified: ["run run-1: event 2 does not fit the chain."] })],
};

async function withExecutions(attempts: readonly number[]): Promise<Evidence> {
  const lines = attempts.map((attempt) => ({ node: "deploy", effectId: "action", attempt }));
  return { ...(await goodEnding()), executions: new Map([["run-1", lines]]) };
}

test("a run that was parked after three deaths of its runner may be resumed, and after two it may not", async () => {
  const parked = { runNo: 1, type: "run.parked", payload: '{"reason":"runnerNoProgress"}' };
  const resumed = {
    ...(await withFacts(({ events }) => ({ events: [parked, ...events] }))),
    commands: ["resume run-1"],
  };
  expect(await rulesBroken({ ...resumed, runnerDeaths: 3 })).toEqual([]);
  expect(await rulesBroken({ ...resumed, runnerDeaths: 2 })).toContain("goesOnByItself");
});

test.each(Object.keys(RULES))("%s is seen to be broken", async (rule) => {
  const seeds = SEEDED[rule] ?? [];
  expect(seeds.length).toBeGreaterThan(0);
  for (const seed of seeds) expect(await rulesBroken(seed())).toContain(rule);
});

test("every label and every frame kind has a scenario that reaches it", () => {
  expect(unreachable()).toEqual([]);
});

test("no scenario hides another one of its name", () => {
  expect(SCENARIO_NAMES.toSorted()).toEqual(Object.keys(SCENARIOS).toSorted());
});

test("the short run has each label and frame once, some alone and some in a batch", () => {
  const short = shortPoints().map(({ name }) => name);
  const all = new Set(allPoints().map(({ name }) => name));
  expect(new Set(short).size).toBe(short.length);
  expect(short.filter((name) => !all.has(name))).toEqual([]);
  const batched = short.filter((name) => name.includes("+batch")).length;
  expect(batched).toBeGreaterThan(short.length / 4);
  expect(batched).toBeLessThan((short.length * 3) / 4);
  expect(all.size).toBeGreaterThan(short.length * 2 - 1);
});

test("every point is in one chain of its scenario, and none that is meant to strike alone in its batch gets company there", () => {
  for (const points of [shortPoints(), allPoints()]) {
    const chains = chainsOf(points);
    const names = chains.flatMap(({ faults, scenario }) => faults.map((fault) => `${fault}@${scenario}`));
    expect(names.toSorted()).toEqual(points.map(({ name }) => name).toSorted());
    expect(chains.length).toBeLessThan(points.length / 2);
    for (const { faults } of chains) {
      const noisy = faults.filter((fault) => fault.endsWith("+batch")).map((fault) => fault.split(":")[0]);
      const quiet = faults.filter((fault) => !fault.endsWith("+batch")).map((fault) => fault.split(":")[0]);
      expect(
        quiet.filter((label) => !/^(runner|adapter|resource|probes)$/.test(label ?? "") && noisy.includes(label)),
      ).toEqual([]);
    }
  }
});
