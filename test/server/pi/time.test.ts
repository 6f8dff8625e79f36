/** Sessions and the time: only work of an agent counts for its step, and what waits for a turn does not wait for ever. */
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SESSION } from "../../../src/contracts/limits.ts";
import { ControlledClock } from "../../../src/server/system/controlled-clock.ts";
import { type FakeSession, SessionFile } from "../../harness/pi-session.ts";
import { makeWorld, type World } from "../runs/world.ts";
import { Stage } from "./stage.ts";

const PLAN = `import * as h from "holdpoint";
export default h.defineWorkflow({ name: "plan", startAt: "plan", nodes: {
  plan: h.agent({ prompt: "Plan it.", expectedOutput: "Anything.", timeoutMs: 60_000 }),
}, edges: [] });`;

let world: World;
let clock: ControlledClock;
let file: SessionFile;
let session: FakeSession;
let stage: Stage;

beforeEach(async () => {
  clock = new ControlledClock(Date.UTC(2030, 0, 1, 8));
  world = await makeWorld({}, clock);
  clock.settle = async () => {
    for (let i = 0; i < 20; i += 1) await turnOfLoop();
    await world.store.idle();
  };
  file = new SessionFile("s-1");
  stage = new Stage(world, file);
  world.put("plan.workflow.ts", PLAN);
  session = await stage.open();
});
afterEach(() => stage.close());

/** The turn that the step's message begins. */
async function work(): Promise<{ turn: string }> {
  const { delivery } = await session.has("step");
  return { turn: await session.beginTurn(delivery.messageId) };
}

const ended = (run: string) => world.until(run, ({ run: { finishedAt } }) => finishedAt !== null, "the end");

describe("a step whose turn nobody was told of, because Pi and the server were gone together", () => {
  it("is asked for again once its session has been idle for a second, and not over and over", async () => {
    const run = await stage.start("plan");
    await session.has("step");
    await world.until(run, ({ effects }) => effects[0]?.status === "applied", "the receipt");
    session.kill();
    await world.crash();
    session = await stage.open();
    await clock.advance(999);
    expect(file.of("step")).toHaveLength(1);
    await clock.advance(1);
    const again = await session.has("step", 2);
    expect(again.delivery.details.message).toMatchObject({ kind: "step", reason: "resumed" });
    await clock.advance(60_000);
    expect(file.of("step")).toHaveLength(2);
  });

  it("is not asked for again as long as its session keeps back what it has to tell of turns", async () => {
    const run = await stage.start("plan");
    const { delivery } = await session.has("step");
    await world.until(run, ({ effects }) => effects[0]?.status === "applied", "the receipt");
    session.disconnect();
    file.kept = 2;
    session = await stage.open();
    await clock.advance(60_000);
    expect(file.of("step")).toHaveLength(1);
    await session.endTurn(await session.beginTurn(delivery.messageId));
    file.kept = 0;
    await session.branch();
    const reminder = await session.has("step", 2);
    expect(reminder.delivery.details.message).toMatchObject({ kind: "step", reason: "reminder" });
  });

  it("is left to the turn that is told of late", async () => {
    const run = await stage.start("plan");
    const { delivery } = await session.has("step");
    await world.until(run, ({ effects }) => effects[0]?.status === "applied", "the receipt");
    session.disconnect();
    session = await stage.open();
    const turn = await session.beginTurn(delivery.messageId);
    await clock.advance(6_000);
    expect(file.of("step")).toHaveLength(1);
    await session.endTurn(turn);
    const reminder = await session.has("step", 2);
    expect(reminder.delivery.details.message).toMatchObject({ kind: "step", reason: "reminder" });
  });
});

describe("an ended run", () => {
  it("is shown until a minute after the turn of its last message", async () => {
    const run = await stage.start("plan");
    const { delivery } = await session.has("step");
    const working = await session.beginTurn(delivery.messageId);
    const { message } = delivery.details;
    if (message.kind !== "step") throw new Error("no step");
    expect(await session.submit(message.requestId, { plan: 1 })).toMatchObject({ ok: true });
    await session.endTurn(working);
    const last = await session.has("terminal");
    const telling = await session.beginTurn(last.delivery.messageId);
    // However long the agent takes to tell of it.
    await clock.advance(2 * SESSION.terminalMs);
    await session.endTurn(telling);
    await clock.advance(SESSION.terminalMs - 1);
    await session.until(() => session.view?.openTurn === null, "the end of the turn");
    expect(session.view?.run?.summary.runId).toBe(run);
    await clock.advance(1);
    await session.until(() => session.view?.run === null, "the end of the view");
  });
});

describe("a turn without a word", () => {
  it("is shown as work the whole time, however long nothing is heard of it", async () => {
    world.put("long.workflow.ts", PLAN.replaceAll("plan", "long").replace("timeoutMs: 60_000", "timeoutMs: null"));
    const run = await stage.start("long");
    const { turn } = await work();
    await session.until(() => session.view?.openTurn?.turnId === turn, "the turn");
    for (let seconds = 0; seconds < 130; seconds += 5) {
      await clock.advance(5_000);
      expect((await world.view(run)).run.status).toBe("running");
      expect(session.view).toMatchObject({
        openTurn: { turnId: turn, over: false },
        run: { summary: { status: "running" } },
      });
    }
    await session.endTurn(turn);
    const reminder = await session.has("step", 2);
    expect(reminder.delivery.details.message).toMatchObject({ kind: "step", reason: "reminder" });
  });
});

describe("the time of a step", () => {
  it("counts only the time in which its agent was at work: not that in which Pi or the server was away", async () => {
    const run = await stage.start("plan");
    const { turn } = await work();
    await clock.advance(20_000);
    session.disconnect();
    await session.closed;
    // Pi is away for longer than the step may take, and so is the server.
    await clock.advance(100_000);
    await world.crash();
    file.turn = { turnId: turn, activeMs: 25_000 };
    session = await stage.open({ idle: false });
    await session.until(() => session.view?.openTurn?.turnId === turn, "the turn");
    await clock.advance(34_000);
    expect((await world.view(run)).run.finishedAt).toBeNull();
    await clock.advance(1_000);
    expect(await ended(run)).toMatchObject({ run: { status: "timed_out" }, error: { kind: "nodeTimedOut" } });
    // Its agent is told to stop, and takes the next message when it has.
    await session.until(() => session.view?.openTurn?.over === true, "the word to stop");
    await session.endTurn(turn, { stop: "aborted", activeMs: 60_000 });
    await session.has("terminal");
    await session.until(() => session.view?.openTurn === null, "the end of the turn");
  });

  it("has used up what the agent says that it took, also while nobody heard of it", async () => {
    const run = await stage.start("plan");
    const { turn } = await work();
    await session.endTurn(turn, { activeMs: 60_000 });
    expect(await ended(run)).toMatchObject({ error: { kind: "nodeTimedOut" } });
  });
});

describe("a run that a turn reserved", () => {
  it("waits for a session whose link broke, whose turn may go on, and begins when nothing is heard of it", async () => {
    const turn = await session.beginTurn(null);
    const run = await stage.start("plan", { turn });
    session.disconnect();
    await session.closed;
    const next = await stage.open({ idle: false });
    await clock.advance(SESSION.reservedMs);
    await next.until(() => next.view?.run?.reserved === true, "the reservation");
    next.disconnect();
    await next.closed;
    await world.when(
      async () => {
        await clock.advance(SESSION.reservedMs);
        return (await world.view(run)).run.status === "waiting" ? true : undefined;
      },
      () => "its first step did not come",
    );
  });
});
