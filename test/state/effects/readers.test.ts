/** In which zone and language a message is written, by the configuration of the moment at which it goes out. */
import { describe, expect, it } from "vitest";
import { renderCard } from "../../../renderers/telegram/index.ts";
import type { Access } from "../../../src/state/decisions/access.ts";
import { ACCESS, ANN, cardOf, MAIN, OPS, replyOf, World } from "../decisions/fixture.ts";

const main = ACCESS.profiles["main"] as NonNullable<Access["profiles"][string]>;
const ops = ACCESS.audiences["ops"] as NonNullable<Access["audiences"][string]>;

/** Ann's own chat and the group, each with a zone. */
const ZONED: Access = {
  ...ACCESS,
  people: { ...ACCESS.people, ann: { name: "Ann", telegram: [ANN], timeZone: "America/Lima" } },
  profiles: { main: { ...main, allowedChatIds: [ANN, OPS] } },
  audiences: { ops: { ...ops, destinations: [`${MAIN}/${ANN}`, `${MAIN}/${OPS}`], timeZone: "Europe/Lisbon" } },
};

describe("a card", () => {
  it("has the person's zone in a chat with them alone, and the audience's in a group", async () => {
    const world = await World.open();
    world.access = ZONED;
    await world.ask();
    const cards = await world.drain();
    expect(cards.map((card) => [card.destination, cardOf(card).card.timeZone])).toEqual([
      [`${MAIN}/${ANN}`, "America/Lima"],
      [`${MAIN}/${OPS}`, "Europe/Lisbon"],
    ]);
  });

  it("speaks the person's language in a chat with them alone, and the audience's in a group, also in its edits", async () => {
    const world = await World.open();
    world.access = {
      ...ZONED,
      people: { ...ZONED.people, ann: { name: "Ann", telegram: [ANN], language: "de" } },
      audiences: { ops: { ...(ZONED.audiences["ops"] as typeof ops), language: "en" } },
    };
    const asked = await world.ask();
    const cards = await world.drain();
    await world.answer(asked, "approve");
    const edits = (await world.drain()).filter(({ op }) => op === "edit");
    const shown = [...cards, ...edits].map((frame) => {
      const { card, state } = cardOf(frame);
      return [
        frame.op,
        card.language,
        renderCard(card, state)
          .at(-1)
          ?.text.match(/Lauf|run /)?.[0],
      ];
    });
    expect(shown).toEqual([
      ["post", "de", "Lauf"],
      ["post", "en", "run "],
      ["edit", "de", "Lauf"],
      ["edit", "en", "run "],
    ]);
  });

  it("follows a change of the configuration with its next edit", async () => {
    const world = await World.open();
    world.access = ZONED;
    const asked = await world.ask();
    await world.drain();
    world.access = {
      ...ZONED,
      people: { ...ZONED.people, ann: { name: "Ann", telegram: [ANN], timeZone: "Asia/Tokyo" } },
    };
    await world.answer(asked, "approve");
    const edits = (await world.drain()).filter(({ op }) => op === "edit");
    expect(edits.map((edit) => cardOf(edit).card.timeZone)).toEqual(["Asia/Tokyo", "Europe/Lisbon"]);
  });
});

describe("an answer to somebody", () => {
  it("has the zone of whoever reads in that chat, not the one that was configured when it was asked for", async () => {
    const world = await World.open();
    world.access = ZONED;
    await world.command("", { command: "status", place: ANN });
    expect(replyOf(await world.next()).timeZone).toBe("America/Lima");
    await world.drain();
    await world.command("", { command: "status", place: OPS });
    expect(replyOf(await world.next({ ...ZONED, audiences: {} })).timeZone).toBe("Europe/Berlin");
  });
});
