/** What can go wrong between a poller and the server, and what time does to queues and windows. */
import { describe, expect, test } from "vitest";
import { botMessages } from "../../../../adapters/telegram/sim/index.ts";
import { ANN, keyboard, ok, refusal, smallWorld, wire } from "./api.ts";

const hello = { chat_id: ANN, text: "hello" };

describe("polling", () => {
  const OTHER = "409 Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";

  test("409: a second conflict within three seconds comes three seconds late", async () => {
    const sim = await smallWorld({ faults: [{ kind: "conflict", method: "getUpdates", times: 2 }] });
    expect(await refusal(sim, "getUpdates")).toBe(OTHER);
    const started = performance.now();
    expect(await refusal(sim, "getUpdates")).toBe(OTHER);
    expect(performance.now() - started).toBeGreaterThan(2900);
  });

  test("409: another instance's poll ends the waiting one", async () => {
    const sim = await smallWorld();
    expect(sim.server.otherPoller()).toBe(false);
    const poll = refusal(sim, "getUpdates", { timeout: 50 });
    await sim.ledger.waitFor((state) => state.polling);
    expect(sim.server.otherPoller()).toBe(true);
    expect(await poll).toBe(OTHER);
  });

  test("poll hold: a short poll with the same offset again is held, and one in quick succession gets one update", async () => {
    const sim = await smallWorld({ pollRules: { sameOffsetHoldMs: 300 } });
    expect(await ok(sim, "getUpdates", { offset: 3 })).toEqual([]);
    const started = performance.now();
    expect(await ok(sim, "getUpdates", { offset: 3 })).toEqual([]);
    expect(performance.now() - started).toBeGreaterThan(290);
    sim.people.say(ANN, ANN, "one");
    sim.people.say(ANN, ANN, "two");
    expect(await ok(sim, "getUpdates", { offset: 3 })).toHaveLength(1);
    expect(await ok(sim, "getUpdates", { offset: 4 })).toHaveLength(2);
  });

  test("restart: the same port, queue and ledger; while down the connection is refused", async () => {
    const sim = await smallWorld();
    await ok(sim, "sendMessage", hello);
    const { updateId } = sim.people.say(ANN, ANN, "before");
    await ok(sim, "getUpdates", { offset: 1 });
    await sim.server.down();
    expect((await wire(sim, "getMe", {})).error).toBe("ECONNREFUSED");
    sim.people.say(ANN, ANN, "while down");
    await sim.server.up();
    // A restarted bot begins at offset 1, below everything.
    const updates = await ok(sim, "getUpdates", { offset: 1, timeout: 5 });
    expect(updates[0].update_id).toBe(updateId);
    expect(botMessages(sim.ledger.state(), ANN)).toHaveLength(1);
    expect(sim.url).toContain(String(sim.port));
  });

  test("restart cuts a waiting poll", async () => {
    const sim = await smallWorld();
    const poll = wire(sim, "getUpdates", { timeout: 50 });
    await sim.ledger.waitFor((state) => state.polling);
    await sim.server.restart();
    expect((await poll).error).toBe("ECONNRESET");
    expect(await ok(sim, "getUpdates")).toEqual([]);
  });

  test("update ids: after a quiet week they go on from a lower number, and the old offset does not hide them", async () => {
    const sim = await smallWorld({ firstUpdateId: 9000 });
    sim.people.say(ANN, ANN, "old");
    expect(() => sim.server.jumpUpdateId(17)).toThrow("queue must be empty");
    await ok(sim, "getUpdates", { offset: 9001 });
    sim.server.jumpUpdateId(17);
    expect(sim.people.say(ANN, ANN, "new").updateId).toBe(17);
    expect(await ok(sim, "getUpdates", { offset: 9001 })).toMatchObject([{ update_id: 17 }]);
    expect(await ok(sim, "getUpdates", { offset: 18 })).toEqual([]);
  });

  test("repeats: the same update twice, and the same tap under another query id", async () => {
    const sim = await smallWorld();
    const { message_id } = await ok(sim, "sendMessage", { ...hello, reply_markup: keyboard("Approve") });
    const tap = sim.people.tap(ANN, ANN, message_id, "Approve");
    const id = tap.updateId as number;
    expect(await ok(sim, "getUpdates", { offset: id })).toMatchObject([{ update_id: id }]);
    sim.server.repeatUpdate(id);
    expect(await ok(sim, "getUpdates", { offset: id + 1 })).toMatchObject([{ update_id: id }]);
    const again = sim.people.repeatTap(tap.callbackId);
    expect(again.callbackId).not.toBe(tap.callbackId);
    expect(await ok(sim, "getUpdates", { offset: id + 1, timeout: 1 })).toMatchObject([
      { update_id: again.updateId, callback_query: { id: again.callbackId, data: "approve" } },
    ]);
  });
});

describe("clock", () => {
  const T = 1_800_000_000_000;

  test("a tap stays 150 seconds in the queue, a message 24 hours", async () => {
    const sim = await smallWorld({ now: T, pollRules: { sameOffsetLimitMs: 0 } });
    const { message_id } = await ok(sim, "sendMessage", { ...hello, reply_markup: keyboard("Approve") });
    const tapped = sim.people.tap(ANN, ANN, message_id, "Approve").updateId as number;
    sim.people.say(ANN, ANN, "text");
    sim.clock.advance(149_999);
    expect(await ok(sim, "getUpdates")).toHaveLength(2);
    sim.clock.advance(1);
    expect(await ok(sim, "getUpdates")).toMatchObject([{ message: { text: "text" } }]);
    expect(sim.ledger.state().expiredUpdates).toMatchObject([{ updateId: tapped, type: "callback_query" }]);
    sim.clock.set(T + 86_400_000);
    expect(sim.ledger.state().pendingUpdates).toEqual([]);
  });

  test("a tap can be answered for 15 seconds", async () => {
    const sim = await smallWorld({ now: T });
    const { message_id } = await ok(sim, "sendMessage", { ...hello, reply_markup: keyboard("Approve") });
    const first = sim.people.tap(ANN, ANN, message_id, 0).callbackId;
    const second = sim.people.tap(ANN, ANN, message_id, 0).callbackId;
    sim.clock.advance(14_999);
    await ok(sim, "answerCallbackQuery", { callback_query_id: first });
    sim.clock.advance(1);
    expect(await refusal(sim, "answerCallbackQuery", { callback_query_id: second })).toContain("query is too old");
    expect(sim.ledger.state().taps.map((tap) => tap.answer !== undefined)).toEqual([true, false]);
  });

  test("a message can be deleted for 48 hours, and edited for ever", async () => {
    const sim = await smallWorld({ now: T });
    const { message_id } = await ok(sim, "sendMessage", hello);
    sim.clock.advance(48 * 3_600_000);
    expect(await refusal(sim, "deleteMessage", { chat_id: ANN, message_id })).toBe(
      "400 Bad Request: message can't be deleted",
    );
    await ok(sim, "editMessageText", { chat_id: ANN, message_id, text: "new" });
    sim.clock.run();
    expect(sim.clock.now()).toBeGreaterThanOrEqual(T + 48 * 3_600_000);
  });
});
