/** What comes in over a channel: text, commands, repeated updates, the cursor. */
import { describe, expect, it } from "vitest";
import { ANN, BEA, ELSEWHERE, MAIN, OPS, replyOf, STRANGER, World, type Posted } from "../decisions/fixture.ts";

const DAY = 86_400_000;

/** A card whose text choice was tapped, and the question that followed. */
async function prompted(world: World): Promise<{ card: Posted; prompt: Posted; reference: string }> {
  const card = await world.deliver();
  expect(await world.tap(card, "replan")).toMatchObject({
    verdict: "promptText",
    ack: { code: "promptSent", label: "Replan" },
  });
  const prompt = await world.deliver();
  return { card, prompt, reference: prompt.references[0] as string };
}

/** The question for a text, whose arrival nobody knows. */
async function unclearPrompt(world: World, card: Posted): Promise<void> {
  await world.tap(card, "replan");
  const prompt = await world.mustNext();
  await world.dispatch(prompt);
  await world.finish(prompt, "ambiguous");
}

describe("a choice that takes text", () => {
  it("asks for it in reply to the card, takes the exact text and says what it got", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const { card, prompt, reference } = await prompted(world);
    expect(prompt.perform).toMatchObject({ op: "post", replyTo: card.references[0], destination: `${MAIN}/${OPS}` });
    expect(replyOf(prompt.perform)).toMatchObject({
      reply: { code: "promptText", label: "Replan", prompt: "What should change?", minLength: 3, maxLength: 20 },
      prompt: { placeholder: "Replan" },
      timeZone: "Europe/Berlin",
    });
    expect(await world.say("use *blue* <b>", { replyTo: reference })).toEqual({
      verdict: "accepted",
      ack: null,
      repeated: false,
    });
    expect(world.output(asked)).toEqual({ choice: "replan", input: { instructions: "use *blue* <b>" } });
    const frames = await world.drain();
    expect(frames.map(({ op, reference: target }) => [op, target])).toEqual([
      ["edit", card.references[0]],
      // The question can no longer be answered, and no service lets us edit it.
      ["delete", reference],
      ["post", null],
    ]);
    expect(replyOf(frames[2]!).reply).toEqual({ code: "textAccepted", label: "Replan", text: "use *blue* <b>" });
  });

  it.each([
    ["too short", "ab", "textTooShort", { limit: 3, seen: 2 }],
    ["too long", "😀".repeat(11), "textTooLong", { limit: 20, seen: 22 }],
  ])("refuses a text that is %s and waits for another", async (_name, text, code, facts) => {
    const world = await World.open();
    const asked = await world.ask();
    const { reference } = await prompted(world);
    expect(await world.say(text, { replyTo: reference })).toMatchObject({ verdict: "inputInvalid" });
    expect(replyOf(await world.mustNext()).reply).toEqual({ code, ...facts });
    expect(world.store.read.decisions.get(asked.decisionId).status).toBe("pending");
    expect(await world.say("use blue", { replyTo: reference })).toMatchObject({ verdict: "accepted" });
  });

  it("takes it only from the person who was asked", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const { reference } = await prompted(world);
    expect(await world.say("use red", { replyTo: reference, user: BEA })).toMatchObject({ verdict: "help" });
    expect(await world.say("use red", { replyTo: reference, user: STRANGER })).toMatchObject({ verdict: "notOnList" });
    expect(world.store.read.decisions.get(asked.decisionId).status).toBe("pending");
  });

  it("ignores a later edit of the text and says so", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const { reference } = await prompted(world);
    await world.say("use blue", { replyTo: reference });
    await world.drain();
    expect(await world.say("use red", { replyTo: reference, traits: ["edited"] })).toMatchObject({
      verdict: "editIgnored",
    });
    expect((await world.drain()).map((frame) => replyOf(frame).reply.code)).toEqual(["editIgnored"]);
    expect(world.output(asked)).toEqual({ choice: "replan", input: { instructions: "use blue" } });
  });

  it("answered after somebody else decided is told the winner", async () => {
    const world = await World.open();
    await world.ask();
    const { card, reference } = await prompted(world);
    await world.tap(card, "approve", { user: BEA });
    expect(await world.say("use blue", { replyTo: reference })).toMatchObject({ verdict: "alreadyDecided" });
    const replies = (await world.drain()).filter(({ op }) => op === "post").map((frame) => replyOf(frame).reply);
    expect(replies).toMatchObject([{ code: "alreadyDecided", label: "Approve", by: "Bea" }]);
  });

  it("answered after the deadline is told that it came too late", async () => {
    const world = await World.open();
    const asked = await world.ask({ expiresAt: world.clock.at + 60_000 });
    const { reference } = await prompted(world);
    world.clock.advance(60_000);
    expect(await world.say("use blue", { replyTo: reference })).toMatchObject({ verdict: "expired" });
    expect(world.store.read.decisions.get(asked.decisionId).resolution).toMatchObject({
      provenance: "expired_no_default",
    });
    expect((await world.drain()).flatMap((frame) => (frame.op === "post" ? [replyOf(frame).reply.code] : []))).toEqual([
      "expired",
    ]);
  });

  it("tapped twice asks once while the question is on its way, and again once it is there", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    await world.tap(card, "replan");
    await world.tap(card, "replan");
    expect(await world.drain()).toHaveLength(1);
    await world.tap(card, "replan");
    expect(await world.drain()).toHaveLength(1);
  });

  it("is not asked for any more when the decision ends before the question is out", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    await world.tap(card, "replan");
    const prompt = await world.mustNext();
    await world.tap(card, "approve", { user: BEA });
    expect(await world.dispatch(prompt)).toEqual({ go: false });
    expect((await world.drain()).map(({ op }) => op)).toEqual(["edit"]);
  });

  it("may be answered before the question's own receipt is stored, when nothing else is unclear", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    await world.tap(card, "replan");
    const prompt = await world.mustNext();
    await world.dispatch(prompt);
    const reference = world.reference(OPS);
    expect(await world.say("use blue", { replyTo: reference })).toMatchObject({ verdict: "accepted" });
    await world.finish(prompt, "ambiguous");
    expect(world.store.read.effects.get(prompt.effectId)).toMatchObject({ status: "applied" });
    expect(world.output(asked)).toMatchObject({ choice: "replan" });
  });

  it("is taken when each message of ours that is unclear is the same question", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    for (let copy = 1; copy <= 2; copy += 1) await unclearPrompt(world, card);
    expect(await world.say("use blue", { replyTo: world.reference(OPS) })).toMatchObject({ verdict: "accepted" });
    expect(world.output(asked)).toMatchObject({ choice: "replan" });
  });

  it("is not guessed from a reply while another message of ours is unclear; the person is asked again, each time", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    await unclearPrompt(world, card);
    await world.say("hello");
    const help = await world.mustNext();
    await world.dispatch(help);
    await world.finish(help, "ambiguous");
    for (const text of ["use blue", "use blue, please"])
      expect(await world.say(text, { replyTo: world.reference(OPS) })).toMatchObject({ verdict: "askedAgain" });
    expect(world.store.read.decisions.get(asked.decisionId).status).toBe("pending");
    // One that waits to be sent is enough.
    const again = await world.deliver();
    expect(replyOf(again.perform).reply).toMatchObject({ code: "promptText", again: true });
    const [reference = ""] = again.references;
    expect(await world.next()).toBeNull();
    expect(await world.say("use blue", { replyTo: reference })).toMatchObject({ verdict: "accepted" });
    expect(world.output(asked)).toMatchObject({ choice: "replan" });
  });

  it("is asked for again, although a question is on its way that may be the one replied to", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    await world.say("hello");
    const help = await world.mustNext();
    await world.dispatch(help);
    await world.finish(help, "ambiguous");
    await world.tap(card, "replan");
    const prompt = await world.mustNext();
    await world.dispatch(prompt);
    expect(await world.say("use blue", { replyTo: world.reference(OPS) })).toMatchObject({ verdict: "askedAgain" });
    await world.finish(prompt, "ambiguous");
    expect(replyOf(await world.mustNext()).reply).toMatchObject({ code: "promptText", again: true });
  });

  it("that cannot be matched and comes too late is told who decided", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    await unclearPrompt(world, card);
    await world.say("hello");
    const help = await world.mustNext();
    await world.dispatch(help);
    await world.finish(help, "ambiguous");
    await world.tap(card, "approve", { user: BEA });
    expect(await world.say("use blue", { replyTo: world.reference(OPS) })).toMatchObject({ verdict: "alreadyDecided" });
  });

  it("does not take a photo, a forwarded text or one without a name for an answer", async () => {
    const world = await World.open();
    await world.ask();
    const { reference } = await prompted(world);
    expect(await world.say("", { replyTo: reference })).toMatchObject({ verdict: "textOnly" });
    expect(await world.say("use blue", { replyTo: reference, traits: ["forwarded"] })).toMatchObject({
      verdict: "help",
    });
    expect(
      await world.say("use blue", { replyTo: reference, traits: ["anonymous"], user: "1087968824" }),
    ).toMatchObject({ verdict: "anonymousReply" });
    expect((await world.drain()).map((frame) => replyOf(frame).reply.code)).toEqual([
      "textOnly",
      "help",
      "anonymousReply",
    ]);
  });
});

