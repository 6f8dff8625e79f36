/** What becomes of an answer: every verdict, and that the first valid one is the only one that counts. */
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/state/hash.ts";
import {
  ACCESS,
  authored,
  BEA,
  DEPLOY,
  ELSEWHERE,
  GUEST,
  LOBBY,
  MAIN,
  OPS,
  STRANGER,
  tokensOf,
  World,
} from "./fixture.ts";
import { becomeReady, claimNext, startRun } from "../fixture.ts";

describe("a request", () => {
  it("parks the run, releases its claim and queues one card per destination", async () => {
    const world = await World.open();
    const asked = await world.ask({ audience: "both" });
    expect(asked.decisionId).toMatch(/^decision-[0-9a-f]{40}$/);
    expect(asked.fingerprint).toBe(asked.requestDigest.slice(7, 13));
    expect(asked.deadlineAt).toBeNull();
    const [summary] = world.store.read.decisions.list({ all: false });
    expect(summary).toMatchObject({
      status: "pending",
      runId: asked.runId,
      title: "Approve the deployment",
      notes: [],
    });
    expect(summary?.destinations.map(({ destination, status }) => [destination, status])).toEqual([
      ["telegram:main/-1001", "pending"],
      ["telegram:main/-1002/7", "pending"],
    ]);
    expect(world.store.read.runs.get(asked.runId)).toMatchObject({
      status: "waiting",
      queueStatus: "parked",
      parkReason: "decision",
    });
    await expect(world.store.runs.renew({ claims: [asked.launch.claim] })).resolves.toEqual({
      lost: [asked.launch.claim.runnerEpoch],
    });
  });

  it.each([
    ["an unknown audience", { audience: "nobody" }, "audienceUnknown", /"nobody".*ops/],
    [
      "an audience named like a property of every object",
      { audience: "constructor" },
      "audienceUnknown",
      /constructor/,
    ],
    ["an oversized title", { title: "x".repeat(201) }, "presentationInvalid", /201.*200/],
  ])("with %s is refused before anything is pending", async (_name, change, kind, message) => {
    const world = await World.open();
    await startRun(world.store, DEPLOY);
    const launch = await claimNext(world.store, world.epoch);
    await becomeReady(world.store, launch, DEPLOY);
    const request = { claim: launch.claim, step: 0, nodeId: "ask", request: authored(change), access: world.access };
    await expect(world.store.decisions.request(request)).rejects.toMatchObject({
      kind,
      message: expect.stringMatching(message),
    });
    expect(world.count("human_decisions")).toBe(0);
    expect(world.count("effects")).toBe(0);
    expect(world.store.read.runs.get(launch.claim.runId).status).toBe("running");
    await expect(world.store.decisions.request({ ...request, request: authored() })).resolves.toMatchObject({
      deadlineAt: null,
    });
  });
});

