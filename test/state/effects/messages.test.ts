/** Attempts of messages: what each outcome means, the order in which messages go out, and what a death of the adapter leaves behind. */
import { describe, expect, it } from "vitest";
import { DELIVERY } from "../../../src/contracts/limits.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import { runView } from "../../../src/server/views/run-view.ts";
import { ACCESS, cardOf, ELSEWHERE, LOBBY, MAIN, OPS, replyOf, tokensOf, World } from "../decisions/fixture.ts";

const refused = { code: "HP606", kind: "channelRefused", message: "no", remedy: "none" };

/** One message of each kind on its way, with its permission. */
const KINDS: Record<"delivery" | "reply" | "settlement", (world: World) => Promise<Perform>> = {
  delivery: async (world) => {
    await world.ask();
    return world.mustNext();
  },
  reply: async (world) => {
    await world.command("status");
    return world.mustNext();
  },
  settlement: async (world) => {
    await world.ask();
    const card = await world.deliver();
    await world.tap(card, "approve");
    return world.mustNext();
  },
};

describe("the outcome of an attempt", () => {
  it.each([
    ["delivery", "accepted", "applied", "accepted"],
    ["delivery", "rejected", "rejected", "rejected"],
    ["delivery", "notSent", "pending", "notSent"],
    ["delivery", "ambiguous", "ambiguous", "ambiguous"],
    ["reply", "accepted", "applied", "accepted"],
    ["reply", "rejected", "rejected", "rejected"],
    ["reply", "notSent", "pending", "notSent"],
    ["reply", "ambiguous", "ambiguous", "ambiguous"],
    ["settlement", "accepted", "applied", "accepted"],
    ["settlement", "rejected", "rejected", "rejected"],
    ["settlement", "notSent", "pending", "notSent"],
    ["settlement", "ambiguous", "pending", "ambiguous"],
  ] as const)("of a %s that is %s: effect %s, attempt %s", async (kind, outcome, status, attempt) => {
    const world = await World.open();
    const perform = await KINDS[kind](world);
    await world.dispatch(perform);
    if (outcome === "accepted" && perform.op === "post") await world.store_(perform, 1, 1, world.reference(OPS));
    const result = await world.finish(perform, outcome, outcome === "accepted" ? {} : { error: refused });
    expect(result).toEqual({
      status,
      nextAttemptAt: status === "pending" ? world.clock.at + DELIVERY.backoffMinMs : null,
    });
    const detail = world.store.read.effects.get(perform.effectId);
    expect(detail).toMatchObject({ status, attemptList: [{ attempt: 1, state: attempt }] });
    // A refused card can be sent again as long as its question waits.
    const open = status === "ambiguous" || (kind === "delivery" && status === "rejected");
    expect(detail.settleWith !== null).toBe(open);
    if (status === "ambiguous") {
      // Nobody sends a message again whose arrival is in doubt.
      world.clock.advance(DELIVERY.backoffMaxMs * 10);
      expect(await world.next()).toBeNull();
    }
    if (status !== "pending") return;
    expect(await world.next()).toBeNull();
    expect(world.store.read.channels.nextDueAt(MAIN)).toBe(result.nextAttemptAt);
    world.clock.advance(DELIVERY.backoffMinMs);
    expect(await world.mustNext()).toMatchObject({ effectId: perform.effectId, attempt: 2 });
  });

  it("before the first byte is never in doubt", async () => {
    const world = await World.open();
    const perform = await KINDS.delivery(world);
    expect(await world.finish(perform, "ambiguous")).toMatchObject({ status: "pending" });
  });

  it("that claims more than its receipts say is refused", async () => {
    const world = await World.open();
    const perform = await KINDS.delivery(world);
    await expect(world.finish(perform, "accepted")).rejects.toMatchObject({ kind: "protocolRejected" });
    await world.dispatch(perform, 1, 2);
    await world.store_(perform, 1, 2, `${OPS}:1`);
    await expect(world.finish(perform, "accepted")).rejects.toMatchObject({ kind: "protocolRejected" });
    expect(world.store.read.effects.get(perform.effectId).status).toBe("applying");
  });

  it("waits longer each time, up to the limit", async () => {
    const world = await World.open();
    let perform = await KINDS.delivery(world);
    const waits: number[] = [];
    for (let i = 0; i < 11; i += 1) {
      const { nextAttemptAt } = await world.finish(perform, "notSent");
      waits.push((nextAttemptAt as number) - world.clock.at);
      world.clock.at = nextAttemptAt as number;
      perform = await world.mustNext();
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]);
  });

  it("of a card is not repeated once the decision is over", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const perform = await world.mustNext();
    await world.answer(asked, "approve");
    expect(await world.finish(perform, "notSent")).toEqual({ status: "cancelled", nextAttemptAt: null });
    expect(await world.next()).toBeNull();
  });

  it("429 holds the whole chat for as long as the service asks, and other chats go on", async () => {
    const world = await World.open();
    await world.ask({ audience: "both" });
    await world.command("status");
    const perform = await world.mustNext();
    await world.dispatch(perform);
    expect(await world.finish(perform, "rejected", { retryAfterMs: 7_000, error: refused })).toEqual({
      status: "pending",
      nextAttemptAt: world.clock.at + 7_000,
    });
    expect((await world.drain()).map(({ destination }) => destination)).toEqual([`${MAIN}/${LOBBY}/7`]);
    expect(world.store.read.channels.nextDueAt(MAIN)).toBe(world.clock.at + 7_000);
    world.clock.advance(6_999);
    expect(await world.next()).toBeNull();
    world.clock.advance(1);
    expect((await world.drain()).map(({ content }) => content?.kind)).toEqual(["card", "reply"]);
    expect(world.store.read.effects.get(perform.effectId).attemptList.map(({ state }) => state)).toEqual([
      "rejected",
      "accepted",
    ]);
  });

  it("of an edit whose message is gone: the outcome is posted once per chat", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver(2);
    await world.tap(card, "approve");
    for (const reference of card.references) {
      const edit = await world.mustNext();
      expect(edit).toMatchObject({ op: "edit", reference });
      await world.dispatch(edit, 1, 1);
      expect(await world.finish(edit, "rejected", { gone: true, error: refused })).toMatchObject({
        status: "rejected",
      });
    }
    const frames = await world.drain();
    expect(frames).toHaveLength(1);
    expect(replyOf(frames[0]!).reply).toMatchObject({
      code: "outcome",
      title: "Approve the deployment",
      status: { kind: "chosen", label: "Approve", by: "Ann" },
    });
  });

  it("in a dead chat is tried once; what waits there ends with the same reason", async () => {
    const world = await World.open();
    const first = await world.ask();
    await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform);
    await world.finish(perform, "rejected", { placeDead: true, error: refused });
    expect(await world.next()).toBeNull();
    expect(world.all("SELECT status FROM effects")).toEqual([{ status: "rejected" }, { status: "rejected" }]);
    // Computed, not stored: it stays answerable.
    expect(world.store.read.decisions.get(first.decisionId)).toMatchObject({
      status: "pending",
      notes: [expect.stringContaining("undeliverable")],
    });
    // Everything that lists it names the way out, and the way leads out.
    const open = world.store.read.effects.list({ all: false });
    const card = open.find(({ decisionFingerprint }) => decisionFingerprint === first.fingerprint);
    const way = `holdpoint channel recover ${card?.shortId ?? ""} retry`;
    expect(card).toMatchObject({ status: "rejected", settleWith: way });
    expect(world.store.read.decisions.get(first.decisionId).notes[0]).toContain(way);
    expect(runView(world.store, first.runId, world.clock.at, world.access).nextStep).toBe(way);
    const recover = {
      action: "retry",
      part: null,
      reference: null,
      actor: { type: "human", id: "cli" },
      receipt: null,
    } as const;
    await world.store.effects.recover({ ...recover, effect: card?.shortId ?? "" });
    expect(world.store.read.decisions.get(first.decisionId).notes).toEqual([]);
    expect(runView(world.store, first.runId, world.clock.at, world.access).nextStep).toBeNull();
    expect((await world.answer(first, "approve")).result.kind).toBe("accepted");
  });
});