describe("stray text", () => {
  it("gets help only where a decision waits, and at most once a minute", async () => {
    const world = await World.open();
    expect(await world.say("hello")).toMatchObject({ verdict: "ignored" });
    await world.ask();
    await world.deliver();
    expect(await world.say("yes")).toMatchObject({ verdict: "help" });
    expect(await world.say("yes!")).toMatchObject({ verdict: "ignored" });
    world.clock.advance(60_000);
    expect(await world.say("yes?")).toMatchObject({ verdict: "help" });
    expect((await world.drain()).map((frame) => replyOf(frame).reply)).toEqual([
      { code: "help", waiting: 1 },
      { code: "help", waiting: 1 },
    ]);
  });

  it.each([
    ["a stranger", { user: STRANGER }, "notOnList"],
    ["a chat that is not allowed", { place: ELSEWHERE }, "silent"],
  ])("of %s gets nothing", async (_name, options, verdict) => {
    const world = await World.open();
    await world.ask();
    await world.deliver();
    expect(await world.say("yes", options)).toMatchObject({ verdict, ack: null });
    expect(await world.command("status", options)).toMatchObject({ verdict, ack: null });
    expect(await world.next()).toBeNull();
    expect(world.count("effects", `place = '${ELSEWHERE}'`)).toBe(0);
  });
});

