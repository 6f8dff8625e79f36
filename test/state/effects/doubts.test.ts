/** Messages whose arrival nobody knows: the policy of their audience, the question elsewhere, and how long it took. */
import { describe, expect, it } from "vitest";
import { DOUBT } from "../../../src/contracts/limits.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import {
  ACCESS,
  cardOf,
  GUEST,
  LOBBY,
  MAIN,
  OPS,
  replyOf,
  World,
  type Asked,
  type Posted,
} from "../decisions/fixture.ts";

const MINUTE = 60_000;
const uncertain = { code: "HP607", kind: "channelUnconfirmed", message: "no word", remedy: "look" };

async function open(onAmbiguous: "wait" | { resendAfterMs: number } = "wait"): Promise<World> {
  const world = await World.open();
  const audiences = Object.fromEntries(
    Object.entries(ACCESS.audiences).map(([name, audience]) => [name, { ...audience, onAmbiguous }]),
  );
  world.access = { ...ACCESS, audiences };
  return world;
}

/** A card of which nobody knows whether it arrived; the audience's other chat, if it has one, has its copy. */
async function inDoubt(world: World, audience = "ops"): Promise<{ asked: Asked; card: Perform }> {
  const asked = await world.ask({ audience });
  const card = await world.mustNext();
  await world.dispatch(card);
  await world.finish(card, "ambiguous", { error: uncertain });
  if (audience === "both") await world.deliver();
  return { asked, card };
}

const tend = (world: World): ReturnType<World["store"]["effects"]["tendDoubts"]> =>
  world.store.effects.tendDoubts({ access: world.access });
const nextAt = (world: World): number | null => world.store.read.effects.nextDoubtAt(world.access);
const NOTHING = { resent: 0, asked: 0, closed: 0 };