describe("a card in several parts", () => {
  it("goes on at the first part that is provably unsent", async () => {
    const world = await World.open();
    await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform, 1, 3);
    await world.store_(perform, 1, 3, `${OPS}:1`);
    await world.dispatch(perform, 2, 3);
    await world.finish(perform, "notSent");
    world.clock.advance(DELIVERY.backoffMinMs);
    const again = await world.mustNext();
    expect(again).toMatchObject({ effectId: perform.effectId, attempt: 2, fromPart: 2 });
    expect(tokensOf(again)).not.toEqual(tokensOf(perform));
    const { references } = await world.post(again, 3);
    expect(references).toHaveLength(2);
    expect(world.store.read.effects.get(perform.effectId)).toMatchObject({ status: "applied" });
    expect(world.store.read.decisions.list({ all: false })[0]?.destinations[0]?.shown).toBe(3);
  });

  it("whose part is refused keeps what arrived, and a person may send the rest", async () => {
    const world = await World.open();
    await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform, 1, 3);
    await world.store_(perform, 1, 3, `${OPS}:1`);
    await world.dispatch(perform, 2, 3);
    expect(await world.finish(perform, "rejected", { error: refused })).toMatchObject({ status: "rejected" });
    await world.store.effects.recover({
      effect: perform.effectId,
      action: "retry",
      part: null,
      reference: null,
      receipt: null,
      actor: { type: "control", id: "me" },
    });
    const again = await world.mustNext();
    expect(again).toMatchObject({ fromPart: 2, content: { state: { status: { kind: "pending" } } } });
    expect(cardOf(again).state.notes).toBeUndefined();
  });

  it("in doubt at a part sends nothing more, and settles only what is known", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform, 1, 3);
    await world.store_(perform, 1, 3, `${OPS}:1`);
    await world.dispatch(perform, 2, 3);
    expect(await world.finish(perform, "ambiguous")).toMatchObject({ status: "ambiguous" });
    await world.answer(asked, "approve");
    expect((await world.drain()).map(({ op, part, reference }) => [op, part, reference])).toEqual([
      ["edit", 1, `${OPS}:1`],
    ]);
  });

  it("refuses parts out of order", async () => {
    const world = await World.open();
    await world.ask();
    const perform = await world.mustNext();
    await expect(world.dispatch(perform, 2, 3)).rejects.toMatchObject({ kind: "protocolRejected" });
    await world.dispatch(perform, 1, 3);
    await expect(world.dispatch(perform, 2, 3)).rejects.toMatchObject({ kind: "protocolRejected" });
    await world.store_(perform, 1, 3, `${OPS}:1`);
    await expect(world.dispatch(perform, 2, 4)).rejects.toMatchObject({ kind: "protocolRejected" });
    await expect(world.store_(perform, 3, 3, `${OPS}:2`)).rejects.toMatchObject({ kind: "protocolRejected" });
    expect(await world.dispatch(perform, 2, 3)).toEqual({ go: true });
    await expect(world.store_(perform, 2, 3, `${OPS}:1`)).rejects.toMatchObject({ kind: "protocolRejected" });
  });

  it("that was begun when the answer came is finished and then settled, part by part", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform, 1, 2);
    await world.store_(perform, 1, 2, `${OPS}:1`);
    await world.answer(asked, "approve");
    expect(await world.dispatch(perform, 2, 2)).toEqual({ go: true });
    await world.store_(perform, 2, 2, `${OPS}:2`);
    await world.finish(perform, "accepted");
    expect((await world.drain()).map(({ part, reference }) => [part, reference])).toEqual([
      [1, `${OPS}:1`],
      [2, `${OPS}:2`],
    ]);
  });
});

