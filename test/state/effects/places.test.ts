/** Chats that cannot be reached any more, and groups that have another id now. */
import { describe, expect, it } from "vitest";
import { DELIVERY } from "../../../src/contracts/limits.ts";
import { LOBBY, MAIN, OPS, World, type Asked } from "../decisions/fixture.ts";

const blocked = {
  code: "HP606",
  kind: "channelRefused",
  message: "Forbidden: bot was blocked by the user",
  remedy: "none",
};
const SUPER = "-1001234567";

/** Types of events of the channel or of a decision, in order. */
function told(world: World, like: string): string[] {
  return world
    .all<{ type: string }>(`SELECT event_type AS type FROM events WHERE event_type LIKE '${like}' ORDER BY event_no`)
    .map(({ type }) => type);
}

/** A card whose chat turned out to be closed. */
async function blockedCard(world: World): Promise<Asked> {
  const asked = await world.ask();
  const perform = await world.mustNext();
  await world.dispatch(perform);
  await world.finish(perform, "rejected", { placeDead: true, error: blocked });
  return asked;
}

describe("a chat that cannot be reached (T26)", () => {
  it("is tried once and told once: later cards are refused with the same reason, without a call", async () => {
    const world = await World.open();
    await blockedCard(world);
    const later = await world.ask();
    expect(await world.next()).toBeNull();
    expect(told(world, "channel.place%")).toEqual(["channel.placeDead"]);
    expect(told(world, "decision.undeliverable")).toHaveLength(2);
    const summary = world.store.read.decisions.get(later.decisionId);
    expect(summary.status).toBe("pending");
    expect(summary.notes.join()).toContain("undeliverable");
    const [effect] = world.store.read.effects.list({ all: false });
    expect(effect).toMatchObject({ status: "rejected", attempts: 0, error: { message: blocked.message } });
  });

  it("leaves the other destinations of the audience alone, and nothing is undeliverable while one of them is open", async () => {
    const world = await World.open();
    await world.ask({ audience: "both" });
    const perform = await world.mustNext();
    expect(perform.destination).toBe(`${MAIN}/${OPS}`);
    await world.dispatch(perform);
    await world.finish(perform, "rejected", { placeDead: true, error: blocked });
    expect((await world.drain()).map(({ destination }) => destination)).toEqual([`${MAIN}/${LOBBY}/7`]);
    expect(told(world, "decision.undeliverable")).toEqual([]);
  });

  it("gets the cards that still wait as soon as somebody writes from it", async () => {
    const world = await World.open();
    const asked = await blockedCard(world);
    await world.say("/start");
    expect(told(world, "channel.place%")).toEqual(["channel.placeDead", "channel.placeBack"]);
    const [card] = await world.drain();
    expect(card).toMatchObject({ attempt: 2, content: { kind: "card", card: { requestId: asked.decisionId } } });
  });

  it("is not opened by a stranger's chat, nor by a message that only looks like one of it", async () => {
    const world = await World.open();
    await blockedCard(world);
    await world.say("hello", { traits: ["business"] });
    expect(told(world, "channel.placeBack")).toEqual([]);
    expect(await world.next()).toBeNull();
  });

  it("whose card could not be settled then has it settled when somebody taps it", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    await world.answer(asked, "stop");
    const edit = await world.mustNext();
    await world.dispatch(edit);
    await world.finish(edit, "rejected", { placeDead: true, error: blocked });
    expect(await world.next()).toBeNull();
    expect((await world.tap(card, "approve")).ack).toMatchObject({ code: "alreadyDecided", label: "Stop" });
    expect(await world.mustNext()).toMatchObject({ op: "edit", reference: card.references[0], attempt: 2 });
  });

  it("is tried again when an operator sends a card again, and with a new card after a day", async () => {
    const world = await World.open();
    const asked = await blockedCard(world);
    const effect = world.store.read.effects.byRun(asked.runNo)[0]?.effectId as string;
    const by = { type: "human", id: "op" };
    await world.store.effects.recover({
      effect,
      action: "retry",
      part: null,
      reference: null,
      receipt: null,
      actor: by,
    });
    const again = await world.mustNext();
    expect(again).toMatchObject({ effectId: effect, attempt: 2 });
    await world.dispatch(again);
    await world.finish(again, "rejected", { placeDead: true, error: blocked });
    world.clock.advance(DELIVERY.deadAgainMs - 1);
    await world.ask();
    expect(await world.next()).toBeNull();
    world.clock.advance(1);
    await world.ask();
    expect(await world.mustNext()).toMatchObject({ attempt: 1 });
  });
});