describe("the operator's commands", () => {
  async function inDoubt(world: World): Promise<{ effectId: string; shortId: string }> {
    const perform = await world.mustNext();
    await world.dispatch(perform);
    await world.finish(perform, "ambiguous");
    return { effectId: perform.effectId, shortId: world.store.read.effects.get(perform.effectId).shortId };
  }

  it("status lists what waits and what is in doubt", async () => {
    const world = await World.open();
    await world.ask();
    const { shortId } = await inDoubt(world);
    expect(await world.command("status")).toMatchObject({ verdict: "channelStatus" });
    expect(replyOf(await world.mustNext()).reply).toMatchObject({
      code: "channelStatus",
      waiting: 1,
      doubtful: [{ id: shortId, title: "Approve the deployment" }],
    });
  });

  it("recover retry sends a card that says it may be a repeat; either copy counts", async () => {
    const world = await World.open();
    await world.ask();
    const { effectId, shortId } = await inDoubt(world);
    const sentAt = world.clock.at;
    world.clock.advance(5_000);
    expect(await world.command(`recover ${shortId} retry`)).toMatchObject({ verdict: "recovered" });
    const frames = await world.drain();
    expect(frames.map(({ content }) => content?.kind)).toEqual(["card", "reply"]);
    expect(frames[0]).toMatchObject({
      effectId,
      attempt: 2,
      content: { state: { notes: { possibleRepeatOf: sentAt } } },
    });
    expect(replyOf(frames[1]!).reply).toEqual({
      code: "recovered",
      id: shortId,
      action: "retry",
      title: "Approve the deployment",
    });
  });

  it.each([
    ["recover zzz retry", "unknown"],
    ["recover", "usage"],
    ["recover e-123456 maybe", "usage"],
  ])("%s is refused with its reason", async (args, reason) => {
    const world = await World.open();
    expect(await world.command(args)).toMatchObject({ verdict: "recoverRefused" });
    expect(replyOf(await world.mustNext()).reply).toMatchObject({ code: "recoverRefused", reason });
  });

  it("recover of what is not in doubt, or decided, changes nothing", async () => {
    const world = await World.open();
    const asked = await world.ask({ audience: "both" });
    const { shortId } = await inDoubt(world);
    const other = world.store.read.decisions.get(asked.decisionId).destinations[1]!.effectId;
    await world.command(`recover ${other} confirm`);
    await world.answer(asked, "approve");
    await world.command(`recover ${shortId} retry`);
    const replies = (await world.drain()).flatMap((frame) =>
      frame.content?.kind === "reply" ? [frame.content.reply] : [],
    );
    expect(replies).toMatchObject([{ reason: "notInDoubt" }, { reason: "decided" }]);
    expect(world.store.read.effects.get(shortId).status).toBe("ambiguous");
  });

  it("anything else under the older command gets help", async () => {
    const world = await World.open();
    expect(await world.command("")).toMatchObject({ verdict: "help" });
    expect(replyOf(await world.mustNext()).reply).toEqual({ code: "help", waiting: 0 });
  });
});