describe("settlement", () => {
  it("of a card of which nothing was sent is nothing at all", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const perform = await world.mustNext();
    await world.answer(asked, "approve");
    expect(await world.dispatch(perform)).toEqual({ go: false });
    expect(world.store.read.effects.get(perform.effectId)).toMatchObject({
      status: "cancelled",
      attemptList: [{ state: "notSent" }],
    });
    // The child hears that it need not send and says so; nothing changes by that.
    expect(await world.finish(perform, "notSent")).toEqual({ status: "cancelled", nextAttemptAt: null });
    expect(await world.next()).toBeNull();
  });

  it("follows whenever a reference appears: confirmed, tapped, or named by a person", async () => {
    const world = await World.open();
    const asked = await world.ask({ audience: "both" });
    const confirmed = await world.mustNext();
    const named = await world.mustNext();
    await world.dispatch(confirmed);
    await world.dispatch(named);
    await world.finish(named, "ambiguous");
    await world.answer(asked, "approve");
    await world.store_(confirmed, 1, 1, `${OPS}:11`);
    await world.finish(confirmed, "accepted");
    expect((await world.drain()).map(({ reference }) => reference)).toEqual([`${OPS}:11`]);
    await world.store.effects.recover({
      effect: named.effectId,
      action: "confirm",
      part: null,
      reference: "22",
      receipt: null,
      actor: { type: "control", id: "me" },
    });
    expect((await world.drain()).map(({ reference, destination }) => [reference, destination])).toEqual([
      [`${LOBBY}:22`, `${MAIN}/${LOBBY}/7`],
    ]);
    expect(world.count("effects", "purpose = 'settlement' AND status = 'applied'")).toBe(2);
  });

  it("in doubt is repeated, unless a newer one took its place", async () => {
    const world = await World.open();
    const edit = await KINDS.settlement(world);
    await world.dispatch(edit, 1, 1);
    await world.store.runs.cancel({
      run: world.store.read.decisions.list({ all: true })[0]!.runId,
      reason: null,
      expectedRevision: null,
      receipt: null,
      actor: { type: "control", id: "me" },
    });
    expect(await world.finish(edit, "ambiguous")).toEqual({ status: "cancelled", nextAttemptAt: null });
    const newer = await world.mustNext();
    expect(newer).toMatchObject({ op: "edit", reference: edit.reference });
    expect(cardOf(newer).state.story).toMatchObject({ outcome: "cancelled" });
  });
});

