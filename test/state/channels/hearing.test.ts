// Whom a deaf channel is told to, once, and how its end is told.

import { describe, expect, it } from "vitest";

import { ACCESS, LOBBY, MAIN, OPS, World } from "../decisions/fixture.ts";

const BACKUP = "telegram:backup";
const SPARE = "-2001";
const policy = { quorum: 1 } as const;
const access = {
  ...ACCESS,
  profiles: {
    ...ACCESS.profiles,
    backup: { tokenFile: "/b", allowedUserIds: ["101"], allowedChatIds: [SPARE], apiRoot: "http://127.0.0.1:1" },
  },
  audiences: {
    ops: { destinations: [`${MAIN}/${OPS}`, `${BACKUP}/${SPARE}`, "terminal"], policy, assurance: "any" as const },
    again: { destinations: [`${MAIN}/${LOBBY}`, `${BACKUP}/${SPARE}`], policy, assurance: "any" as const },
    other: { destinations: [`${BACKUP}/${SPARE}/7`], policy, assurance: "any" as const },
  },
};
const alone = { ...ACCESS, audiences: { ops: access.audiences.again } };

function messages(world: World): unknown[] {
  return world.all("SELECT effect_type AS type, destination, status FROM effects ORDER BY effect_no");
}

describe("a channel that hears nothing", () => {
  const deaf = (world: World): { since: number; cause: "unreachable" } => ({
    since: world.clock.now() - 60_000,
    cause: "unreachable",
  });

  it("is told over the other channels of its audiences, each destination once, however often it is noticed", async () => {
    const world = await World.open();
    const told = [`${BACKUP}/${SPARE}`];
    const first = await world.store.channels.hearing({ channelId: MAIN, deaf: deaf(world), access });
    expect(first).toEqual({ changed: true, told });
    world.clock.advance(1_000);
    const second = await world.store.channels.hearing({ channelId: MAIN, deaf: deaf(world), access });
    expect(second).toEqual({ changed: false, told });
    expect(messages(world)).toEqual([
      { type: "reply.channelDeaf", destination: `${BACKUP}/${SPARE}`, status: "pending" },
    ]);
    expect(world.store.read.channels.deafness(MAIN)).toMatchObject({ cause: "unreachable" });
    const events = world.all(
      "SELECT event_type AS type FROM events WHERE event_type LIKE 'channel.%' AND event_type <> 'channel.opened'",
    );
    expect(events).toEqual([{ type: "channel.deaf" }]);
  });

  it("and hears again: the end is told where the beginning was; an alert that never went out is taken back", async () => {
    const world = await World.open();
    const { since, cause } = deaf(world);
    await world.store.channels.hearing({ channelId: MAIN, deaf: { since, cause }, access });
    world.clock.advance(300_000);
    // The configuration of the end is another one: who heard the alert hears its end.
    const end = await world.store.channels.hearing({ channelId: MAIN, deaf: null, access: ACCESS });
    expect(end).toEqual({ changed: true, told: [`${BACKUP}/${SPARE}`] });
    expect(messages(world)).toEqual([
      { type: "reply.channelDeaf", destination: `${BACKUP}/${SPARE}`, status: "cancelled" },
      { type: "reply.channelHears", destination: `${BACKUP}/${SPARE}`, status: "pending" },
    ]);
    expect(world.store.read.channels.deafness(MAIN)).toBeNull();
    expect((await world.store.channels.hearing({ channelId: MAIN, deaf: null, access })).changed).toBe(false);
  });

  it("without another channel is told in its own chats only when it can still send", async () => {
    const world = await World.open();
    const lone = { ...alone, audiences: { ops: { ...alone.audiences.ops, destinations: [`${MAIN}/${LOBBY}`] } } };
    const { since } = deaf(world);
    const quiet = await world.store.channels.hearing({
      channelId: MAIN,
      deaf: { since, cause: "unreachable" },
      access: lone,
    });
    expect(quiet).toEqual({ changed: true, told: [] });
    await world.store.channels.hearing({ channelId: MAIN, deaf: null, access: lone });
    const loud = await world.store.channels.hearing({
      channelId: MAIN,
      deaf: { since: since + 1, cause: "conflict" },
      access: lone,
    });
    expect(loud.told).toEqual([`${MAIN}/${LOBBY}`]);
  });
});
