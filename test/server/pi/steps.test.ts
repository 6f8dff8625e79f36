/** Agent steps in the session that a run was started from: one message and one turn at a time, a result that is judged, and what interrupts it. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeSession, SessionFile } from "../../harness/pi-session.ts";
import { makeWorld, type World } from "../runs/world.ts";
import { Stage } from "./stage.ts";

const IMPORT = `import * as h from "holdpoint";\n`;
const PLAN = `${IMPORT}export default h.defineWorkflow({ name: "plan", startAt: "plan", nodes: {
  plan: h.agent({ prompt: "Plan it.", expectedOutput: "An object with n.", allowedTools: ["read"], timeoutMs: 60_000,
    validate: (value) => { if (value?.die) process.exit(3); if (typeof value?.n !== "number") throw new Error("n is missing"); return { n: value.n + 1 }; } }),
  done: h.compute({ run: ({ outputs }) => outputs.plan }),
}, edges: [{ from: "plan", to: "done" }] });`;
const SAY = `${IMPORT}export default h.defineWorkflow({ name: "say", startAt: "say", nodes: {
  say: h.agent({ prompt: "Say it.", output: { kind: "assistantMessage", maxChars: 100 } }),
}, edges: [] });`;

let world: World;
let file: SessionFile;
let session: FakeSession;
let stage: Stage;
const start = (name = "plan", turn: string | null = null): Promise<string> => stage.start(name, { turn });

beforeEach(async () => {
  world = await makeWorld();
  file = new SessionFile("s-1");
  stage = new Stage(world, file);
  world.put("plan.workflow.ts", PLAN);
  world.put("say.workflow.ts", SAY);
  session = await stage.open();
});
afterEach(() => stage.close());

/** The `count`th message of the step, and the turn that it begins. */
async function work(count = 1): Promise<{ turn: string; requestId: string; text: string }> {
  const { delivery } = await session.has("step", count);
  const { message } = delivery.details;
  if (message.kind !== "step") throw new Error("no step");
  return { turn: await session.beginTurn(delivery.messageId), requestId: message.requestId, text: message.text };
}

const ended = (run: string) => world.until(run, ({ run: { finishedAt } }) => finishedAt !== null, "the end");

