/** Messages into a session, exactly once, whatever dies or returns: the session, its connection, the adapter, the server. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeSession, SessionFile, deliver, type SessionOptions } from "../../harness/pi-session.ts";
import { makeWorld, type World } from "../runs/world.ts";
import { Stage } from "./stage.ts";

const PLAN = `import * as h from "holdpoint";
export default h.defineWorkflow({ name: "plan", startAt: "say", nodes: {
  say: h.notify({ kind: "progress", message: "It begins." }),
  plan: h.agent({ prompt: "Plan it.", expectedOutput: "Anything." }),
}, edges: [{ from: "say", to: "plan" }] });`;

/** More is told at once than a chat would be sent. */
const TELL = `import * as h from "holdpoint";
const say = (message) => h.notify({ kind: "progress", message });
export default h.defineWorkflow({ name: "tell", startAt: "a", nodes: {
  a: say("One."), b: say("Two."), c: say("Three."), d: say("Four."), e: say("Five."),
  plan: h.agent({ prompt: "Plan it.", expectedOutput: "Anything." }),
}, edges: ["a", "b", "c", "d", "e"].map((from, n) => ({ from, to: ["b", "c", "d", "e", "plan"][n] })) });`;

let world: World;
let file: SessionFile;
let stage: Stage;
const open = (options?: SessionOptions): Promise<FakeSession> => stage.open(options);
const start = (): Promise<string> => stage.start("plan");

beforeEach(async () => {
  world = await makeWorld();
  file = new SessionFile("s-1");
  stage = new Stage(world, file);
  world.put("plan.workflow.ts", PLAN);
});
afterEach(() => stage.close());

const waits = (run: string) => world.until(run, ({ run: { status } }) => status === "waiting", "the step");
const messages = (run: string) =>
  world.view(run).then(({ effects }) => effects.map(({ status, type }) => [type, status]));

async function allThere(session: FakeSession, run: string): Promise<void> {
  await session.has("notification");
  await session.has("step");
  await world.until(
    run,
    ({ effects }) => effects.length === 2 && effects.every(({ status }) => status === "applied"),
    "the receipts",
  );
  expect(file.of("notification")).toHaveLength(1);
  expect(file.of("step")).toHaveLength(1);
}

