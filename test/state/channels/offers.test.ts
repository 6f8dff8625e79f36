/** Cards that are offered again after a silence of the channel, and how their copies live side by side. */
import { describe, expect, it } from "vitest";
import { OFFER } from "../../../src/contracts/limits.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import { cardOf, LOBBY, MAIN, OPS, replyOf, STRANGER, World, type Asked, type Posted } from "../decisions/fixture.ts";

const poll = (
  world: World,
  change: { drained?: boolean; heardAt?: number | null } = {},
): Promise<{ offered: number }> =>
  world.store.channels.polled({ ...world.mine, heardAt: null, drained: true, access: world.access, ...change });

/** A world that polls, with so many cards in its chat. */
async function withCards(
  count: number,
  change: Record<string, unknown> = {},
): Promise<{ world: World; asked: Asked[]; cards: Posted[] }> {
  const world = await World.open();
  const asked: Asked[] = [];
  const cards: Posted[] = [];
  for (let i = 0; i < count; i += 1) {
    asked.push(await world.ask({ title: `Question ${i + 1}`, ...change }));
    cards.push(await world.deliver());
  }
  await poll(world);
  return { world, asked, cards };
}

const kinds = (frames: readonly Perform[]): string[] =>
  frames.map(({ content, op }) => `${op} ${content?.kind === "card" ? content.card.title : content?.kind}`);

describe("after a silence", () => {
  it("of 150 seconds nothing is offered; of a millisecond more, the card is, saying why", async () => {
    const { world } = await withCards(1);
    world.clock.advance(OFFER.silenceMs);
    expect(await poll(world)).toEqual({ offered: 0 });
    const from = world.clock.at;
    world.clock.advance(OFFER.silenceMs + 1);
    expect(await poll(world)).toEqual({ offered: 1 });
    const again = await world.mustNext();
    expect(cardOf(again).state).toEqual({
      status: { kind: "pending" },
      notes: { offeredAgain: { from, to: world.clock.at } },
    });
  });

  it("the server's own knowledge of the last good poll counts, where it is newer than what is stored", async () => {
    const { world } = await withCards(1);
    world.clock.advance(OFFER.silenceMs + 1);
    expect(await poll(world, { heardAt: world.clock.at - 1_000 })).toEqual({ offered: 0 });
  });

  it("without a card that could be seen before the kept taps nothing is offered", async () => {
    const { world } = await withCards(0);
    world.clock.advance(3_600_000);
    await world.ask();
    await world.deliver();
    // Whoever tapped this one within 150 seconds is heard now.
    world.clock.advance(OFFER.silenceMs);
    expect(await poll(world)).toEqual({ offered: 0 });
  });

  it("what the channel had kept comes first: a card that was answered in time is not offered", async () => {
    const { world, cards } = await withCards(2);
    world.clock.advance(OFFER.silenceMs + 60_000);
    expect(await poll(world, { drained: false })).toEqual({ offered: 0 });
    await world.tap(cards[0] as Posted, "approve");
    expect(await poll(world)).toEqual({ offered: 1 });
    const posts = (await world.drain()).filter(({ op }) => op === "post");
    expect(kinds(posts)).toEqual(["post Question 2"]);
  });

  it("that ended just before the server died is not forgotten by the next one", async () => {
    const { world } = await withCards(1);
    world.clock.advance(OFFER.silenceMs + 60_000);
    await poll(world, { drained: false });
    await world.openChannel("adapter-2");
    world.clock.advance(1_000);
    expect(await poll(world)).toEqual({ offered: 1 });
  });

  it("a card is offered at most once in twelve hours, however often the service is away", async () => {
    const { world } = await withCards(1);
    const silences: number[] = [];
    for (let hour = 0; hour < 13; hour += 1) {
      world.clock.advance(3_600_000);
      silences.push((await poll(world)).offered);
      await world.drain();
    }
    expect(silences).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  });

  it("nothing goes to a chat that is not allowed any more or cannot be reached", async () => {
    const { world } = await withCards(1);
    const { main } = world.access.profiles;
    if (main === undefined) throw new Error("no profile");
    world.access = { ...world.access, profiles: { main: { ...main, allowedChatIds: [LOBBY] } } };
    world.clock.advance(3_600_000);
    expect(await poll(world)).toEqual({ offered: 0 });
  });
});