describe("the order of messages", () => {
  it("is one at a time per chat, and by age per destination", async () => {
    const world = await World.open();
    const asked = await Promise.all([world.ask(), world.ask(), world.ask({ audience: "both" })]);
    const first = await world.mustNext();
    const elsewhere = await world.mustNext();
    expect([first.destination, elsewhere.destination]).toEqual([`${MAIN}/${OPS}`, `${MAIN}/${LOBBY}/7`]);
    expect(await world.next()).toBeNull();
    await world.post(first);
    const shown = [first, ...(await world.drain())].map((frame) => cardOf(frame).card.requestId);
    expect(shown).toEqual(asked.map(({ decisionId }) => decisionId));
  });

  it("lets an edit overtake posts that wait for their next attempt, and no post", async () => {
    const world = await World.open();
    const asked = await world.ask();
    const card = await world.deliver();
    await world.ask();
    await world.ask();
    const waiting = await world.mustNext();
    await world.dispatch(waiting);
    await world.finish(waiting, "notSent");
    await world.answer(asked, "approve");
    expect((await world.drain()).map(({ op, reference }) => [op, reference])).toEqual([["edit", card.references[0]]]);
    world.clock.advance(DELIVERY.backoffMinMs);
    expect((await world.drain()).map(({ effectId }) => effectId)[0]).toBe(waiting.effectId);
  });

  it("sends nothing to a chat that is not allowed any more", async () => {
    const world = await World.open();
    const asked = await world.ask({ audience: "both" });
    const profile = { ...ACCESS.profiles["main"]!, allowedChatIds: [LOBBY] };
    const frames: Perform[] = [];
    for (
      let frame = await world.next({ ...ACCESS, profiles: { main: profile } });
      frame !== null;
      frame = await world.next({ ...ACCESS, profiles: { main: profile } })
    ) {
      await world.post(frame);
      frames.push(frame);
    }
    expect(frames.map(({ destination }) => destination)).toEqual([`${MAIN}/${LOBBY}/7`]);
    expect(world.store.read.decisions.get(asked.decisionId).destinations.map(({ status }) => status)).toEqual([
      "rejected",
      "applied",
    ]);
    expect(world.count("effects", `place = '${ELSEWHERE}'`)).toBe(0);
  });
});

