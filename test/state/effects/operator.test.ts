/** What a person settles: messages and actions whose end nobody can know. */
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/state/hash.ts";
import type { RecoverInput } from "../../../src/state/effects/operator.ts";
import { cardOf, LOBBY, OPS, tokensOf, World } from "../decisions/fixture.ts";

const actor = { type: "control", id: "me" } as const;

async function inDoubt(
  world: World,
  of = 1,
  arrived: readonly string[] = [],
): Promise<{ effectId: string; token: string }> {
  await world.ask();
  const perform = await world.mustNext();
  for (const [index, reference] of arrived.entries()) {
    await world.dispatch(perform, index + 1, of);
    await world.store_(perform, index + 1, of, reference);
  }
  await world.dispatch(perform, arrived.length + 1, of);
  await world.finish(perform, "ambiguous");
  return { effectId: perform.effectId, token: tokensOf(perform)["approve"] as string };
}

function recover(
  world: World,
  effect: string,
  change: Partial<RecoverInput> = {},
): ReturnType<World["store"]["effects"]["recover"]> {
  return world.store.effects.recover({
    effect,
    action: "confirm",
    part: null,
    reference: null,
    receipt: null,
    actor,
    ...change,
  });
}

describe("a card in doubt", () => {
  it("is found by its short id, a prefix, or the full id", async () => {
    const world = await World.open();
    const { effectId } = await inDoubt(world);
    const { shortId, settleWith } = world.store.read.effects.get(effectId);
    expect(settleWith).toBe(`holdpoint channel recover ${shortId} confirm|retry`);
    for (const ref of [shortId, shortId.slice(2), shortId.slice(0, 5), effectId.slice(0, 14)])
      expect(world.store.read.effects.get(ref).effectId).toBe(effectId);
    expect(() => world.store.read.effects.get("e-zzzzzz")).toThrow(expect.objectContaining({ kind: "effectNotFound" }));
  });

  it("confirmed with its message id can be settled later", async () => {
    const world = await World.open();
    const { effectId, token } = await inDoubt(world);
    expect(await recover(world, effectId, { reference: "815" })).toMatchObject({
      outcome: "accepted",
      result: { effectId, status: "applied" },
    });
    expect(await world.tapToken(token, { reference: `${OPS}:816` })).toMatchObject({ verdict: "unknownButton" });
    expect(await world.tapToken(token, { reference: `${OPS}:815` })).toMatchObject({ verdict: "accepted" });
    expect((await world.drain()).map(({ reference }) => reference)).toEqual([`${OPS}:815`]);
  });

  it("confirmed without it is a copy that cannot be edited, until a tap names it", async () => {
    const world = await World.open();
    const { effectId, token } = await inDoubt(world);
    expect(await recover(world, effectId)).toMatchObject({ result: { status: "applied", settleWith: null } });
    expect(await world.next()).toBeNull();
    expect(await world.tapToken(token, { reference: `${OPS}:815` })).toMatchObject({ verdict: "accepted" });
    expect((await world.drain()).map(({ reference }) => reference)).toEqual([`${OPS}:815`]);
  });

  it("confirmed in the middle sends the parts that are still missing", async () => {
    const world = await World.open();
    const { effectId } = await inDoubt(world, 3, [`${OPS}:1`]);
    expect(await recover(world, effectId, { part: 2, reference: "2" })).toMatchObject({
      result: { status: "pending" },
    });
    expect(await world.mustNext()).toMatchObject({ effectId, fromPart: 3 });
  });

  it("sent again says that it may be a repeat, keeps saying so, and either copy counts", async () => {
    const world = await World.open();
    const { effectId, token } = await inDoubt(world);
    const sentAt = world.clock.at;
    world.clock.advance(60_000);
    await recover(world, effectId, { action: "retry" });
    const second = await world.deliver();
    expect(cardOf(second.perform).state.notes).toEqual({ possibleRepeatOf: sentAt });
    // The first copy was there after all.
    expect(await world.tapToken(token, { reference: `${OPS}:400` })).toMatchObject({ verdict: "accepted" });
    const frames = await world.drain();
    expect(frames.map((frame) => [frame.reference, cardOf(frame).state.notes])).toEqual([
      [`${OPS}:400`, undefined],
      [second.references[0], { possibleRepeatOf: sentAt }],
    ]);
  });

  it("that certainly did not arrive is sent again as if for the first time", async () => {
    const world = await World.open();
    const { effectId } = await inDoubt(world);
    await world.store.effects.settle({ effect: effectId, outcome: "notApplied", result: null, receipt: null, actor });
    expect(world.store.read.effects.get(effectId).attemptList).toMatchObject([{ state: "notSent" }]);
    expect(cardOf((await world.deliver()).perform).state.notes).toBeUndefined();
  });

  it("is not sent again for a decision that is over", async () => {
    const world = await World.open();
    const { effectId } = await inDoubt(world);
    const { fingerprint } = world.store.read.decisions.list({ all: false })[0]!;
    await world.answer({ decisionId: fingerprint } as never, "approve", { requestDigest: null });
    await expect(recover(world, effectId, { action: "retry" })).rejects.toMatchObject({
      kind: "effectState",
      message: expect.stringContaining("over"),
    });
    await recover(world, effectId, { reference: "9" });
    expect((await world.drain()).map(({ reference }) => reference)).toEqual([`${OPS}:9`]);
  });

  it.each([
    ["no number", "abc"],
    ["another chat's message", `${LOBBY}:5`],
    ["negative", "-5"],
  ])("refuses a reference that is %s, with nothing changed", async (_name, reference) => {
    const world = await World.open();
    const { effectId } = await inDoubt(world);
    await expect(recover(world, effectId, { reference })).rejects.toMatchObject({ kind: "referenceInvalid" });
    expect(world.store.read.effects.get(effectId)).toMatchObject({
      status: "ambiguous",
      attemptList: [{ state: "ambiguous" }],
    });
  });

  it("refuses a reference that is another message's", async () => {
    const world = await World.open();
    await world.ask();
    const { references } = await world.deliver();
    const { effectId } = await inDoubt(world);
    await expect(recover(world, effectId, { reference: references[0]!.split(":")[1]! })).rejects.toMatchObject({
      kind: "referenceInvalid",
    });
  });

  it("settled twice is refused, unless the receipt says it is the same request", async () => {
    const world = await World.open();
    const { effectId } = await inDoubt(world);
    const receipt = {
      clientId: "c",
      idempotencyKey: "k",
      operation: "channel.recover",
      fingerprint: sha256("x"),
      serverEpoch: world.epoch,
    };
    const first = await recover(world, effectId, { reference: "7", receipt });
    expect(await recover(world, effectId, { reference: "7", receipt })).toEqual({ ...first, outcome: "adopted" });
    await expect(recover(world, effectId, { reference: "8" })).rejects.toMatchObject({ kind: "effectState" });
  });
});
