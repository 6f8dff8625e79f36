/** Messages of runs to people: stored once, sent through the same attempts as every visible message. */
import { describe, expect, it } from "vitest";
import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import type { Perform } from "../../src/contracts/protocol/channel.ts";
import type { Launch } from "../../src/state/runs/claim.ts";
import { LOBBY, OPS, World } from "./decisions/fixture.ts";
import { becomeReady, claimNext, running, startRun } from "./fixture.ts";

const TELLING: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "telling",
  startAt: "tell",
  maxSteps: 5,
  nodes: {
    tell: { type: "notify", timeoutMs: null, notify: { kind: "progress", audience: "both" } },
    end: { type: "compute", timeoutMs: null },
  },
  edges: [{ from: "tell", to: "end" }],
};

const actor = { type: "human", id: "uid:1" } as const;

function tell(world: World, { claim }: Launch, message = "Half of it is done."): Promise<{ index: number }> {
  const said = {
    kind: "progress",
    message,
    audience: "both",
    severity: "info",
    groupKey: null,
    silent: false,
  } as const;
  return world.store.notifications.send({ claim, step: 0, nodeId: "tell", access: world.access, ...said });
}

async function told(message?: string): Promise<{ world: World; launch: Launch }> {
  const world = await World.open();
  const launch = await running(world.store, world.epoch, TELLING);
  expect(await tell(world, launch, message)).toEqual({ index: 0 });
  return { world, launch };
}

function notificationOf(perform: Perform): Record<string, unknown> {
  if (perform.content?.kind !== "notification") throw new Error("no notification");
  return { ...perform.content.notification };
}

describe("a notification with an audience", () => {
  it("is one message for each destination, with what the run is called", async () => {
    const { world } = await told();
    const frames = await world.drain();
    expect(frames.map(({ destination, op }) => [op, destination.split("/")[1]])).toEqual([
      ["post", OPS],
      ["post", LOBBY],
    ]);
    expect(notificationOf(frames[0] as Perform)).toMatchObject({
      level: "progress",
      workflowName: "telling",
      title: "A title",
      message: "Half of it is done.",
    });
    expect(world.store.read.effects.list({ all: true })).toMatchObject([{ status: "applied" }, { status: "applied" }]);
  });

  it("that need not be configured is stored without one, and otherwise refused where there is none", async () => {
    const world = await World.open();
    const { claim } = await running(world.store, world.epoch, TELLING);
    const said = { claim, step: 0, nodeId: "tell", access: world.access, kind: "progress", message: "Half." } as const;
    const to = { ...said, audience: "nobody" };
    await expect(world.store.notifications.send(to)).rejects.toMatchObject({ kind: "audienceUnknown" });
    expect(await world.store.notifications.send({ ...to, ifConfigured: true })).toEqual({ index: 0 });
    expect(await world.drain()).toEqual([]);
  });

  it("that need not be configured gets the message where there is one", async () => {
    const world = await World.open();
    const { claim } = await running(world.store, world.epoch, TELLING);
    const said = { claim, step: 0, nodeId: "tell", access: world.access, kind: "progress", message: "Half." } as const;
    await world.store.notifications.send({ ...said, audience: "both", ifConfigured: true });
    expect(await world.drain()).toHaveLength(2);
  });

  it("says that its text is Markdown, where the workflow said so", async () => {
    const world = await World.open();
    const { claim } = await running(world.store, world.epoch, TELLING);
    const said = { kind: "final", message: "**Done**", format: "markdown", audience: "both" } as const;
    await world.store.notifications.send({ claim, step: 0, nodeId: "tell", access: world.access, ...said });
    const [frame] = await world.drain();
    expect(notificationOf(frame as Perform)).toMatchObject({ format: "markdown", message: "**Done**" });
  });

  it("keeps number and text of its first attempt when the node is executed again", async () => {
    const { launch, world } = await told();
    await world.store.runs.runnerEnded({ runnerEpoch: launch.claim.runnerEpoch, outcome: "crashed", error: null });
    world.clock.advance(60_000);
    const again = await claimNext(world.store, world.epoch);
    await becomeReady(world.store, again, TELLING);
    expect(await tell(world, again, "Something else")).toEqual({ index: 0 });
    const frames = await world.drain();
    expect(frames).toHaveLength(2);
    expect(notificationOf(frames[0] as Perform)).toMatchObject({ message: "Half of it is done." });
  });

  it("that is in doubt says so when a person has it sent again", async () => {
    const { world } = await told();
    const first = await world.mustNext();
    await world.dispatch(first);
    await world.finish(first, "ambiguous");
    const [effect] = world.store.read.effects.list({ all: true }).filter(({ effectId }) => effectId === first.effectId);
    expect(effect?.settleWith).toContain("channel recover");
    const recover = {
      effect: first.effectId,
      action: "retry",
      part: null,
      reference: null,
      receipt: null,
      actor,
    } as const;
    await world.store.effects.recover(recover);
    const frames = await world.drain();
    const second = frames.find(({ effectId }) => effectId === first.effectId) as Perform;
    expect(notificationOf(second)).toMatchObject({ possibleRepeatOf: world.clock.at });
  });

  it("is not sent any more when somebody cancels its run, but what is on its way gets its outcome", async () => {
    const { launch, world } = await told();
    const first = await world.mustNext();
    await world.dispatch(first);
    await world.store.runs.cancel({ run: launch.claim.runId, expectedRevision: null, receipt: null, actor });
    expect(await world.next()).toBeNull();
    await world.store_(first, 1, 1, world.reference(OPS));
    await world.finish(first, "accepted");
    const states = world.store.read.effects.list({ all: true }).map(({ status }) => status);
    expect(states.sort()).toEqual(["applied", "cancelled"]);
  });

  it("is refused for a node that is not executed, a text that is too long, and an audience that nobody configured", async () => {
    const world = await World.open();
    const { claim } = await running(world.store, world.epoch, TELLING);
    const base = {
      claim,
      step: 0,
      nodeId: "tell",
      kind: "final",
      message: "x",
      audience: null,
      severity: "info",
      groupKey: null,
      silent: false,
      access: world.access,
    } as const;
    const send = (change: object): Promise<unknown> => world.store.notifications.send({ ...base, ...change });
    await expect(send({ step: 1 })).rejects.toMatchObject({ kind: "protocolRejected" });
    await expect(send({ message: "x".repeat(16_001) })).rejects.toMatchObject({ kind: "outputTooLarge" });
    await expect(send({ audience: "nobody" })).rejects.toMatchObject({ kind: "audienceUnknown" });
    expect(world.count("notifications")).toBe(0);
    await startRun(world.store);
  });
});