describe("messages into a session", () => {
  it("wait for a session that is not open, and come in their order when it is; what only tells starts no turn", async () => {
    const run = await start();
    await waits(run);
    const session = await open();
    await allThere(session, run);
    expect(file.entries.map(({ delivery }) => [delivery.customType, delivery.trigger])).toEqual([
      ["holdpoint-notification", false],
      ["holdpoint-step", true],
    ]);
  });

  it("keep their order, however many there are at once: a session takes them as they come, unlike a chat", async () => {
    world.put("tell.workflow.ts", TELL);
    const session = await open();
    const run = await stage.start("tell");
    await session.has("step");
    await session.has("notification", 5);
    await waits(run);
    const told = file.entries.map(({ delivery: { details } }) =>
      details.message.kind === "notification" ? details.message.notification.message : details.message.kind,
    );
    expect(told).toEqual(["One.", "Two.", "Three.", "Four.", "Five.", "step"]);
  });

  it("are held while the person is at work, and come when the session is idle", async () => {
    const session = await open();
    session.standing({ idle: false });
    const run = await start();
    await waits(run);
    await world.until(run, ({ effects }) => effects[0]?.attempts === 1, "an attempt");
    expect(file.entries).toEqual([]);
    session.standing({ idle: true, pendingInput: true });
    session.standing({ pendingInput: false });
    await allThere(session, run);
  });

  it("are not sent again when the receipt was lost: the tree proves them", async () => {
    const session = await open({
      onDeliver: (delivery, one) => {
        // Pi has it, and dies before anybody is told.
        one.file.append(delivery);
        one.disconnect();
      },
    });
    const run = await start();
    await session.closed;
    await waits(run);
    await allThere(await open(), run);
  });

  it("are not sent again by an extension that was loaded anew and answers late", async () => {
    let held: (() => void) | undefined;
    const session = await open({
      onDeliver: (delivery, one) => {
        one.file.append(delivery);
        held ??= () => one.delivered(delivery, "sent", one.file.entries[0]?.entryId ?? null);
      },
    });
    const run = await start();
    await session.until(() => file.entries.length > 0, "the first message");
    const next = await open();
    await session.closed;
    await allThere(next, run);
  });

  it("come again into a session that lost them because it had no file", async () => {
    file.durable = false;
    const session = await open();
    const run = await start();
    await session.has("notification");
    await waits(run);
    session.kill();
    expect(file.entries).toEqual([]);
    await world.until(run, ({ effects }) => effects.every(({ status }) => status === "pending"), "no receipt");
    file.durable = true;
    await allThere(await open(), run);
  });

  it("are not held up by one that waits for the file of its session only, and keep their order", async () => {
    file.durable = false;
    const session = await open();
    const run = await start();
    await waits(run);
    await session.has("step");
    expect(file.entries.map(({ delivery }) => delivery.customType)).toEqual([
      "holdpoint-notification",
      "holdpoint-step",
    ]);
    await world.until(
      run,
      ({ effects }) => effects.every(({ attempts, status }) => status === "pending" && attempts > 0),
      "no receipt",
    );
    file.durable = true;
    await session.branch();
    await allThere(session, run);
    expect(file.entries).toHaveLength(2);
  });

  it("count once the session has a file", async () => {
    file.durable = false;
    const session = await open();
    const run = await start();
    await session.has("notification");
    await waits(run);
    file.durable = true;
    await session.branch();
    await allThere(session, run);
  });

  it("survive the death of the adapter in the middle of a delivery", async () => {
    let once = true;
    const session = await open({
      onDeliver: (delivery, one) => {
        deliver(delivery, one);
        if (once) world.adapters.at(-1)?.kill();
        once = false;
      },
    });
    const run = await start();
    await session.closed;
    await waits(run);
    await allThere(await open(), run);
    expect(world.adapters.length).toBeGreaterThan(1);
  });

  it.each(["dispatching", "part", "outcome"])("survive the death of the adapter at its frame %s", async (type) => {
    const session = await open();
    const [adapter] = world.adapters;
    if (adapter === undefined) throw new Error("no adapter");
    adapter.filter = (frame) => {
      if (frame.type !== type) return true;
      adapter.kill();
      return false;
    };
    const run = await start();
    await session.closed;
    await waits(run);
    await allThere(await open(), run);
  });

  it("survive the loss of the server in the middle of a delivery", async () => {
    const session = await open({ onDeliver: (delivery, one) => void one.file.append(delivery) });
    const run = await start();
    await session.until(() => file.entries.length > 0, "the first message");
    await world.crash();
    await session.closed;
    await allThere(await open(), run);
  });

  it("that were cancelled before their evidence came count as sent", async () => {
    const session = await open({
      onDeliver: (delivery, one) => {
        one.file.append(delivery);
        if (delivery.customType === "holdpoint-step") one.disconnect();
        else one.delivered(delivery, "sent", one.file.entries.at(-1)?.entryId ?? null);
      },
    });
    const run = await start();
    await session.closed;
    await waits(run);
    await world.call("run.cancel", { run, reason: null });
    expect(await messages(run)).toContainEqual(["message.step", "cancelled"]);
    const next = await open();
    await world.until(
      run,
      ({ effects }) => effects.some(({ status, type }) => type === "message.step" && status === "applied"),
      "the evidence",
    );
    expect(file.of("step")).toHaveLength(1);
    await next.has("terminal");
    expect(file.of("terminal")).toHaveLength(1);
  });
});

describe("two Pi processes on one session", () => {
  it("the newest speaks for it; the older is told by whom it was replaced, and nothing comes twice", async () => {
    const first = await open({ pid: 11 });
    const second = await open({ pid: 22 });
    await first.closed;
    expect(first.frames.at(-1)).toEqual({ type: "superseded", byPid: 22 });
    expect(second.frames[0]).toMatchObject({ type: "welcome", epoch: 2 });
    const run = await start();
    await allThere(second, run);
  });

  it("an extension of another protocol is refused with which side to update", async () => {
    const old = await FakeSession.greet(await stage.socket, file, { protocol: 99 });
    await old.closed;
    expect(old.frames).toMatchObject([{ type: "refused", error: { code: "HP684" } }]);
  });
});

describe("a turn", () => {
  it("stays open through a restart of the server, and is lost only when its session is idle without telling its end", async () => {
    const session = await open();
    const run = await start();
    const { delivery } = await session.has("step");
    const turn = await session.beginTurn(delivery.messageId);
    await world.crash();
    const next = await open();
    next.standing({ idle: false });
    await next.until(() => next.view?.openTurn?.turnId === turn, "the open turn");
    expect((await world.view(run)).run.status).toBe("running");
    await next.endTurn(turn);
    const reminder = await next.has("step", 2);
    expect(reminder.delivery.details.message).toMatchObject({ kind: "step", reason: "reminder" });
  });
});