describe("a card that was offered again", () => {
  it("and its old copy can both be answered; the old one says that there is a newer one, and both are settled", async () => {
    const { world, cards, asked } = await withCards(1);
    world.clock.advance(3_600_000);
    await poll(world);
    const [anew, mark] = await world.drain();
    expect(kinds([anew as Perform, mark as Perform])).toEqual(["post Question 1", "edit Question 1"]);
    expect(mark?.reference).toBe(cards[0]?.references[0]);
    expect(cardOf(mark as Perform).state.notes).toEqual({ shownAgain: world.clock.at });
    expect(Object.keys(cardOf(mark as Perform).tokens ?? {})).toEqual(["approve", "replan", "stop"]);
    // A button of before the mark still counts.
    expect((await world.tap(cards[0] as Posted, "approve")).verdict).toBe("accepted");
    expect(world.output(asked[0] as Asked)).toBeDefined();
    const edits = await world.drain();
    expect(edits.map(({ op }) => op)).toEqual(["edit", "edit"]);
    // Nothing that a copy has shown is removed from it.
    expect(edits.map((edit) => Object.keys(cardOf(edit).state.notes ?? {}))).toEqual([
      ["shownAgain"],
      ["offeredAgain"],
    ]);
  });

  it("is not marked as newer while nobody knows whether it arrived", async () => {
    const { world } = await withCards(1);
    world.clock.advance(3_600_000);
    await poll(world);
    const anew = await world.mustNext();
    await world.dispatch(anew);
    await world.finish(anew, "ambiguous");
    expect(await world.next()).toBeNull();
  });

  it("is one more copy at its destination, not one more destination", async () => {
    const { world } = await withCards(1);
    world.clock.advance(3_600_000);
    await poll(world);
    await world.drain();
    const [summary] = world.store.read.decisions.list({ all: false });
    expect(summary?.destinations).toHaveLength(1);
    expect(summary?.notes).toEqual([]);
  });
});

describe("with more than five cards in a chat", () => {
  it("one message lists them, with a button for each; five are posted anew", async () => {
    const five = await withCards(OFFER.anew);
    five.world.clock.advance(3_600_000);
    await poll(five.world);
    expect((await five.world.drain()).filter(({ op }) => op === "post")).toHaveLength(OFFER.anew);

    const { world, asked } = await withCards(OFFER.anew + 1);
    world.clock.advance(3_600_000);
    expect(await poll(world)).toEqual({ offered: 6 });
    const frames = await world.drain();
    expect(frames).toHaveLength(1);
    const { reply, tokens } = replyOf(frames[0] as Perform);
    expect(reply).toMatchObject({ code: "offlineDigest", more: 0 });
    expect(Object.keys(tokens ?? {})).toEqual(asked.map(({ decisionId }) => decisionId));
  });

  it("a button shows its card again, once while that is on its way; a decided one is told instead", async () => {
    const { world, asked } = await withCards(OFFER.anew + 1);
    world.clock.advance(3_600_000);
    await poll(world);
    const digest = await world.deliver();
    const { tokens = {} } = replyOf(digest.perform);
    const tap = (of: Asked | undefined, user?: string): ReturnType<World["tapToken"]> =>
      world.tapToken(tokens[of?.decisionId ?? ""] as string, {
        reference: digest.references[0] as string,
        ...(user === undefined ? {} : { user }),
      });
    expect((await tap(asked[2], STRANGER)).verdict).toBe("notOnList");
    expect((await tap(asked[2])).ack).toEqual({ code: "shownAgain", title: "Question 3" });
    expect((await tap(asked[2])).ack).toMatchObject({ code: "shownAgain" });
    const posts = (await world.drain()).filter(({ op }) => op === "post");
    expect(kinds(posts)).toEqual(["post Question 3"]);
    await world.answer(asked[4] as Asked, "stop");
    expect((await tap(asked[4])).ack).toMatchObject({ code: "alreadyDecided", label: "Stop" });
  });

  it("each topic gets its own list, and none of another's", async () => {
    const world = await World.open();
    for (let i = 0; i < OFFER.anew + 1; i += 1) await world.ask({ audience: "both", title: `Question ${i}` });
    await world.drain();
    await poll(world);
    world.clock.advance(3_600_000);
    await poll(world);
    expect((await world.drain()).map(({ destination }) => destination).sort()).toEqual([
      `${MAIN}/${OPS}`,
      `${MAIN}/${LOBBY}/7`,
    ]);
  });
});

