// An audience's policy as Ann and Bea see it on their phones: votes on the card, reminders, passing on, people who leave.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { Scope, liveButtons, runCli } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const MINUTE = 60_000;
const scope = new Scope();
let stage: Stage;

/** Ann and Bea decide together in one chat; what they leave is passed on to Bea's own chat. */
const audiences = {
  operators: {
    destinations: ["telegram:default/1001"],
    people: ["ann", "bea"],
    policy: {
      quorum: 2,
      veto: ["stop", "replan"],
      remindAfter: { minutes: 10, everyMinutes: 10, atMost: 2 },
      escalateAfter: { minutes: 30, audience: "on-call" },
    },
  },
  "on-call": { destinations: ["telegram:default/1002"], people: ["bea"] },
};

beforeAll(async () => {
  stage = await Stage.open(scope, { clock: true, home: { audiences } });
});
afterAll(() => scope.close());

const advance = (ms: number): Promise<void> => stage.clock?.advance(ms) ?? Promise.reject(new Error("no clock"));
const decisions = async (): Promise<string> =>
  (await runCli(scope, ["decisions", "--all", "--home", stage.home.dir])).stdout;

describe("a decision that two must make", () => {
  test("shows each vote, reminds with another text each time, is passed on once, and is made by the second vote", async () => {
    const asked = await stage.ask("Takes two");
    expect((await stage.ann.waitForCard(asked.title)).text).toContain(
      "2 people must choose the same. “Replan” or “Stop” by one person decides at once.",
    );
    expect(await stage.ann.waitForToast(await stage.ann.tap(asked.card, "Approve"))).toBe(
      "Recorded: 1 of 2 for Approve, waiting for one more.",
    );
    expect(await stage.waitForText(asked.card, "Votes: Approve 1 of 2 (Ann).")).toMatch(/^🟡/);
    expect(liveButtons(await stage.ann.waitForCard(asked.title))).toHaveLength(3);

    await advance(10 * MINUTE);
    const first = await stage.ann.waitForMessage("Still waiting: ", asked.card);
    expect(first.text).toContain("Not voted yet: Bea.");
    await advance(10 * MINUTE);
    const second = await stage.ann.waitForMessage("Last reminder, the 2nd: ", asked.card);
    expect(second.text).not.toBe(first.text);
    await advance(9 * MINUTE);
    expect(await stage.bea.messages()).toEqual([]);

    await advance(MINUTE);
    const passedOn = await stage.bea.waitForCard(asked.title);
    expect(passedOn.text).toContain("Passed on to on-call (Bea), ");
    expect(passedOn.text).toContain("Votes: Approve 1 of 2 (Ann).");
    const told = await stage.ann.waitForMessage("Passed on to on-call (Bea). No answer since ", asked.card);
    expect(told.replyTo).toBe(asked.card);
    await stage.waitForText(asked.card, "Passed on to on-call (Bea), ");
    expect(await decisions()).toMatch(
      /2 people must choose the same[^]*Votes: Approve 1 of 2 \(Ann\)[^]*Passed on to on-call \(Bea\)/,
    );

    expect(await stage.bea.waitForToast(await stage.bea.tap(passedOn.id, "Approve"))).toBe("Approved.");
    await stage.finished(asked.run);
    const settled = await stage.ann.waitForSettled(asked.card);
    expect(settled.text).toMatch(/^✅ [^]*Votes: Approve 2 of 2 \(Ann and Bea\)\.[^]*Approved by Bea, /);
    await stage.quiet(asked.run);
    // One card each, two reminders, one message about passing on: nothing twice.
    expect((await stage.ann.messages()).filter(({ text }) => text.includes(asked.title)).length).toBe(3);
    expect((await stage.bea.messages()).filter(({ text }) => text.includes(asked.title)).length).toBe(1);
  });

  test("is over with a veto, whatever was voted before", async () => {
    const asked = await stage.ask("Is stopped");
    await stage.ann.tap(asked.card, "Approve");
    await stage.waitForText(asked.card, "Votes: Approve 1 of 2 (Ann).");
    expect(await stage.ann.waitForToast(await stage.ann.tap(asked.card, "Stop"))).toBe("Stopped.");
    expect((await stage.finished(asked.run)).finalOutput).toBe("nothing was changed");
    expect((await stage.ann.waitForSettled(asked.card)).text).toMatch(/^⛔ [^]*Stopped by Ann/);
  });

  test("does not count somebody who left: the vote goes from the card, the question for text is taken back", async () => {
    const asked = await stage.ask("Loses a vote");
    await stage.ann.tap(asked.card, "Approve");
    await stage.waitForText(asked.card, "Votes: Approve 1 of 2 (Ann).");
    await stage.ann.tap(asked.card, "Replan…");
    const prompt = await stage.ann.waitForMessage("What should change?", asked.card);
    await stage.quiet(asked.run);
    const { operators } = audiences;
    const left = { ...operators, people: ["bea"], policy: { ...operators.policy, quorum: 1 } };
    stage.home.writeConfig({ ...stage.home.config, audiences: { ...audiences, operators: left } });
    expect((await stage.client.call("server.reload", {})).error).toBeNull();
    const card = await stage.standIn.waitFor((state) => {
      const messages = state.chats.find(({ id }) => id === 1_001)?.messages ?? [];
      const gone = messages.find(({ id }) => id === prompt.id)?.deleted === true;
      const shown = messages.find(({ id }) => id === asked.card);
      return gone && shown !== undefined && !shown.text.includes("Votes:") ? shown : undefined;
    }, "the card without the vote");
    expect(liveButtons(card)).toHaveLength(3);
    expect(await stage.ann.waitForToast(await stage.ann.tap(asked.card, "Approve"))).toBe(
      "You are not on the list for this decision.",
    );
    stage.home.writeConfig(stage.home.config);
    expect((await stage.client.call("server.reload", {})).error).toBeNull();
    expect(await stage.ann.waitForToast(await stage.ann.tap(asked.card, "Stop"))).toBe("Stopped.");
    await stage.finished(asked.run);
    expect(await stage.leaks()).toEqual([]);
  });

  test("does not count who left while the service was down, once it is up again", async () => {
    const asked = await stage.ask("Loses a vote in the dark");
    await stage.ann.tap(asked.card, "Approve");
    await stage.waitForText(asked.card, "Votes: Approve 1 of 2 (Ann).");
    await stage.quiet(asked.run);
    await stage.server.kill();
    const { operators } = audiences;
    const left = { ...operators, people: ["bea"], policy: { ...operators.policy, quorum: 1 } };
    stage.home.writeConfig({ ...stage.home.config, audiences: { ...audiences, operators: left } });
    await stage.restart();
    const view = await stage.waitForRun(
      asked.run,
      ({ decisions }) => decisions[0]?.policy.votes.length === 0,
      "the loss of the vote",
    );
    expect(view.decisions[0]).toMatchObject({ status: "pending", policy: { quorum: 2 } });
    stage.home.writeConfig(stage.home.config);
    expect((await stage.client.call("server.reload", {})).error).toBeNull();
    expect(await stage.ann.waitForToast(await stage.ann.tap(asked.card, "Stop"))).toBe("Stopped.");
    await stage.finished(asked.run);
  });

  test("is passed on at once, with the clock standing still, when the first audience cannot be shown the card", async () => {
    await stage.standIn.control.people.setChatState(1_001, "blocked");
    const title = stage.unique("Nobody is there");
    const run = await stage.start("ask", { title, file: stage.file() });
    const card = await stage.bea.waitForCard(title);
    expect(card.text).toContain("Passed on to on-call (Bea), ");
    expect(card.text).toContain("the card could not be shown.");
    expect((await stage.view(run)).decisions[0]?.policy.escalation).toMatchObject({ cause: "undeliverable" });
    expect(await stage.bea.waitForToast(await stage.bea.tap(card.id, "Stop"))).toBe("Stopped.");
    await stage.finished(run);

    // The chat is known to be closed now: nothing is tried there, which is not the same way to find out.
    const next = stage.unique("Nobody is there any more");
    const second = await stage.start("ask", { title: next, file: stage.file() });
    const passedOn = await stage.bea.waitForCard(next);
    expect(passedOn.text).toContain("the card could not be shown.");
    expect(await stage.bea.waitForToast(await stage.bea.tap(passedOn.id, "Stop"))).toBe("Stopped.");
    await stage.finished(second);
    await stage.standIn.control.people.setChatState(1_001, "open");
  });

  test("is passed on at once when its only card, which may not have arrived, is given up", async () => {
    // Ann writes from the chat, which is open again.
    await stage.ann.say("/help");
    await stage.ann.waitForMessage("/decisions");
    await stage.standIn.control.faults.add({
      kind: "drop",
      when: "before",
      how: "rst",
      method: "sendMessage",
      chat: 1_001,
      times: 1,
    });
    const title = stage.unique("Given up");
    const run = await stage.start("ask", { title, file: stage.file() });
    await stage.waitForRun(run, ({ effects }) => effects.some(({ status }) => status === "ambiguous"), "a doubt");
    await stage.ann.say("/problems");
    const list = await stage.ann.waitForMessage(title);
    await stage.ann.tap(list.id, "1: Drop");
    const card = await stage.bea.waitForCard(title);
    expect(card.text).toContain("the card could not be shown.");
    expect(await stage.bea.waitForToast(await stage.bea.tap(card.id, "Stop"))).toBe("Stopped.");
    await stage.finished(run);
  });
});
