/** Deadlines, cancellation and the end of the story: everything besides a person that can end a decision. */
import { describe, expect, it } from "vitest";
import { DECISION } from "../../../src/contracts/limits.ts";
import { BEA, cardOf, DEPLOY, World } from "./fixture.ts";
import { becomeReady, claimNext } from "../fixture.ts";

const MINUTE = 60_000;
const WITH_DEFAULT = { onTimeout: { afterMs: 10 * MINUTE, response: { choice: "stop" } } };
const actor = { type: "control", id: "me" } as const;

describe("a deadline", () => {
  it("is not due a moment before", async () => {
    const world = await World.open();
    const asked = await world.ask(WITH_DEFAULT);
    expect(asked.deadlineAt).toBe(world.clock.at + 10 * MINUTE);
    expect(world.store.read.decisions.nextDue()).toBe(asked.deadlineAt);
    world.clock.advance(10 * MINUTE - 1);
    expect(world.store.read.decisions.due(world.clock.at)).toEqual([]);
    expect(await world.store.decisions.expire({ decisionId: asked.decisionId, access: world.access })).toMatchObject({
      kind: "notDue",
    });
    expect((await world.answer(asked, "approve")).result.kind).toBe("accepted");
  });

  it("with a default decides and continues the run; a person who comes later is told what was used", async () => {
    const world = await World.open();
    const asked = await world.ask(WITH_DEFAULT);
    const card = await world.deliver();
    world.clock.advance(10 * MINUTE);
    expect(world.store.read.decisions.due(world.clock.at)).toMatchObject([{ decisionId: asked.decisionId }]);
    expect(await world.store.decisions.expire({ decisionId: asked.decisionId, access: world.access })).toMatchObject({
      kind: "timedOut",
      provenance: "timeout_policy",
    });
    expect(world.output(asked)).toEqual({ choice: "stop" });
    expect(await world.tap(card, "approve")).toMatchObject({
      verdict: "alreadyDecided",
      ack: { code: "expired", at: asked.deadlineAt, label: "Stop" },
    });
    expect(cardOf(await world.mustNext()).state.status).toMatchObject({
      kind: "chosen",
      provenance: "timeout_policy",
      label: "Stop",
    });
    expect(await world.store.decisions.expire({ decisionId: asked.decisionId, access: world.access })).toMatchObject({
      kind: "alreadyDecided",
      provenance: "timeout_policy",
    });
    expect(world.store.read.decisions.nextDue()).toBeNull();
  });

  it("wins over an answer one millisecond later, however slow the timer is", async () => {
    const world = await World.open();
    const asked = await world.ask(WITH_DEFAULT);
    const card = await world.deliver();
    world.clock.advance(10 * MINUTE + 1);
    expect(await world.tap(card, "approve")).toMatchObject({
      verdict: "expired",
      ack: { code: "expired", at: asked.deadlineAt, label: "Stop" },
    });
    expect(world.output(asked)).toEqual({ choice: "stop" });
    expect(world.all("SELECT source, outcome, reason FROM human_decision_submissions ORDER BY submission_no")).toEqual([
      { source: "channel", outcome: "rejected", reason: "expired" },
      { source: "policy", outcome: "won", reason: "timeout_policy" },
    ]);
    expect(world.count("run_continuations", "cause_type = 'decision'")).toBe(1);
  });

  it("without a default ends the run and says why", async () => {
    const world = await World.open();
    const asked = await world.ask({ expiresAt: world.clock.at + MINUTE });
    const card = await world.deliver();
    world.clock.advance(MINUTE);
    expect(await world.store.decisions.expire({ decisionId: asked.decisionId, access: world.access })).toMatchObject({
      kind: "expired",
      provenance: "expired_no_default",
    });
    const run = world.store.read.runs.get(asked.runId);
    expect(run).toMatchObject({ status: "failed", queueStatus: "done" });
    expect(run.error).toMatchObject({ kind: "decisionExpired", message: expect.stringContaining(asked.fingerprint) });
    expect(world.store.read.runs.nodes(asked.runNo)).toMatchObject([{ nodeId: "ask", outcome: "timed_out" }]);
    const frames = await world.drain();
    expect(frames.map((frame) => [frame.op, frame.reference, cardOf(frame).state.status.kind])).toEqual([
      ["edit", card.references[0], "expired"],
    ]);
    expect(await world.tap(card, "approve")).toMatchObject({ verdict: "alreadyDecided", ack: { code: "expired" } });
  });

  it("that fell into an outage leaves a window in which an answer still wins", async () => {
    const world = await World.open();
    const asked = await world.ask(WITH_DEFAULT);
    const card = await world.deliver();
    const from = world.clock.at + 9 * MINUTE;
    world.clock.advance(12 * MINUTE);
    const access = { ...world.access, outage: { from, to: world.clock.at } };
    world.clock.advance(DECISION.graceMs - 1);
    expect(await world.store.decisions.expire({ decisionId: asked.decisionId, access })).toMatchObject({
      kind: "notDue",
    });
    expect(await world.tap(card, "approve", { access })).toMatchObject({
      verdict: "accepted",
      ack: { code: "chosen", graceAfterOutage: true },
    });
    expect(world.store.read.decisions.get(asked.decisionId).resolution).toMatchObject({
      choice: "approve",
      graceAfterOutage: true,
    });
  });

  it.each([
    ["once the window is over", DECISION.graceMs, 9 * MINUTE],
    ["when it had passed before the outage", 0, 11 * MINUTE],
  ])("gets no grace %s", async (_name, after, outageBegins) => {
    const world = await World.open();
    const asked = await world.ask(WITH_DEFAULT);
    const from = world.clock.at + outageBegins;
    world.clock.advance(12 * MINUTE);
    const access = { ...world.access, outage: { from, to: world.clock.at } };
    world.clock.advance(after);
    expect((await world.answer(asked, "approve", { access })).result.kind).toBe("expired");
    expect(world.output(asked)).toEqual({ choice: "stop" });
  });

  it("keeps running while the run is paused", async () => {
    const world = await World.open();
    const asked = await world.ask(WITH_DEFAULT);
    await world.store.runs.pause({ run: asked.runId, expectedRevision: null, receipt: null, actor });
    world.clock.advance(11 * MINUTE);
    expect(await world.store.decisions.expire({ decisionId: asked.decisionId, access: world.access })).toMatchObject({
      kind: "timedOut",
    });
    expect(world.store.read.runs.get(asked.runId)).toMatchObject({ paused: true, queueStatus: "parked" });
  });
});