describe("an adapter that is gone", () => {
  it("leaves in doubt only what was in its hands", async () => {
    const world = await World.open();
    await world.ask({ audience: "both" });
    await world.ask();
    const sending = await world.mustNext();
    await world.dispatch(sending);
    const recorded = await world.mustNext();
    expect(await world.store.effects.adapterGone(world.mine)).toEqual({ notSent: 1, ambiguous: 1 });
    expect(world.store.read.effects.get(sending.effectId)).toMatchObject({
      status: "ambiguous",
      attemptList: [{ state: "ambiguous" }],
    });
    expect(world.store.read.effects.get(recorded.effectId)).toMatchObject({
      status: "pending",
      attemptList: [{ state: "notSent" }],
    });
    await world.openChannel("adapter-2");
    const sent = await world.drain();
    expect(sent.map(({ effectId, attempt }) => [effectId === recorded.effectId, attempt])).toEqual(
      [
        [false, 1],
        [true, 2],
      ].sort((a, b) => Number(b[0]) - Number(a[0])),
    );
  });

  it("time after time over one message does not keep the others from going out", async () => {
    const world = await World.open();
    await world.ask({ audience: "both" });
    const first = await world.mustNext();
    let attempts = 1;
    const others: string[] = [];
    for (let round = 2; round < 40; round += 1) {
      // Each adapter ends as soon as it has that message in its hands.
      await world.store.effects.adapterGone(world.mine);
      await world.openChannel(`adapter-${round}`);
      for (let next = await world.next(); next !== null; next = await world.next()) {
        if (next.effectId === first.effectId) {
          attempts += 1;
          break;
        }
        others.push((await world.post(next)).perform.effectId);
      }
      world.clock.advance(DELIVERY.backoffMinMs);
    }
    expect(others).toHaveLength(1);
    expect(attempts).toBeGreaterThan(3);
    expect(attempts).toBeLessThan(10);
  });

  it("between two parts leaves nothing in doubt", async () => {
    const world = await World.open();
    await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform, 1, 2);
    await world.store_(perform, 1, 2, `${OPS}:1`);
    expect(await world.store.effects.adapterGone(world.mine)).toEqual({ notSent: 1, ambiguous: 0 });
    await world.openChannel("adapter-2");
    expect(await world.mustNext()).toMatchObject({ effectId: perform.effectId, fromPart: 2 });
  });

  it("after the last receipt leaves a card that arrived", async () => {
    const world = await World.open();
    await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform);
    await world.store_(perform, 1, 1, `${OPS}:1`);
    expect(await world.store.effects.adapterGone(world.mine)).toEqual({ notSent: 0, ambiguous: 0 });
    expect(world.store.read.effects.get(perform.effectId)).toMatchObject({
      status: "applied",
      attemptList: [{ state: "accepted" }],
    });
  });

  it("in the middle of an edit has it made again", async () => {
    const world = await World.open();
    const edit = await KINDS.settlement(world);
    await world.dispatch(edit, 1, 1);
    expect(await world.store.effects.adapterGone(world.mine)).toEqual({ notSent: 0, ambiguous: 1 });
    await world.openChannel("adapter-2");
    world.clock.advance(DELIVERY.backoffMinMs);
    expect(await world.mustNext()).toMatchObject({ effectId: edit.effectId, attempt: 2, op: "edit" });
  });

  it("may report nothing more", async () => {
    const world = await World.open();
    await world.ask();
    const perform = await world.mustNext();
    await world.dispatch(perform);
    const old = { ...world.mine, effectId: perform.effectId, attempt: perform.attempt };
    await world.openChannel("adapter-2");
    expect(await world.store.effects.dispatch({ ...old, part: 1, of: 1 })).toEqual({ go: false });
    expect(await world.store.effects.storePart({ ...old, part: 1, of: 1, reference: `${OPS}:1` })).toEqual({
      stored: false,
    });
    expect(await world.store.effects.finishAttempt({ ...old, outcome: "accepted" })).toEqual({
      status: "ambiguous",
      nextAttemptAt: null,
    });
    await expect(world.store.effects.nextAttempt(old)).rejects.toMatchObject({ kind: "protocolRejected" });
  });

  it("is the same to a server that starts again", async () => {
    const world = await World.open();
    await world.ask({ audience: "both" });
    const sending = await world.mustNext();
    await world.dispatch(sending);
    await world.mustNext();
    const { epoch } = await world.store.server.claimEpoch({ serverId: "server-2", pid: 1, startIdentity: "b" });
    expect(await world.store.server.recover({ epoch })).toMatchObject({ attemptsNotSent: 1, attemptsAmbiguous: 1 });
  });
});
