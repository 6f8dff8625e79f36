// Deadlines, by the controlled clock of the server: the default, the end without one, and answers that come too late.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { Scope, liveButtons } from "../harness/index.ts";
import { Stage, linesOf, until } from "./stage.ts";

const HOUR = 3_600_000;
const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope, { clock: true });
});
afterAll(() => scope.close());

const advance = (ms: number): Promise<void> => stage.clock?.advance(ms) ?? Promise.reject(new Error("no clock"));
const now = (): number => stage.clock?.now() ?? Number.NaN;

test("without an answer the default is used at the deadline, not before, and the card says so", async () => {
  const asked = await stage.ask("Decides itself", {}, "timed");
  await advance(HOUR - 1);
  expect((await stage.view(asked.run)).decisions[0]?.status).toBe("pending");
  expect(liveButtons(await stage.ann.waitForCard(asked.title))).toHaveLength(3);
  await advance(1);
  const view = await stage.finished(asked.run);
  expect(view).toMatchObject({ run: { status: "completed" }, finalOutput: "stopped", continuations: 1 });
  expect(view.decisions[0]?.resolution).toMatchObject({ choice: "stop", provenance: "timeout_policy", by: null });
  const settled = await stage.ann.waitForSettled(asked.card);
  expect(settled.text).toMatch(/^⌛ [^]*No answer by .*: Stop was used\./);
});

test("without an answer and without a default the run fails and says why; nothing is done", async () => {
  const asked = await stage.ask("Runs out", { expiresAt: now() + HOUR });
  await advance(HOUR);
  const view = await stage.finished(asked.run);
  expect(view.run.status).toBe("failed");
  expect(view.error).toMatchObject({ kind: "decisionExpired" });
  expect(view.decisions[0]?.resolution).toMatchObject({ outcome: "timedOut", provenance: "expired_no_default" });
  expect((await stage.ann.waitForSettled(asked.card)).text).toMatch(/^⌛ [^]*No answer by .*The decision expired\./);
  expect(linesOf(asked.file)).toEqual([]);
});

describe("T12: after the deadline", () => {
  test("a tap is told what was used instead, is recorded as late, and approves nothing", async () => {
    const asked = await stage.ask("Late tap", {}, "timed");
    const [approve] = liveButtons(await stage.ann.waitForCard(asked.title));
    await advance(HOUR);
    await stage.finished(asked.run);
    const card = await stage.ann.waitForSettled(asked.card);
    const tapped = await stage.standIn.control.people.tapRaw(1_001, 1_001, card.id, approve?.data ?? "");
    expect(await stage.ann.waitForToast(tapped)).toMatch(/^The time for this ran out at .*: Stop was used\.$/);
    const late = stage.submissions(asked.run).at(-1);
    expect(late).toMatchObject({ actor: "1001", choice: "approve", outcome: "already_resolved" });
    expect((await stage.view(asked.run)).decisions[0]?.resolution).toMatchObject({ choice: "stop" });
  });

  test("without a default a tap is told that the time ran out", async () => {
    const asked = await stage.ask("Late tap without a default", { expiresAt: now() + HOUR });
    const [approve] = liveButtons(await stage.ann.waitForCard(asked.title));
    await advance(HOUR);
    await stage.ann.waitForSettled(asked.card);
    const tapped = await stage.standIn.control.people.tapRaw(1_001, 1_001, asked.card, approve?.data ?? "");
    expect(await stage.ann.waitForToast(tapped)).toMatch(/^The time for this ran out at [^:]*:\d\d[^:]*\.$/);
    expect(linesOf(asked.file)).toEqual([]);
  });

  test("a reply with a text is told the same, and the question for the text is gone", async () => {
    const asked = await stage.ask("Late text", {}, "timed");
    await stage.ann.tap(asked.card, "Replan…");
    const prompt = await stage.ann.waitForMessage("What should change?", asked.card);
    await stage.quiet(asked.run);
    // The reply is under way when the deadline passes: the service cannot reach Telegram for a moment.
    await stage.standIn.control.server.down();
    const spoken = await stage.ann.reply(prompt.id, "use the blue pool");
    await advance(HOUR);
    expect((await stage.finished(asked.run)).finalOutput).toBe("stopped");
    await stage.standIn.control.server.up();
    const submitted = await until(() => stage.submissions(asked.run)[1], "the late text");
    expect(submitted).toMatchObject({ actor: "1001", choice: "replan", outcome: "already_resolved" });
    // What could not be sent is tried again by the server's clock.
    const told = await stage.advanceUntil(
      async () =>
        (await stage.ann.messages()).find(({ id, text }) => id > spoken.messageId && text.includes("ran out")),
      "the reply to the late text",
    );
    expect(told.text).toMatch(/^The time for this ran out at .*: Stop was used\.$/);
    expect(told.replyTo).toBe(spoken.messageId);
    await stage.advanceUntil(
      async () => (await stage.view(asked.run)).effects.every(({ settledAt }) => settledAt !== null),
      "the end of all messages",
    );
    expect((await stage.ann.waitForSettled(asked.card)).text).toMatch(/^⌛/);
    expect((await stage.ann.messages()).map(({ id }) => id)).not.toContain(prompt.id);
    expect((await stage.view(asked.run)).decisions[0]?.resolution).toMatchObject({ choice: "stop" });
  });
});

test("a deadline that passed while the service was down waits for the answer that was given in time", async () => {
  const asked = await stage.ask("Answered while it was down", {}, "timed");
  await stage.quiet(asked.run);
  await stage.server.kill();
  const tapped = await stage.ann.tap(asked.card, "Approve");
  // The clock of the next server begins two hours later.
  stage.clock?.leap(2 * HOUR);
  await stage.restart();
  expect(await stage.ann.waitForToast(tapped)).toMatch(
    /^Approved\. It counts, because the deadline passed while I was offline\.$/,
  );
  const view = await stage.finished(asked.run);
  expect(view.decisions[0]?.resolution).toMatchObject({ choice: "approve", by: "Ann", graceAfterOutage: true });
  expect(view.finalOutput).toBe("approved");
  await stage.waitForText(asked.card, "It counts, because the deadline passed while I was offline.");
  expect(await stage.leaks()).toEqual([]);
});

test("a pause stops the work, not the question: its deadline and its answers go on", async () => {
  const [answered, timed] = [
    await stage.ask("Paused and answered", {}, "timed"),
    await stage.ask("Paused and timed", {}, "timed"),
  ];
  for (const { run } of [answered, timed]) await stage.client.call("run.pause", { run });
  const tapped = await stage.ann.tap(answered.card, "Approve");
  expect(await stage.ann.waitForToast(tapped)).toBe("Approved.");
  await advance(HOUR);
  for (const { run, card } of [answered, timed]) {
    await stage.ann.waitForSettled(card);
    expect(await stage.view(run)).toMatchObject({ run: { status: "paused" }, finalOutput: null });
    await stage.client.call("run.resume", { run });
  }
  expect((await stage.finished(answered.run)).finalOutput).toBe("approved");
  expect((await stage.finished(timed.run)).finalOutput).toBe("stopped");
  expect(await stage.copies(answered.title)).toBe(1);
});