describe("a tap", () => {
  it("decides, continues the run once and settles the card", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    expect(await world.tap(card, "approve")).toEqual({
      verdict: "accepted",
      ack: { code: "chosen", label: "Approve" },
      repeated: false,
    });
    expect(world.output(asked)).toEqual({ choice: "approve" });
    expect(world.store.read.runs.get(asked.runId)).toMatchObject({
      status: "running",
      queueStatus: "queued",
      steps: 1,
    });
    expect(world.count("run_continuations", "cause_type = 'decision'")).toBe(1);
    expect(world.store.read.decisions.get(asked.fingerprint).resolution).toMatchObject({
      provenance: "human",
      choice: "approve",
      label: "Approve",
      by: "Ann",
      channel: "telegram:main",
      assurance: "remote",
      graceAfterOutage: false,
    });
    const settle = await world.mustNext();
    expect(settle).toMatchObject({
      op: "edit",
      reference: card.references[0],
      part: 1,
      content: { kind: "card", state: { status: { kind: "chosen", label: "Approve", by: "Ann" } } },
    });
    expect(tokensOf(settle)).toEqual({});
    const launch = await claimNext(world.store, world.epoch);
    expect(launch.command).toBe("continue");
  });

  it("is told what won, whoever comes later, and never counts for the next question", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    await world.tap(card, "replan");
    const prompt = await world.deliver();
    await world.say("use blue", { replyTo: prompt.references[0] ?? null });
    const launch = await claimNext(world.store, world.epoch);
    await becomeReady(world.store, launch, DEPLOY);
    const second = await world.askAgain(launch, {}, 1);
    expect(second.decisionId).not.toBe(asked.decisionId);
    const own = await world.tap(card, "approve");
    expect(own).toMatchObject({
      verdict: "alreadyDecided",
      ack: { code: "alreadyDecided", label: "Replan", by: "Ann", byReader: true },
    });
    const other = await world.tap(card, "stop", { user: BEA });
    expect(other).toMatchObject({
      verdict: "alreadyDecided",
      ack: { code: "alreadyDecided", label: "Replan", by: "Ann" },
    });
    expect(world.store.read.decisions.get(second.decisionId).status).toBe("pending");
    expect(world.count("human_decision_resolutions")).toBe(1);
  });

  it("given twice by the same person is adopted", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    await world.tap(card, "approve");
    expect(await world.tap(card, "approve")).toMatchObject({
      verdict: "adopted",
      ack: { code: "alreadyDecided", byReader: true },
    });
    expect(world.all("SELECT outcome FROM human_decision_submissions ORDER BY submission_no")).toEqual([
      { outcome: "won" },
      { outcome: "adopted" },
    ]);
    expect(world.count("run_continuations", "cause_type = 'decision'")).toBe(1);
  });

  it("of two different ones at one instant has one winner and a loser who is told who won", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    const [first, second] = await Promise.all([world.tap(card, "approve"), world.tap(card, "stop", { user: BEA })]);
    expect(first.verdict).toBe("accepted");
    expect(second).toMatchObject({
      verdict: "alreadyDecided",
      ack: { code: "alreadyDecided", label: "Approve", by: "Ann" },
    });
    expect(world.count("human_decision_resolutions")).toBe(1);
    expect(world.count("run_continuations", "cause_type = 'decision'")).toBe(1);
    expect(world.all("SELECT outcome FROM human_decision_submissions ORDER BY submission_no")).toEqual([
      { outcome: "won" },
      { outcome: "already_resolved" },
    ]);
  });

  it("before the send is confirmed counts, and proves the card", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform);
    const reference = world.reference(OPS);
    expect(await world.tap(perform, "approve", { reference })).toMatchObject({ verdict: "accepted" });
    // The adapter's own receipt comes later and says the same.
    expect(await world.store_(perform, 1, 1, reference)).toEqual({ stored: true });
    expect(await world.finish(perform, "accepted")).toEqual({ status: "applied", nextAttemptAt: null });
    expect((await world.drain()).map(({ op, reference: target }) => [op, target])).toEqual([["edit", reference]]);
    expect(world.store.read.decisions.get(asked.decisionId).destinations[0]).toMatchObject({
      status: "applied",
      shown: 1,
    });
  });

  it("on a card whose send is in doubt settles the doubt", async () => {
    const world = await World.open();
    await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform);
    await world.finish(perform, "ambiguous");
    expect(world.store.read.effects.ambiguousCount()).toBe(1);
    const reference = world.reference(OPS);
    expect(await world.tap(perform, "approve", { reference })).toMatchObject({ verdict: "accepted" });
    expect(world.store.read.effects.get(perform.effectId)).toMatchObject({
      status: "applied",
      attemptList: [{ state: "accepted" }],
      parts: [{ state: "accepted", reference }],
    });
    expect((await world.drain()).map(({ reference: target }) => target)).toEqual([reference]);
  });

  it.each([
    ["a stranger in an allowed chat gets one toast", { user: STRANGER }, "notOnList", { code: "notOnList" }],
    ["somebody outside the audience gets the same", { user: GUEST }, "notAllowed", { code: "notOnList" }],
    ["a chat that is not allowed gets silence", { place: ELSEWHERE }, "silent", null],
    [
      "another allowed chat learns nothing about the card",
      { place: LOBBY },
      "unknownButton",
      { code: "unknownButton" },
    ],
    [
      "a copy under another message is no button of ours",
      { reference: `${OPS}:77` },
      "unknownButton",
      { code: "unknownButton" },
    ],
    ["a tap without a message is no button of ours", { reference: null }, "unknownButton", { code: "unknownButton" }],
    ["a chat that only looks like ours gets silence", { traits: ["business" as const] }, "silent", null],
  ])("by %s", async (_name, options, verdict, ack) => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    const result = await world.tap(card, "approve", options);
    expect(result).toEqual({ verdict, ack, repeated: false });
    expect(world.store.read.decisions.get(asked.decisionId).status).toBe("pending");
    expect(await world.next()).toBeNull();
    expect(world.store.read.channels.list()[0]?.cursor).toBe(1_001);
    // The card still works.
    expect(await world.tap(card, "approve")).toMatchObject({ verdict: "accepted" });
  });

  it("with a forged token is refused without a word about the card", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    const forged = Buffer.alloc(16, 7).toString("base64url");
    expect(await world.tapToken(forged, { reference: card.references[0] ?? null })).toMatchObject({
      verdict: "unknownButton",
      ack: { code: "unknownButton" },
    });
    await world.ask();
    const other = await world.deliver();
    const stolen = tokensOf(other.perform)["approve"] as string;
    expect(await world.tapToken(stolen, { reference: card.references[0] ?? null })).toMatchObject({
      verdict: "unknownButton",
    });
    expect(world.count("human_decision_resolutions")).toBe(0);
  });

  it("keeps only the hash of its token", async () => {
    const world = await World.open();
    await world.ask();
    const { perform } = await world.deliver();
    const token = tokensOf(perform)["approve"] as string;
    const rows = world.all<{ hash: Buffer }>("SELECT token_hash AS hash FROM decision_tokens");
    expect(rows).toHaveLength(3);
    expect(rows.some(({ hash }) => hash.equals(sha256(token)))).toBe(true);
    expect(JSON.stringify(world.all("SELECT request, result, error FROM effects"))).not.toContain(token);
  });
});