describe("an update", () => {
  it("handed over again gets the stored verdict, and nothing is done twice", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    const updateId = world.nextUpdate();
    const first = await world.tap(card, "approve", { updateId });
    expect(await world.tap(card, "approve", { updateId })).toEqual({ ...first, repeated: true });
    expect(world.count("human_decision_submissions")).toBe(1);
    const help = world.nextUpdate();
    await world.command("status", { updateId: help });
    await world.command("status", { updateId: help });
    expect(world.count("effects", "purpose = 'reply'")).toBe(1);
  });

  it("sets the cursor to its own id, also when it was no answer", async () => {
    const world = await World.open();
    const cursor = () => world.store.read.channels.list()[0]?.cursor;
    await world.receive({ type: "inbound", updateId: 50, digest: "a", sentAt: null, kind: "other", what: "poll" });
    expect(cursor()).toBe(50);
    await world.receive({
      type: "inbound",
      updateId: 49,
      digest: "b",
      sentAt: null,
      kind: "unreadable",
      what: "no JSON",
    });
    expect(cursor()).toBe(49);
    expect(world.all("SELECT update_id AS id, verdict FROM channel_inbox ORDER BY update_id")).toEqual([
      { id: 49, verdict: "unreadable" },
      { id: 50, verdict: "ignored" },
    ]);
  });

  it.each([
    ["far below the cursor", 5_000, 10, 2],
    ["a little below the cursor", 5_000, 4_500, 1],
  ])("with an id %s", async (_name, before, after, epoch) => {
    const world = await World.open();
    for (const updateId of [before, after])
      await world.receive({
        type: "inbound",
        updateId,
        digest: `d${updateId}`,
        sentAt: null,
        kind: "other",
        what: "poll",
      });
    expect(world.store.read.channels.list()[0]).toMatchObject({ channelEpoch: epoch, cursor: after });
  });

  it("with a known id and another content begins a new epoch instead of being lost", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    await world.receive({ type: "inbound", updateId: 7, digest: "old", sentAt: null, kind: "other", what: "poll" });
    expect(await world.tap(card, "approve", { updateId: 7, digest: "new" })).toMatchObject({
      verdict: "accepted",
      repeated: false,
    });
    expect(world.store.read.channels.list()[0]).toMatchObject({ channelEpoch: 2, cursor: 7 });
  });

  it("of an adapter that was replaced is refused", async () => {
    const world = await World.open();
    const old = world.adapterEpoch;
    await world.openChannel("adapter-2");
    const inbound = { type: "inbound", updateId: 1, digest: "d", sentAt: null, kind: "other", what: "poll" } as const;
    await expect(
      world.store.channels.receive({ channelId: MAIN, adapterEpoch: old, inbound, access: world.access }),
    ).rejects.toMatchObject({ kind: "protocolRejected" });
    expect(world.count("channel_inbox")).toBe(0);
  });

  it("with broken text in it is handled like any other", async () => {
    const world = await World.open();
    await world.ask();
    await world.deliver();
    expect(await world.say("half \ud800")).toMatchObject({ verdict: "help" });
    expect(await world.command("recover \ud800 retry")).toMatchObject({ verdict: "recoverRefused" });
  });

  it("keeps no body, only its verdict", async () => {
    const world = await World.open();
    await world.ask();
    await world.deliver();
    await world.say("a secret in a chat", { user: ANN });
    expect(JSON.stringify(world.all("SELECT * FROM channel_inbox"))).not.toContain("secret");
  });
});

describe("a channel", () => {
  it.each([
    ["goes on where it was", 5 * DAY, { channelEpoch: 1, cursor: 42 }],
    ["begins a new epoch after a long silence", 6 * DAY + 1, { channelEpoch: 2, cursor: null }],
  ])("%s", async (_name, silence, opened) => {
    const world = await World.open();
    await world.receive({ type: "inbound", updateId: 42, digest: "d", sentAt: null, kind: "other", what: "poll" });
    world.clock.advance(silence);
    expect(await world.openChannel("adapter-2")).toEqual(opened);
  });
});

describe("a verdict that comes after its tap was acknowledged", () => {
  const late = (world: World, card: Posted, updateId: number): Promise<{ told: boolean }> =>
    world.store.channels.tellLate({
      ...world.mine,
      updateId,
      place: OPS,
      topic: null,
      reference: card.references[0] as string,
      access: world.access,
    });

  it("is told as a reply to the card, once", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    await world.tap(card, "approve", { updateId: 2_001 });
    expect(await late(world, card, 2_001)).toEqual({ told: true });
    await late(world, card, 2_001);
    const replies = (await world.drain()).filter(({ op }) => op === "post");
    expect(replies).toMatchObject([
      { replyTo: card.references[0], content: { reply: { code: "chosen", label: "Approve" } } },
    ]);
  });

  it("is not told where nobody is to hear anything, or a question for text says it already", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    await world.tap(card, "replan", { updateId: 2_001 });
    expect(await late(world, card, 2_001)).toEqual({ told: false });
    await world.tap(card, "approve", { updateId: 2_002, place: ELSEWHERE });
    expect(await late(world, card, 2_002)).toEqual({ told: false });
    expect(await late(world, card, 2_003)).toEqual({ told: false });
  });
});