describe("an audience that wants a doubtful card sent again", () => {
  it("gets it after its time and not before; the copy says that it may be a repeat, and either one decides", async () => {
    const world = await open({ resendAfterMs: 5 * MINUTE });
    const since = world.clock.at;
    const { asked, card } = await inDoubt(world);
    expect(nextAt(world)).toBe(since + 5 * MINUTE);
    world.clock.advance(5 * MINUTE - 1);
    expect(await tend(world)).toEqual(NOTHING);
    world.clock.advance(1);
    expect(await tend(world)).toEqual({ ...NOTHING, resent: 1 });
    const copy = await world.deliver();
    expect(copy.perform).toMatchObject({ effectId: card.effectId, attempt: 2 });
    expect(cardOf(copy.perform).state.notes).toEqual({ possibleRepeatOf: since });
    // The first one was there after all: both belong to the one decision.
    expect((await world.tap(card, "approve", { reference: `${OPS}:77` })).verdict).toBe("accepted");
    expect((await world.tap(copy, "stop")).ack).toMatchObject({ code: "alreadyDecided" });
    expect(world.count("human_decision_resolutions")).toBe(1);
    expect((await world.drain()).map(({ op, reference }) => [op, reference]).sort()).toEqual(
      [
        ["edit", `${OPS}:77`],
        ["edit", copy.references[0]],
      ].sort(),
    );
    expect(world.output(asked)).toBeDefined();
  });

  it("gets a bounded number of copies when nothing is ever confirmed", async () => {
    const world = await open({ resendAfterMs: MINUTE });
    await inDoubt(world);
    let copies = 1;
    for (let minute = 0; minute < 60; minute += 1) {
      world.clock.advance(MINUTE);
      await tend(world);
      const again = await world.next();
      if (again === null) continue;
      copies += 1;
      await world.dispatch(again);
      await world.finish(again, "ambiguous", { error: uncertain });
    }
    expect(copies).toBe(1 + DOUBT.resends);
    expect(nextAt(world)).toBeNull();
  });

  /** The first copy is proved by a tap (which leaves the decision open) while the second is in the adapter's hands. */
  async function provedMeanwhile(dispatched: boolean): Promise<{ world: World; copy: Perform }> {
    const world = await open({ resendAfterMs: MINUTE });
    const { card } = await inDoubt(world);
    world.clock.advance(MINUTE);
    expect(await tend(world)).toEqual({ ...NOTHING, resent: 1 });
    const copy = await world.mustNext();
    expect(copy).toMatchObject({ effectId: card.effectId, attempt: 2 });
    if (dispatched) expect(await world.dispatch(copy)).toEqual({ go: true });
    expect((await world.tap(card, "replan", { reference: `${OPS}:77` })).verdict).toBe("promptText");
    return { world, copy };
  }

  /** Everything that is sent within the next hour, none of which may be that message. */
  async function staysWhole(world: World, { effectId }: Perform): Promise<void> {
    const sent: string[] = [];
    for (let minute = 0; minute < 60; minute += 1) {
      world.clock.advance(MINUTE);
      await tend(world);
      sent.push(...(await world.drain()).map((perform) => perform.effectId));
    }
    expect(sent).not.toContain(effectId);
    expect(world.store.read.effects.get(effectId)).toMatchObject({ status: "applied" });
    expect(nextAt(world)).toBeNull();
  }

  it.each([
    ["is in doubt too", "ambiguous"],
    ["never left", "notSent"],
    ["was refused", "rejected"],
  ] as const)("gets no third one when a tap proves the first while the second %s", async (_how, outcome) => {
    const { world, copy } = await provedMeanwhile(true);
    await world.finish(copy, outcome, { error: uncertain });
    await staysWhole(world, copy);
  });

  it.each([
    ["before it was sent", false],
    ["while it was sent", true],
  ])("gets no third one when the adapter of the second ends %s", async (_when, dispatched) => {
    const { world, copy } = await provedMeanwhile(dispatched);
    await world.store.effects.adapterGone(world.mine);
    await world.openChannel("adapter-2");
    await staysWhole(world, copy);
  });

  it("gets no second one when a tap proves the first before the second is sent", async () => {
    const { world, copy } = await provedMeanwhile(false);
    expect(await world.dispatch(copy)).toEqual({ go: false });
    await staysWhole(world, copy);
  });

  it("gets none when a tap has proved the card, or the decision is over, meanwhile", async () => {
    const world = await open({ resendAfterMs: MINUTE });
    const proved = await inDoubt(world);
    await world.tap(proved.card, "replan", { reference: `${OPS}:77` });
    const over = await inDoubt(world, "both");
    await world.answer(over.asked, "approve");
    world.clock.advance(MINUTE);
    expect(nextAt(world)).toBeNull();
    expect(await tend(world)).toEqual(NOTHING);
  });
});