describe("a list of cards", () => {
  const reply = (frame: Perform | undefined): ReturnType<typeof replyOf> => replyOf(frame ?? null);
  const overIn = (frame: Perform | undefined): string[] => {
    const shown = reply(frame).reply;
    if (shown.code !== "offlineDigest") throw new Error("no list");
    return shown.cards.filter(({ over }) => over === true).map(({ title }) => title);
  };

  async function listed(): Promise<{ world: World; asked: Asked[] }> {
    const { world, asked } = await withCards(OFFER.anew + 1);
    world.clock.advance(3_600_000);
    await poll(world);
    return { world, asked };
  }

  it("is edited when a decision on it ends, and has a button for each that still waits", async () => {
    const { world, asked } = await listed();
    const digest = await world.deliver();
    await world.answer(asked[4] as Asked, "stop");
    const edits = (await world.drain()).filter(({ content }) => content?.kind === "reply");
    expect(edits.map(({ op, reference }) => [op, reference])).toEqual([["edit", digest.references[0]]]);
    expect(overIn(edits[0])).toEqual(["Question 5"]);
    expect(Object.keys(reply(edits[0]).tokens ?? {})).toHaveLength(OFFER.anew);
    const token = reply(edits[0]).tokens?.[asked[0]?.decisionId ?? ""] as string;
    const tapped = await world.tapToken(token, { reference: digest.references[0] as string });
    expect(tapped.ack).toMatchObject({ code: "shownAgain" });
  });

  it("tells what ended before it was sent, and by an edit what ended while it was on its way", async () => {
    const { world, asked } = await listed();
    await world.answer(asked[0] as Asked, "stop");
    const edits = [];
    for (;;) {
      const frame = await world.next();
      if (frame === null) throw new Error("no list");
      if (frame.op === "post") {
        expect(overIn(frame)).toEqual(["Question 1"]);
        await world.dispatch(frame);
        await world.answer(asked[1] as Asked, "stop");
        await world.store_(frame, 1, 1, `${OPS}:8100`);
        await world.finish(frame, "accepted");
        break;
      }
      await world.post(frame);
    }
    edits.push(...(await world.drain()).filter(({ content }) => content?.kind === "reply"));
    expect(edits.map(({ reference }) => reference)).toEqual([`${OPS}:8100`]);
    expect(overIn(edits.at(-1))).toEqual(["Question 1", "Question 2"]);
  });

  it("is edited too when a later list names the same decision", async () => {
    const { world, asked } = await listed();
    const first = await world.deliver();
    world.clock.advance(OFFER.everyMs + 1);
    expect(await poll(world)).toEqual({ offered: OFFER.anew + 1 });
    const second = await world.deliver();
    expect(second.references[0]).not.toBe(first.references[0]);
    await world.answer(asked[4] as Asked, "stop");
    const edits = (await world.drain()).filter(({ content }) => content?.kind === "reply");
    expect(edits.map(({ reference }) => reference).toSorted()).toEqual(
      [first.references[0], second.references[0]].toSorted(),
    );
    expect(edits.map(overIn)).toEqual([["Question 5"], ["Question 5"]]);
  });

  it("is left with no button when all of them are over", async () => {
    const { world, asked } = await listed();
    await world.deliver();
    for (const one of asked) await world.answer(one, "approve");
    const last = (await world.drain()).findLast(({ content }) => content?.kind === "reply");
    expect(overIn(last)).toHaveLength(asked.length);
    expect(reply(last).tokens).toBeUndefined();
  });
});
