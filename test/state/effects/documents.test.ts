/** T18: a content that would be too many messages goes as a document before its card, and the card tells what became of it. */
import { describe, expect, it } from "vitest";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import { DELIVERY } from "../../../src/contracts/limits.ts";
import { ANN, authored, cardOf, MAIN, OPS, World } from "../decisions/fixture.ts";

const line = "2026-11-30T12:00:00Z worker[7]: copied a shard of the index to its new place\n";
/** 40 KB, in texts of a size that one block may have. */
const LOG = Array.from({ length: 3 }, () => ({ kind: "preformatted", text: line.repeat(180) }));
const LONG = { presentation: { ...(authored()["presentation"] as object), blocks: LOG } };

const noteOf = (perform: Perform): string | undefined => cardOf(perform).state.notes?.document;

describe("a long content", () => {
  it("is one document and then one card that knows it was sent, at each destination once", async () => {
    const world = await World.open();
    await world.ask({ ...LONG, audience: "both" });
    const frames = await world.drain();
    const seen = frames.map((frame) => [frame.op, frame.destination, noteOf(frame)]);
    expect(seen.toSorted()).toEqual(
      [
        ["document", `${MAIN}/${OPS}`, "unconfirmed"],
        ["post", `${MAIN}/${OPS}`, "sent"],
        ["document", `${MAIN}/-1002/7`, "unconfirmed"],
        ["post", `${MAIN}/-1002/7`, "sent"],
      ].toSorted(),
    );
    const inOps = frames.filter(({ destination }) => destination === `${MAIN}/${OPS}`);
    expect(inOps.map(({ op }) => op)).toEqual(["document", "post"]);
    expect(cardOf(inOps[0] as Perform).tokens).toBeUndefined();
  });

  it.each([
    ["rejected", "failed"],
    ["ambiguous", "unconfirmed"],
  ] as const)(
    "whose document ends %s has a card all the same, which says that it %s; nothing is repeated",
    async (outcome, told) => {
      const world = await World.open();
      await world.ask(LONG);
      const document = await world.mustNext();
      await world.dispatch(document);
      await world.finish(document, outcome, { error: null });
      const { perform } = await world.deliver();
      expect([perform.op, noteOf(perform)]).toEqual(["post", told]);
      world.clock.advance(10 * DELIVERY.backoffMaxMs);
      expect(await world.next()).toBeNull();
    },
  );

  it("waits with its card while the document could not be sent, and both go out in order", async () => {
    const world = await World.open();
    await world.ask(LONG);
    const document = await world.mustNext();
    await world.finish(document, "notSent");
    expect(await world.next()).toBeNull();
    world.clock.advance(DELIVERY.backoffMinMs);
    expect((await world.drain()).map(({ op }) => op)).toEqual(["document", "post"]);
  });

  it("is not sent any more once the decision is over", async () => {
    const world = await World.open();
    const asked = await world.ask(LONG);
    const document = await world.mustNext();
    await world.answer(asked, "approve");
    expect(await world.dispatch(document)).toEqual({ go: false });
    expect(await world.drain()).toEqual([]);
  });

  it("keeps its note when the card is settled, and says more once a person has settled the doubt", async () => {
    const world = await World.open();
    const asked = await world.ask(LONG);
    const document = await world.mustNext();
    await world.dispatch(document);
    await world.finish(document, "ambiguous", { error: null });
    await world.deliver();
    await world.store.effects.recover({
      effect: document.effectId,
      action: "confirm",
      part: null,
      reference: null,
      receipt: null,
      actor: { type: "human", id: "uid:1" },
    });
    await world.answer(asked, "approve", { user: { actorId: ANN } });
    const [edit] = await world.drain();
    expect([edit?.op, noteOf(edit as Perform)]).toEqual(["edit", "sent"]);
  });
});

it("a content that fits its messages has no document, and neither has one that is kept out of chats", async () => {
  const world = await World.open();
  await world.ask();
  await world.ask({ presentation: { ...LONG.presentation, sensitive: true } });
  const frames = await world.drain();
  expect(frames.map(({ op }) => op)).toEqual(["post", "post"]);
  expect(frames.map(noteOf)).toEqual([undefined, undefined]);
});
