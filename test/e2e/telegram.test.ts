// What the network does to a card: T01–T07 of the field reference. People see one copy, and nobody claims more than is known.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { botMessages, requestsOf } from "../../adapters/telegram/sim/view.ts";
import type { FaultSpec } from "../../adapters/telegram/sim/types.ts";
import { Scope, logsOf } from "../harness/index.ts";
import { Stage, linesOf } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope, { clock: true });
});
// T28: after any fault the token is nowhere.
afterEach(async () => {
  await stage.standIn.control.faults.clear();
  expect(await stage.leaks()).toEqual([]);
});
afterAll(() => scope.close());

describe("a card that reached the chat although the call failed", () => {
  const faults: [string, FaultSpec][] = [
    [
      "T01: the connection is reset, then two minutes and a restart",
      { kind: "drop", when: "after", how: "rst", method: "sendMessage" },
    ],
    ["T01: the connection is closed", { kind: "drop", when: "after", how: "fin", method: "sendMessage" }],
    ["T04: the service answers 500", { kind: "serverError", status: 500, when: "after", method: "sendMessage" }],
    [
      "T04: a proxy answers 502 with a page",
      { kind: "serverError", status: 502, when: "after", body: "html", method: "sendMessage" },
    ],
    ["a success without a message", { kind: "malformed", body: "okOnly", when: "after", method: "sendMessage" }],
  ];
  test.each(faults)("%s: one copy, in doubt, not sent again; T02: a tap on it proves it", async (what, fault) => {
    await stage.standIn.control.faults.add(fault);
    const asked = await stage.ask("Not confirmed");
    const doubtful = await stage.delivery(asked.run, "ambiguous");
    expect(doubtful.attemptList).toMatchObject([{ attempt: 1, state: "ambiguous" }]);
    expect(doubtful.settleWith).toContain("channel recover");

    await stage.clock?.advance(120_000);
    if (what.includes("restart")) {
      await stage.server.stop();
      await stage.restart();
    }
    await stage.barrier();
    expect(await stage.copies(asked.title)).toBe(1);
    expect(await stage.sends(asked.title)).toBe(1);
    const { channels } = await stage.client.call("channel.status", {});
    expect(channels).toMatchObject([{ channel: "telegram:default", ambiguous: 1 }]);

    const tapped = await stage.ann.tap(asked.card, "Approve");
    expect(await stage.ann.waitForToast(tapped)).toBe("Approved.");
    expect((await stage.finished(asked.run)).run.status).toBe("completed");
    await stage.waitForText(asked.card, "Run completed");
    const proved = await stage.delivery(asked.run, "applied");
    expect(proved.attemptList).toMatchObject([{ attempt: 1, state: "accepted" }]);
    expect(proved.parts).toMatchObject([{ part: 1, of: 1, state: "accepted", reference: `1001:${asked.card}` }]);
    expect(linesOf(asked.file)).toHaveLength(1);
    expect(await stage.sends(asked.title)).toBe(1);
  });
});

describe("T03: a service that cannot be reached for 90 seconds", () => {
  test("is tried again by itself; then each card is there once, in order", async () => {
    await stage.standIn.control.server.down();
    const titles = ["first", "second", "third"].map((word) => stage.unique(`Refused ${word}`));
    const runs: string[] = [];
    for (const title of titles) {
      const run = await stage.start("ask", { title, file: stage.file() });
      runs.push(run);
      await stage.waitForRun(run, ({ decisions }) => decisions.length === 1, "its question");
    }
    for (let second = 0; second < 90; second += 1) await stage.clock?.advance(1_000);
    // Between two attempts; one may be under way at this moment.
    await stage.delivery(runs[0] as string, "pending");
    await stage.standIn.control.server.up();
    await stage.advanceUntil(async () => (await stage.copies(titles[2] as string)) === 1, "the third card");

    const seen = botMessages(await stage.standIn.control.state(), 1_001).map(({ text }) => text);
    const order = titles.map((title) => seen.findIndex((text) => text.includes(title)));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    for (const [at, run] of runs.entries()) {
      expect(seen.filter((text) => text.includes(titles[at] as string))).toHaveLength(1);
      const { attemptList } = await stage.delivery(run, "applied");
      const states = attemptList.map(({ state }) => state);
      expect(states.at(-1)).toBe("accepted");
      expect(new Set(states.slice(0, -1)).size).toBeLessThanOrEqual(1);
      if (at === 0) expect(states.slice(0, -1)).toContain("notSent");
      await stage.client.call("run.cancel", { run, reason: null });
    }
  });
});