describe("an audience that wants to wait", () => {
  it("is sent nothing again, however long that takes", async () => {
    const world = await open();
    await inDoubt(world);
    world.clock.advance(1_000 * MINUTE);
    expect(nextAt(world)).toBeNull();
    expect(await tend(world)).toEqual(NOTHING);
    expect(await world.next()).toBeNull();
  });

  /** The question in the other chat, posted. */
  async function question(world: World): Promise<{ asked: Asked; card: Perform; posted: Posted }> {
    const doubt = await inDoubt(world, "both");
    world.clock.advance(DOUBT.askAfterMs);
    expect(await tend(world)).toEqual({ ...NOTHING, asked: 1 });
    const posted = await world.deliver();
    expect(posted.perform.destination).toBe(`${MAIN}/${LOBBY}/7`);
    return { ...doubt, posted };
  }
  const answer = (world: World, posted: Posted, button: string, user?: string): ReturnType<World["tapToken"]> =>
    world.tapToken(replyOf(posted.perform).tokens?.[button] as string, {
      place: LOBBY,
      reference: posted.references[0] as string,
      ...(user === undefined ? {} : { user }),
    });

  it("is asked in its other chat, once, with three buttons", async () => {
    const world = await open();
    const { posted } = await question(world);
    expect(replyOf(posted.perform)).toMatchObject({
      reply: { code: "didArrive", title: "Approve the deployment", chat: OPS },
    });
    expect(Object.keys(replyOf(posted.perform).tokens ?? {})).toEqual(["yes", "resend", "drop"]);
    world.clock.advance(60 * MINUTE);
    expect(await tend(world)).toEqual(NOTHING);
  });

  it.each([
    ["yes", "confirm", "applied", "arrived"],
    ["resend", "retry", "pending", "resent"],
    ["drop", "drop", "rejected", "dropped"],
  ] as const)("%s is recorded with the person, and closes the question", async (button, action, status, how) => {
    const world = await open();
    const { card, posted } = await question(world);
    expect((await answer(world, posted, button)).ack).toMatchObject({ code: "recovered", action });
    expect(world.store.read.effects.get(card.effectId).status).toBe(status);
    const [event] = world.all<{ actor: string }>(
      "SELECT actor_type || ' ' || actor_id AS actor FROM events WHERE event_type = 'effect.settled'",
    );
    expect(event?.actor).toBe("human ann");
    expect(await tend(world)).toEqual({ ...NOTHING, closed: 1 });
    const frames = await world.drain();
    const closing = frames.find(({ op }) => op === "edit");
    expect(closing).toMatchObject({
      reference: posted.references[0],
      content: { reply: { code: "arrivalSettled", how, by: "Ann" } },
    });
    expect(replyOf(closing as Perform).tokens).toBeUndefined();
    expect(frames.filter(({ op }) => op === "post")).toHaveLength(button === "resend" ? 1 : 0);
    // Whoever taps now is told that it is over.
    expect((await answer(world, posted, "resend")).ack).toMatchObject({ code: "recoverRefused", reason: "notInDoubt" });
    expect(await tend(world)).toEqual(NOTHING);
  });

  it("takes the answer of those only who may answer the decision", async () => {
    const world = await open();
    const restricted = { ...world.access.audiences["both"], people: ["ann"] } as (typeof ACCESS.audiences)["both"];
    world.access = { ...world.access, audiences: { ...world.access.audiences, both: restricted } };
    const { card, posted } = await question(world);
    expect((await answer(world, posted, "drop", GUEST)).ack).toEqual({ code: "notOnList" });
    expect(world.store.read.effects.get(card.effectId).status).toBe("ambiguous");
  });

  it("sees the question closed when the card shows by itself that it arrived, or when all is over", async () => {
    const world = await open();
    const { card, posted } = await question(world);
    await world.tap(card, "replan", { reference: `${OPS}:77` });
    expect(nextAt(world)).toBe(world.clock.at);
    expect(await tend(world)).toEqual({ ...NOTHING, closed: 1 });
    const closing = (await world.drain()).find(({ op }) => op === "edit");
    expect(closing).toMatchObject({ reference: posted.references[0], content: { reply: { how: "arrived" } } });

    const other = await open();
    const over = await question(other);
    await other.answer(over.asked, "approve");
    expect(await tend(other)).toEqual({ ...NOTHING, closed: 1 });
    expect(
      (await other.drain()).map(({ content }) => (content?.kind === "reply" ? content.reply : null)),
    ).toContainEqual(expect.objectContaining({ code: "arrivalSettled", how: "over" }));
  });

  it("is not asked any more when the doubt ended before the question went out", async () => {
    const world = await open();
    const { card } = await inDoubt(world, "both");
    world.clock.advance(DOUBT.askAfterMs);
    await tend(world);
    await world.tap(card, "replan", { reference: `${OPS}:77` });
    const frames: Perform[] = [];
    for (let frame = await world.next(); frame !== null; frame = await world.next()) {
      const { go } = await world.dispatch(frame);
      if (!go) continue;
      frames.push(frame);
      if (frame.op === "post")
        await world.store_(frame, 1, 1, world.reference(frame.destination.split("/")[1] as string));
      await world.finish(frame, "accepted");
    }
    expect(frames.map(({ content }) => (content?.kind === "reply" ? content.reply.code : content?.kind))).not.toContain(
      "didArrive",
    );
  });
});