describe("a group that became a supergroup", () => {
  it("gets the message at its new id as a new attempt, and everything after it without another refusal", async () => {
    const world = await World.open();
    await world.ask();
    const first = await world.mustNext();
    await world.dispatch(first);
    expect(await world.finish(first, "rejected", { movedTo: SUPER, error: blocked })).toMatchObject({
      status: "pending",
    });
    const second = await world.mustNext();
    expect(second).toMatchObject({ effectId: first.effectId, attempt: 2, destination: `${MAIN}/${SUPER}` });
    await world.post(second);
    expect(world.store.read.effects.get(first.effectId).attemptList.map(({ state }) => state)).toEqual([
      "rejected",
      "accepted",
    ]);
    await world.ask();
    expect(await world.mustNext()).toMatchObject({ attempt: 1, destination: `${MAIN}/${SUPER}` });
    expect(told(world, "channel.place%")).toEqual(["channel.placeMoved"]);
  });

  it("keeps its topic, and is listened to under the new id by the same people", async () => {
    const world = await World.open();
    const asked = await world.ask({ audience: "both" });
    await world.deliver();
    const first = await world.mustNext();
    await world.dispatch(first);
    await world.finish(first, "rejected", { movedTo: SUPER, error: blocked });
    const card = await world.deliver();
    expect(card.perform.destination).toBe(`${MAIN}/${SUPER}/7`);
    const tapped = await world.tap(card, "approve", { place: SUPER });
    expect(tapped.verdict).toBe("accepted");
    expect(world.output(asked)).toBeDefined();
  });

  it("is known as soon as the service says so, and cards go there without a refusal", async () => {
    const world = await World.open();
    const inbound = { type: "inbound", sentAt: null, kind: "moved", movedTo: SUPER } as const;
    expect((await world.receive({ ...inbound, updateId: 1, digest: "a", place: "-6666" })).verdict).toBe("silent");
    expect((await world.receive({ ...inbound, updateId: 2, digest: "b", place: OPS })).verdict).toBe("moved");
    await world.ask();
    expect(await world.mustNext()).toMatchObject({ attempt: 1, destination: `${MAIN}/${SUPER}` });
  });

  it("is nothing that somebody else's chat can claim", async () => {
    const world = await World.open();
    expect((await world.say("hello", { place: SUPER })).verdict).toBe("silent");
  });

  it("has its earlier cards settled where they are", async () => {
    const world = await World.open();
    const old = await world.ask();
    const shown = await world.deliver();
    await world.ask();
    const first = await world.mustNext();
    await world.dispatch(first);
    await world.finish(first, "rejected", { movedTo: SUPER, error: blocked });
    await world.deliver();
    await world.answer(old, "approve");
    expect(await world.mustNext()).toMatchObject({ op: "edit", reference: shown.references[0] });
  });
});

describe("an operator who wants a card sent again to a chat that was closed", () => {
  it("opens it for the other cards that were refused there too", async () => {
    const world = await World.open();
    const first = await blockedCard(world);
    const second = await world.ask();
    expect(await world.next()).toBeNull();
    const [effect] = world.store.read.decisions.get(first.decisionId).destinations;
    expect(effect?.status).toBe("rejected");
    const refused = world.store.read.effects.list({ all: true }).find(({ status }) => status === "rejected");
    await world.store.effects.recover({
      effect: refused?.effectId as string,
      action: "retry",
      part: null,
      reference: null,
      receipt: null,
      actor: { type: "human", id: "uid:1" },
    });
    const sent = await world.drain();
    expect(sent.map(({ op }) => op)).toEqual(["post", "post"]);
    for (const { decisionId } of [first, second])
      expect(world.store.read.decisions.get(decisionId).destinations[0]?.status).toBe("applied");
  });
});