describe("T06: killed in the middle of a sending", () => {
  test("after the first byte: the card is in doubt after the restart and is not sent again", async () => {
    await stage.standIn.control.faults.add({ kind: "slow", what: "answer", method: "sendMessage" });
    const asked = await stage.ask("Killed while sending");
    await stage.killAndRestart();
    const doubtful = await stage.delivery(asked.run, "ambiguous");
    expect(doubtful.attemptList).toMatchObject([{ state: "ambiguous" }]);
    await stage.standIn.control.faults.clear();
    await stage.barrier();
    expect(await stage.copies(asked.title)).toBe(1);
    expect(await stage.sends(asked.title)).toBe(1);
    await stage.ann.tap(asked.card, "Stop");
    await stage.finished(asked.run);
    await stage.waitForText(asked.card, "Stopped by Ann");
  });

  test("before the first byte: nothing was sent, and the restarted service sends it once", async () => {
    await stage.server.stop();
    await stage.restart({ HOLDPOINT_FAULT: "effects.dispatch:before" });
    const title = stage.unique("Killed before sending");
    const run = await stage.start("ask", { title, file: stage.file() });
    expect((await stage.server.exited).signal).toBe("SIGKILL");
    expect(await stage.sends(title)).toBe(0);
    await stage.restart();
    const { id } = await stage.ann.waitForCard(title);
    const { attemptList } = await stage.delivery(run, "applied");
    expect(attemptList.map(({ state }) => state)).toEqual(["notSent", "accepted"]);
    expect(await stage.sends(title)).toBe(1);
    await stage.ann.tap(id, "Stop");
    await stage.finished(run);
  });

  test("with two cards waiting, only the one that was under way is in doubt; the other is sent later", async () => {
    await stage.standIn.control.faults.add({ kind: "slow", what: "answer", method: "sendMessage" });
    const first = await stage.ask("Under way");
    const title = stage.unique("Still waiting");
    const second = await stage.start("ask", { title, file: stage.file() });
    await stage.waitForRun(second, ({ decisions }) => decisions.length === 1, "its question");
    await stage.killAndRestart();
    await stage.standIn.control.faults.clear();
    await stage.ann.waitForCard(title);
    expect((await stage.delivery(first.run, "ambiguous")).attemptList).toHaveLength(1);
    await stage.delivery(second, "applied");
    expect([await stage.copies(first.title), await stage.copies(title)]).toEqual([1, 1]);
    for (const run of [first.run, second]) await stage.client.call("run.cancel", { run, reason: null });
  });
});

describe("T07: killed with three updates fetched and none handled", () => {
  test("all three are handled after the restart, each once", async () => {
    await stage.server.stop();
    await stage.restart({ HOLDPOINT_FAULT: "channels.receive:before" });
    const asked = [await stage.ask("Fetched"), await stage.ask("Fetched"), await stage.ask("Fetched")];
    // The taps collect while the service cannot be reached, so that one poll hands out all three.
    await stage.standIn.control.server.down();
    const taps = [];
    for (const { card } of asked) taps.push(await stage.ann.tap(card, "Approve"));
    await stage.standIn.control.server.up();
    expect((await stage.server.exited).signal).toBe("SIGKILL");
    const ids = taps.map(({ updateId }) => updateId as number);
    const fetched = requestsOf(await stage.standIn.control.state(), "getUpdates").map(
      ({ updateIds = [] }) => updateIds,
    );
    expect(fetched).toContainEqual(ids);
    expect(stage.rows("SELECT update_id FROM channel_inbox WHERE update_id >= ?", ids[0])).toEqual([]);

    await stage.restart();
    for (const { run, file, card } of asked) {
      expect((await stage.finished(run)).continuations).toBe(1);
      expect(linesOf(file)).toHaveLength(1);
      await stage.waitForText(card, "Approved by Ann");
    }
    for (const tapped of taps) expect(await stage.ann.waitForToast(tapped)).toBe("Approved.");
    const handled = stage.rows("SELECT update_id FROM channel_inbox WHERE update_id >= ? ORDER BY 1", ids[0]);
    expect(handled).toEqual(ids.map((id) => ({ update_id: id })));
  });
});

describe("T28: every kind of failure at every call", () => {
  test("leaves the token nowhere: not in logs at their most talkative, the database, views or other processes", async () => {
    const loud = await Stage.open(scope, { clock: true, home: { config: { server: { logLevel: "debug" } } } });
    const kinds: FaultSpec[] = [
      { kind: "drop", when: "before", how: "rst" },
      { kind: "drop", when: "before", how: "half" },
      { kind: "serverError", status: 502, when: "before", body: "html" },
      { kind: "serverError", status: 500, when: "before" },
      { kind: "malformed", body: "html" },
      { kind: "malformed", body: "null" },
      { kind: "redirect" },
      { kind: "tooMany", retryAfter: 1, html: true },
      {
        kind: "reject",
        status: 400,
        description: `Bad Request: https://api.telegram.org/bot${loud.standIn.token}/sendMessage`,
      },
    ];
    const methods = ["sendMessage", "editMessageText", "answerCallbackQuery"];
    for (const kind of kinds) {
      // An edit can be met only once there is a card, so the first sending stays whole and the second does not.
      const asked = await loud.ask("Fails at every call");
      const faults = await Promise.all(methods.map((method) => loud.standIn.control.faults.add({ ...kind, method })));
      const run = await loud.start("ask", { title: loud.unique("Never seen"), file: loud.file() });
      await loud.ann.tap(asked.card, "Stop");
      await loud.finished(asked.run);
      await loud.advanceUntil(async () => {
        const { faults: now } = await loud.standIn.control.state();
        return now.filter(({ id, hits }) => faults.includes(id) && hits > 0).length === faults.length;
      }, `a ${kind.kind} at each call`);
      await loud.client.call("run.cancel", { run, reason: null });
      await loud.standIn.control.faults.clear();
    }
    await loud.standIn.control.faults.add({
      kind: "serverError",
      status: 502,
      when: "before",
      body: "html",
      method: "getUpdates",
    });
    // Ends the poll that is held, so that the next one meets the fault.
    await loud.ann.say("hello");
    await loud.channelWhen(({ error }) => error !== null, "a channel that cannot poll");
    await loud.standIn.control.server.down();
    await loud.channelWhen(
      ({ error }) => error?.message.includes("cannot be reached") === true,
      "a channel without network",
    );
    await loud.standIn.control.server.up();
    expect(await loud.leaks()).toEqual([]);
    const logs = logsOf(loud.home);
    expect(logs).toContain("did not answer properly");
    expect(logs).toContain("[token]");
    expect((await loud.standIn.control.state()).redirectHits).toEqual([]);
  });
});