describe("an answer without a channel", () => {
  const local = { type: "control", channel: "terminal", actorId: "uid:1000", assurance: "local" } as const;

  it("of another version of the question is stale", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const { result } = await world.answer(asked, "approve", { requestDigest: `sha256:${"0".repeat(64)}` });
    expect(result).toMatchObject({ kind: "stale", reply: { code: "stale" }, status: "pending" });
    expect(
      world.all(
        "SELECT event_type AS type FROM events WHERE event_type LIKE 'decision.%' ORDER BY recorded_at, event_index",
      ),
    ).toContainEqual({ type: "decision.refused" });
  });

  it("binds the version by the fingerprint", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const { result } = await world.answer(asked, "approve", { decision: asked.fingerprint, requestDigest: null });
    expect(result).toMatchObject({ kind: "accepted", decisionId: asked.decisionId, status: "accepted" });
    const late = await world.answer(asked, "stop", {
      decision: asked.fingerprint,
      requestDigest: null,
      user: { actorId: BEA },
    });
    expect(late.result).toMatchObject({
      kind: "alreadyDecided",
      reply: { code: "alreadyDecided", label: "Approve", by: "Ann" },
    });
  });

  it("to a decision that does not exist says so", async () => {
    const world = await World.open();
    const asked = await world.ask();
    await expect(world.answer(asked, "approve", { decision: "ffffff" })).rejects.toMatchObject({
      kind: "decisionNotFound",
    });
  });

  it("of an unknown choice is told the choices", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const { result } = await world.answer(asked, "constructor");
    expect(result).toMatchObject({
      kind: "unknownChoice",
      reply: { code: "unknownChoice", given: "constructor", labels: ["Approve", "Replan", "Stop"] },
    });
  });

  it.each([
    ["missing", undefined, "inputRequired"],
    ["too short", "ab", "inputInvalid"],
    ["too long", "x".repeat(21), "inputInvalid"],
  ])("with a %s text is refused, and the decision stays open", async (_name, input, kind) => {
    const world = await World.open();
    const asked = await world.ask();
    const { result } = await world.answer(asked, "replan", input === undefined ? {} : { input });
    expect(result).toMatchObject({ kind, status: "pending" });
    expect((await world.answer(asked, "replan", { input: "x".repeat(20) })).result.kind).toBe("accepted");
    expect(world.output(asked)).toEqual({ choice: "replan", input: { instructions: "x".repeat(20) } });
  });

  it("with a text where none is asked for is refused", async () => {
    const world = await World.open();
    const asked = await world.ask();
    expect((await world.answer(asked, "approve", { input: "yes" })).result.kind).toBe("inputUnexpected");
  });

  it("from this machine is refused by an audience that wants remote ones", async () => {
    const world = await World.open();
    const asked = await world.ask({ audience: "remote" });
    expect((await world.answer(asked, "approve", { user: local })).result).toMatchObject({
      kind: "notAllowed",
      reply: { code: "remoteOnly" },
    });
  });

  it("counts for the person whom the server vouches for", async () => {
    const world = await World.open();
    const asked = await world.ask();
    expect((await world.answer(asked, "approve", { user: local })).result).toMatchObject({
      kind: "notAllowed",
      reply: { code: "notOnList" },
    });
    expect((await world.answer(asked, "approve", { user: { ...local, personId: "bea" } })).result.kind).toBe(
      "accepted",
    );
    expect(world.store.read.decisions.get(asked.decisionId).resolution).toMatchObject({
      by: "Bea",
      assurance: "local",
      channel: "terminal",
    });
  });

  it("at the terminal is refused where the audience does not name it, and kept on record", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const access = { ...ACCESS, audiences: { ops: { ...ACCESS.audiences["ops"], destinations: [`${MAIN}/${OPS}`] } } };
    const user = { ...local, personId: "bea" };
    const { result } = await world.answer(asked, "approve", { user, access: access as never });
    expect(result).toMatchObject({ kind: "notAllowed", reply: { code: "terminalOff" }, status: "pending" });
    expect(world.all("SELECT outcome, reason, actor_id AS actor FROM human_decision_submissions")).toEqual([
      { outcome: "rejected", reason: "terminalOff", actor: "uid:1000" },
    ]);
  });

  it("at the terminal counts for the person to whom the configuration gives this user", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const people = { ...ACCESS.people, bea: { name: "Bea", telegram: [BEA], terminal: ["uid:1000"] } };
    const { result } = await world.answer(asked, "approve", { user: local, access: { ...ACCESS, people } });
    expect(result.kind).toBe("accepted");
    expect(world.store.read.decisions.get(asked.decisionId).resolution).toMatchObject({
      by: "Bea",
      assurance: "local",
    });
  });

  it("repeated with its receipt gets the stored result", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const receipt = {
      clientId: "c",
      idempotencyKey: "k",
      operation: "decision.answer",
      fingerprint: sha256("p"),
      serverEpoch: world.epoch,
    };
    const first = await world.answer(asked, "approve", { receipt });
    expect(first).toMatchObject({ outcome: "accepted", result: { kind: "accepted" } });
    expect(await world.answer(asked, "approve", { receipt })).toEqual({ ...first, outcome: "adopted" });
    await expect(
      world.answer(asked, "stop", { receipt: { ...receipt, fingerprint: sha256("other") } }),
    ).rejects.toMatchObject({ kind: "idempotencyConflict" });
  });

  it("while the run is paused is kept, and work begins when the run is resumed", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const before = world.all("SELECT revision FROM resources WHERE resource_type = 'decision'");
    const actor = { type: "control", id: "me" };
    const command = { run: asked.runId, expectedRevision: null, receipt: null, actor };
    await world.store.runs.pause(command);
    expect(world.all("SELECT revision FROM resources WHERE resource_type = 'decision'")).toEqual(before);
    expect((await world.answer(asked, "approve")).result.kind).toBe("accepted");
    expect(await world.store.runs.claim({ serverEpoch: world.epoch, runnerEpoch: "r" })).toBeNull();
    await world.store.runs.resume(command);
    expect((await claimNext(world.store, world.epoch)).command).toBe("continue");
  });
});