describe("the figures of a channel", () => {
  it("tell since when something is in doubt, and how long it took before", async () => {
    const world = await open();
    const stats = (): unknown => world.store.read.channels.stats(MAIN);
    expect(stats()).toMatchObject({
      ambiguous: 0,
      doubts: { oldestAt: null, ended: 0, medianMs: null, longestMs: null },
    });
    for (const minutes of [1, 10, 3]) {
      const { card } = await inDoubt(world);
      world.clock.advance(minutes * MINUTE);
      await world.tap(card, "replan", { reference: world.reference(OPS) });
      await world.drain();
    }
    const since = world.clock.at;
    await inDoubt(world);
    world.clock.advance(MINUTE);
    expect(stats()).toMatchObject({
      ambiguous: 1,
      doubts: { oldestAt: since, ended: 3, medianMs: 3 * MINUTE, longestMs: 10 * MINUTE },
    });
  });
});

describe("a doubt about the card of a second audience", () => {
  async function escalated(onAmbiguous: { resendAfterMs: number } | "wait"): Promise<{ world: World; lost: Perform }> {
    const world = await World.open();
    const { both, ops } = ACCESS.audiences;
    world.access = {
      ...ACCESS,
      audiences: {
        ops: {
          ...(ops as NonNullable<typeof ops>),
          policy: { quorum: 1, escalateAfter: { minutes: 1, audience: "night" } },
          onAmbiguous: "wait",
        },
        night: { ...(both as NonNullable<typeof both>), destinations: [`${MAIN}/${LOBBY}`], onAmbiguous },
      },
    };
    const asked = await world.ask();
    await world.deliver();
    world.clock.advance(60_000);
    await world.store.decisions.escalate({ decisionId: asked.decisionId, access: world.access });
    for (;;) {
      const frame = await world.mustNext();
      if (frame.destination === `${MAIN}/${LOBBY}`) {
        await world.dispatch(frame);
        await world.finish(frame, "ambiguous");
        return { world, lost: frame };
      }
      await world.post(frame);
    }
  }

  it("is settled by that audience's own policy", async () => {
    const { lost, world } = await escalated({ resendAfterMs: DOUBT.resendMinMs });
    world.clock.advance(DOUBT.resendMinMs);
    expect(await world.store.effects.tendDoubts({ access: world.access })).toMatchObject({ resent: 1 });
    expect((await world.drain()).map(({ destination }) => destination)).toContain(lost.destination);
  });

  it("is asked about in a chat of the first audience, when its own has no other", async () => {
    const { world } = await escalated("wait");
    world.clock.advance(DOUBT.askAfterMs);
    expect(await world.store.effects.tendDoubts({ access: world.access })).toMatchObject({ asked: 1 });
    const asked = (await world.drain()).find(({ content }) => content?.kind === "reply");
    expect(asked?.destination).toBe(`${MAIN}/${OPS}`);
  });
});