describe("an agent step in a session", () => {
  it("is one message that starts a turn; its result is judged by the workflow, and the run goes on", async () => {
    const run = await start();
    const step = await work();
    expect(step.text).toContain("Plan it.");
    expect(file.of("step")[0]?.delivery).toMatchObject({ trigger: true, customType: "holdpoint-step" });
    await session.until(() => session.view?.request != null, "the request");
    expect(session.view?.request).toMatchObject({
      requestId: step.requestId,
      allowedTools: ["read"],
      status: "pending",
    });
    await world.until(run, ({ run: { status } }) => status === "running", "work");

    const wrong = await session.submit(step.requestId, { m: 1 });
    expect(wrong).toMatchObject({ ok: false, code: "rejected", end: false });
    expect(wrong.text).toContain("n is missing");
    const right = await session.submit(step.requestId, { n: 1 }, "call-2");
    expect(right).toMatchObject({ ok: true, code: "accepted", end: true });
    expect(await session.submit(step.requestId, { n: 1 }, "call-2")).toMatchObject({ ok: true, code: "accepted" });
    expect(await session.submit(step.requestId, { n: 5 }, "call-3")).toMatchObject({
      ok: false,
      error: { code: "HP683" },
    });
    expect((await ended(run)).finalOutput).toEqual({ n: 2 });
    await session.endTurn(step.turn);
    const terminal = await session.has("terminal");
    expect(terminal.delivery).toMatchObject({ trigger: true });
    expect(terminal.delivery.content).toContain("has completed");
    expect(file.of("step")).toHaveLength(1);
  });

  it("reminds twice of a result that did not come, and then fails", async () => {
    const run = await start();
    for (const count of [1, 2, 3]) await session.endTurn((await work(count)).turn);
    expect(file.of("step").map(({ delivery }) => (delivery.details.message as { reason: string }).reason)).toEqual([
      "initial",
      "reminder",
      "reminder",
    ]);
    expect(await ended(run)).toMatchObject({ run: { status: "failed" }, error: { kind: "missingSubmission" } });
  });

  it("goes on after errors of the model's provider, each in the next reminder", async () => {
    const run = await start();
    await session.endTurn((await work()).turn, { stop: "error", error: "500 overloaded" });
    const second = await work(2);
    expect(second.text).toContain("500 overloaded");
    // Each turn was closed by its error; the next one begins like any other.
    await session.endTurn(second.turn, { stop: "error", error: "502 still there" });
    const third = await work(3);
    expect(third.text).toContain("502 still there");
    expect(await session.submit(third.requestId, { n: 1 })).toMatchObject({ ok: true });
    expect((await ended(run)).run.status).toBe("completed");
  });

  it("pauses the run once when the person stops its turn, and resumes it by one message and one turn", async () => {
    const run = await start();
    const first = await work();
    await session.endTurn(first.turn, { stop: "aborted" });
    await session.endTurn(first.turn, { stop: "aborted" });
    const paused = await world.until(run, ({ run: { status } }) => status === "paused", "pause");
    expect(paused.timeline.filter(({ type }) => type === "run.paused")).toHaveLength(1);
    expect(await session.submit(first.requestId, { n: 1 })).toMatchObject({ ok: false, error: { code: "HP683" } });
    await world.call("run.resume", { run });
    const again = await work(2);
    expect(again.text).toContain("was interrupted");
    await session.submit(again.requestId, { n: 1 });
    await ended(run);
    expect(file.of("step")).toHaveLength(2);
  });

  it("takes no turn of the person for work: no reminder, no result, no time", async () => {
    const run = await start("say");
    await session.has("step");
    const chat = await session.beginTurn(null);
    await session.endTurn(chat, { text: "just chatting" });
    expect((await world.view(run)).run.status).toBe("waiting");
    expect(file.of("step")).toHaveLength(1);
    await session.until(() => session.view?.request != null, "the request");
    expect(session.view?.request).toMatchObject({ activeMs: 0, reminders: 0 });
    const { turn } = await work();
    await session.endTurn(turn, { text: "The answer." });
    expect((await ended(run)).finalOutput).toBe("The answer.");
  });

  it("rejects a result over which its judge died, and waits for another one", async () => {
    const run = await start();
    const { requestId } = await work();
    world.onRunner = (runner) => {
      runner.filter = (frame) => {
        if (frame.type !== "interaction.judged") return true;
        setImmediate(() => runner.leave());
        return false;
      };
    };
    // The runner of the first part may serve this launch too.
    for (const runner of world.runners) world.onRunner(runner);
    const lost = await session.submit(requestId, { n: 1 }, "call-1");
    expect(lost).toMatchObject({ ok: false, code: "rejected" });
    expect(lost.text).toContain("Checking the result failed");
    world.onRunner = () => undefined;
    expect(await session.submit(requestId, { n: 1 }, "call-2")).toMatchObject({ ok: true });
    expect((await ended(run)).run.status).toBe("completed");
  });

  it("reminds of a result that was refused after its turn, with the reason, and fails in the end", async () => {
    const run = await start("say");
    for (const count of [1, 2, 3]) {
      const { text, turn } = await work(count);
      if (count > 1) expect(text).toContain("100");
      await session.endTurn(turn, { text: "x".repeat(101) });
    }
    expect(await ended(run)).toMatchObject({ run: { status: "failed" }, error: { kind: "missingSubmission" } });
  });

  it("reminds when its judge died after the turn", async () => {
    await start("say");
    const { turn } = await work();
    world.onRunner = (runner) => {
      runner.filter = (frame) => {
        if (frame.type !== "interaction.judged") return true;
        setImmediate(() => runner.leave());
        return false;
      };
    };
    for (const runner of world.runners) world.onRunner(runner);
    await session.endTurn(turn, { text: "The answer." });
    expect((await work(2)).text).toContain("Checking the result failed");
  });

  it("pauses the run when the person stops its turn while a result is judged", async () => {
    const run = await start();
    const { requestId, turn } = await work();
    world.onRunner = (runner) => (runner.filter = (frame) => frame.type !== "interaction.judged");
    for (const runner of world.runners) world.onRunner(runner);
    const told = session.submit(requestId, { n: 1 });
    await session.until(() => session.view?.request?.status === "validating", "the judging");
    await session.endTurn(turn, { stop: "aborted" });
    await world.until(run, ({ run: { status } }) => status === "paused", "pause");
    expect(await told).toMatchObject({ ok: true, code: "validating" });
    world.onRunner = () => undefined;
    for (const runner of world.runners) runner.filter = () => true;
    await world.call("run.resume", { run });
    expect((await ended(run)).finalOutput).toEqual({ n: 2 });
  });

  it("goes on in a turn of its own when another turn began and its end was never told", async () => {
    const run = await start();
    await work();
    const chat = await session.beginTurn(null);
    await session.endTurn(chat);
    const again = await work(2);
    expect(again.text).toContain("was interrupted");
    await session.submit(again.requestId, { n: 1 });
    expect((await ended(run)).run.status).toBe("completed");
  });

  it("stores updates of the agent, each call once", async () => {
    const run = await start();
    const { requestId } = await work();
    const update = {
      type: "update",
      toolCallId: "u-1",
      requestId,
      update: {
        type: "progress",
        key: "files",
        data: { schema: "holdpoint.progress.v1", label: "Files", status: "running" },
      },
    } as const;
    expect(await session.call(update)).toMatchObject({ ok: true });
    expect(await session.call(update)).toMatchObject({ ok: true });
    expect((await world.view(run)).updates.published).toBe(1);
    expect(await session.call({ ...update, requestId: "request-none" })).toMatchObject({ ok: false });
  });

  it("is cancelled with its run: nothing of it can be submitted, and one message says how it ended", async () => {
    const run = await start();
    const { requestId, turn } = await work();
    await world.call("run.cancel", { run, reason: null });
    expect(await session.submit(requestId, { n: 1 })).toMatchObject({ ok: false, error: { code: "HP683" } });
    await session.endTurn(turn);
    await session.has("terminal");
    expect(file.of("terminal")).toHaveLength(1);
  });
});