describe("cancelling the run", () => {
  it("ends its question, what was not sent, and settles what was", async () => {
    const world = await World.open();
    const asked = await world.ask({ audience: "both" });
    const card = await world.deliver();
    await world.store.runs.cancel({
      run: asked.runId,
      reason: "wrong version",
      expectedRevision: null,
      receipt: null,
      actor,
    });
    expect(world.store.read.decisions.get(asked.decisionId)).toMatchObject({
      status: "cancelled",
      resolution: { provenance: "explicit_cancel" },
    });
    const frames = await world.drain();
    expect(frames.map(({ op, reference }) => [op, reference])).toEqual([["edit", card.references[0]]]);
    expect(cardOf(frames[0]!).state.status).toMatchObject({ kind: "cancelled", reason: "wrong version" });
    expect(world.count("effects", "purpose = 'delivery' AND status = 'cancelled'")).toBe(1);
    expect(await world.tap(card, "approve")).toMatchObject({ verdict: "alreadyDecided", ack: { code: "cancelled" } });
  });

  it.each([
    ["the answer first", true],
    ["the cancellation first", false],
  ])("races an answer: one resolution, %s", async (_name, answerFirst) => {
    const world = await World.open();
    const asked = await world.ask();
    const answer = () => world.answer(asked, "approve", { user: { actorId: BEA } });
    const cancel = () =>
      world.store.runs.cancel({ run: asked.runId, reason: null, expectedRevision: null, receipt: null, actor });
    const both = answerFirst ? [answer(), cancel()] : [cancel(), answer()];
    const [first, second] = await Promise.all(both);
    const answered = (answerFirst ? first : second) as Awaited<ReturnType<typeof answer>>;
    expect(answered.result.kind).toBe(answerFirst ? "accepted" : "alreadyDecided");
    expect(world.all("SELECT provenance FROM human_decision_resolutions")).toEqual([
      { provenance: answerFirst ? "human" : "explicit_cancel" },
    ]);
    expect(world.count("run_continuations", "cause_type = 'decision'")).toBe(answerFirst ? 1 : 0);
    expect(world.store.read.runs.get(asked.runId).status).toBe("cancelled");
  });
});

describe("the end of the story", () => {
  it("is added to the cards of the run's latest decision only", async () => {
    const world = await World.open();
    await world.ask();
    const first = await world.deliver();
    await world.tap(first, "replan");
    const prompt = await world.deliver();
    await world.say("use blue", { replyTo: prompt.references[0] ?? null });
    const launch = await claimNext(world.store, world.epoch);
    await becomeReady(world.store, launch, DEPLOY);
    await world.askAgain(launch, {}, 1);
    await world.drain();
    const shown = world.all<{ reference: string; at: number }>(
      "SELECT p.reference, max(e.effect_no) FROM effects e JOIN effect_parts p ON p.effect_no = e.effect_no WHERE e.purpose = 'delivery'",
    )[0]!;
    const second = world.store.read.decisions.list({ all: false })[0]!;
    await world.store.decisions.answer({
      decision: second.fingerprint,
      requestDigest: null,
      choice: "stop",
      source: {
        type: "channel",
        channel: "telegram:main",
        actorId: BEA,
        personId: null,
        eventId: "e",
        assurance: "remote",
      },
      access: world.access,
      receipt: null,
    });
    await world.drain();
    const last = await claimNext(world.store, world.epoch);
    await becomeReady(world.store, last, DEPLOY);
    world.clock.advance(MINUTE);
    await world.store.runs.finish({
      claim: last.claim,
      entry: {
        step: 2,
        nodeId: "end",
        outcome: "ok",
        output: { summary: "nothing was changed" },
        durationMs: 1,
        next: null,
      },
    });
    const frames = await world.drain();
    expect(frames.map(({ op, reference }) => [op, reference])).toEqual([["edit", shown.reference]]);
    expect(cardOf(frames[0]!).state).toMatchObject({
      status: { kind: "chosen", label: "Stop", by: "Bea" },
      story: { outcome: "completed", at: world.clock.at, detail: "nothing was changed" },
    });
  });

  it("replaces a verdict that was not painted yet", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    await world.tap(card, "stop");
    const last = await claimNext(world.store, world.epoch);
    await becomeReady(world.store, last, DEPLOY);
    await world.store.runs.finish({
      claim: last.claim,
      entry: { step: 1, nodeId: "end", outcome: "ok", durationMs: 1, next: null },
    });
    const frames = await world.drain();
    expect(frames).toHaveLength(1);
    expect(cardOf(frames[0]!).state.story).toMatchObject({ outcome: "completed" });
    expect(world.all("SELECT status FROM effects WHERE purpose = 'settlement' ORDER BY effect_no")).toEqual([
      { status: "cancelled" },
      { status: "applied" },
    ]);
    expect(world.store.read.runs.get(asked.runId).status).toBe("completed");
  });
});