describe("an alert whose arrival nobody knows", () => {
  const report = (world: World, change: Record<string, unknown> = {}) =>
    world.store.alerts.raise({
      access: world.access,
      audience: "both",
      groupKey: "shop",
      severity: "critical",
      subject: "shop.example",
      condition: "down",
      lines: [],
      ...change,
    });

  async function doubtful(world: World, change: Record<string, unknown> = {}): Promise<Perform> {
    await report(world, change);
    const lost = await world.mustNext();
    await world.dispatch(lost);
    await world.finish(lost, "ambiguous", { error: uncertain });
    await world.drain();
    return lost;
  }

  /** The question in the other chat of its audience, posted. */
  async function question(world: World): Promise<{ lost: Perform; posted: Posted }> {
    const lost = await doubtful(world);
    world.clock.advance(DOUBT.askAfterMs);
    expect(await tend(world)).toEqual({ ...NOTHING, asked: 1 });
    return { lost, posted: await world.deliver() };
  }
  const answer = (world: World, { perform, references }: Posted, button: string, user?: string) =>
    world.tapToken(replyOf(perform).tokens?.[button] as string, {
      place: LOBBY,
      reference: references[0] as string,
      ...(user === undefined ? {} : { user }),
    });

  it("is asked about in the other chat, and sent again when it did not arrive", async () => {
    const world = await open();
    const { lost, posted } = await question(world);
    expect(posted.perform.destination).toBe(`${MAIN}/${LOBBY}/7`);
    expect(replyOf(posted.perform).reply).toMatchObject({
      code: "didArrive",
      what: "alert",
      title: "shop.example",
      chat: OPS,
    });
    expect((await answer(world, posted, "resend")).ack).toMatchObject({ code: "recovered", action: "retry" });
    expect(await tend(world)).toEqual({ ...NOTHING, closed: 1 });
    const frames = await world.drain();
    expect(frames).toContainEqual(
      expect.objectContaining({ op: "post", effectId: lost.effectId, destination: lost.destination }),
    );
    expect(frames.find(({ op }) => op === "edit")).toMatchObject({
      content: { reply: { code: "arrivalSettled", what: "alert", how: "resent", by: "Ann" } },
    });
  });

  it("is called a list when it is one: each alert of it may have a message of its own that did arrive", async () => {
    const world = await open();
    for (let n = 1; n <= 24; n += 1) await report(world, { groupKey: `shop-${n}`, subject: `shop-${n}.example` });
    let lost: Perform | undefined;
    for (let seconds = 0; seconds < 60 && lost === undefined; seconds += 1) {
      for (let next = await world.next(); next !== null; next = await world.next()) {
        const isList =
          world.count(
            "effects",
            `effect_id = '${next.effectId}' AND effect_type = 'alert.digest' AND place = '${OPS}'`,
          ) > 0;
        if (!isList) {
          await world.post(next);
          continue;
        }
        lost = next;
        await world.dispatch(next);
        await world.finish(next, "ambiguous", { error: uncertain });
      }
      world.clock.advance(1_000);
    }
    expect(lost).toBeDefined();
    world.clock.advance(DOUBT.askAfterMs);
    expect(await tend(world)).toMatchObject({ asked: 1 });
    const asked = (await world.drain()).find(({ op, content }) => op === "post" && content?.kind === "reply");
    expect(asked && replyOf(asked).reply).toMatchObject({ code: "didArrive", what: "alertList", chat: OPS });
  });

  it("is judged by those only who may take it", async () => {
    const world = await open();
    const both = { ...world.access.audiences["both"], people: ["ann"] } as (typeof ACCESS.audiences)["both"];
    world.access = { ...world.access, audiences: { ...world.access.audiences, both } };
    const { lost, posted } = await question(world);
    expect((await answer(world, posted, "drop", GUEST)).ack).toEqual({ code: "alertNotOnList" });
    expect(world.store.read.effects.get(lost.effectId).status).toBe("ambiguous");
  });

  it("needs no answer any more when it is over", async () => {
    const world = await open();
    const { posted } = await question(world);
    await world.store.alerts.recover({ access: world.access, audience: "both", groupKey: "shop" });
    expect(await tend(world)).toEqual({ ...NOTHING, closed: 1 });
    expect((await world.drain()).filter(({ op }) => op === "edit")).toContainEqual(
      expect.objectContaining({
        reference: posted.references[0],
        content: expect.objectContaining({ reply: expect.objectContaining({ code: "arrivalSettled", how: "over" }) }),
      }),
    );
  });

  it.each([
    ["is mere news", { severity: "info" }],
    ["has no other chat", { audience: "ops" }],
  ])("nobody is asked about one that %s", async (_what, change) => {
    const world = await open();
    await doubtful(world, change);
    world.clock.advance(DOUBT.askAfterMs);
    expect(await tend(world)).toEqual(NOTHING);
  });
});