describe("a run that is started within a turn", () => {
  it("is reserved at once, and begins when that turn has ended", async () => {
    const turn = await session.beginTurn(null);
    // Nothing else makes the view anew any more.
    await session.until(() => session.view?.openTurn?.turnId === turn, "the turn");
    const run = await start("plan", turn);
    await session.until(() => session.view?.run?.reserved === true, "the reservation");
    expect((await world.view(run)).run).toMatchObject({ steps: 0, currentNode: null });
    expect(world.runners).toHaveLength(0);
    await session.endTurn(turn);
    const step = await work();
    expect(step.text).toContain("Plan it.");
  });

  it("begins when its session has parted", async () => {
    const turn = await session.beginTurn(null);
    const run = await start("plan", turn);
    session.bye();
    await world.until(run, ({ run: { status } }) => status === "waiting", "its first step");
  });

  it("is reserved too when a turn restarts it", async () => {
    const run = await start();
    await world.call("run.cancel", { run, reason: null });
    const turn = await session.beginTurn(null);
    const { result } = await world.call("run.restart", { run, reason: null, within: { session: "s-1", turn } });
    await session.until(() => session.view?.run?.reserved === true, "the reservation");
    expect(session.view?.run?.summary.runId).toBe(result.runId);
    await session.endTurn(turn);
    await world.until(result.runId, ({ run: { status } }) => status === "waiting", "its first step");
  });
});

describe("follow-ups of a run", () => {
  it("come one by one, each as a turn of its own, after the message that it has completed", async () => {
    const run = await start();
    const { requestId, turn } = await work();
    for (const prompt of ["first", "second"]) await world.call("followUp.queue", { run, prompt });
    await session.submit(requestId, { n: 1 });
    await ended(run);
    await session.endTurn(turn);
    const last = await session.has("terminal");
    const told = await session.beginTurn(last.delivery.messageId);
    expect(file.of("followUp")).toHaveLength(0);
    await session.endTurn(told);
    const first = await session.has("followUp");
    expect(first.delivery.content).toBe("first");
    const answering = await session.beginTurn(first.delivery.messageId);
    expect((await world.view(run)).followUps.map(({ status }) => status)).toEqual(["sent", "queued"]);
    await session.endTurn(answering);
    await session.has("followUp", 2);
    expect((await world.view(run)).followUps.map(({ status }) => status)).toEqual(["settled", "queued"]);
  });
});
