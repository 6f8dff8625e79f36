/** An alert in a chat: told once, edited while it lasts, closed by a message of its own. */
import { describe, expect, it } from "vitest";
import { BEA, GUEST, STRANGER } from "../decisions/fixture.ts";
import { Chat, LOBBY, OPS } from "./chat.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe("an alert", () => {
  it("is one message with its evidence and buttons, and its end is a reply", async () => {
    const chat = await Chat.open();
    await chat.raise({ origin: { kind: "monitor", name: "shop-health" }, repair: true });
    await chat.pass(0);
    expect(chat.in()).toMatchObject([{ silent: false, replyTo: null }]);
    expect(chat.in()[0]?.text).toBe(
      "\u{1F534} shop.example is down\n503 instead of 200\nSince 09:00 CET.\nmonitor shop-health",
    );
    expect(Object.keys(chat.in()[0]?.tokens ?? {})).toEqual(["acknowledge", "snooze", "repair"]);
    await chat.pass(27 * MINUTE);
    await chat.recover();
    await chat.pass(0);
    const [card, closing] = chat.in();
    expect(card).toMatchObject({ tokens: {} });
    expect(card?.text).toContain("\u{1F7E2} shop.example is down \u00b7 over");
    expect(closing).toMatchObject({ replyTo: card?.reference, silent: false, tokens: {} });
    expect(closing?.text).toBe("\u{1F7E2} shop.example is up again\nAfter 27 minutes (09:00 CET to 09:27 CET).");
  });

  it("that is reported again is the same message, edited now and then and more rarely as it lasts", async () => {
    const chat = await Chat.open();
    for (let minute = 0; minute < 180; minute += 1) {
      await chat.raise({ lines: [`attempt ${minute}: timeout after ${minute * 7} ms`] });
      await chat.pass(MINUTE);
    }
    expect(chat.in()).toHaveLength(1);
    expect(chat.in()[0]?.text).toContain("seen 1");
    expect(chat.in()[0]?.edits).toBeGreaterThan(4);
    expect(chat.in()[0]?.edits).toBeLessThan(30);
  });

  it("that becomes worse, or another one, is a new message in reply, and is not taken any more", async () => {
    const chat = await Chat.open();
    await chat.raise({ severity: "warning", condition: "degraded" });
    await chat.pass(MINUTE);
    await chat.press(chat.in()[0], "acknowledge");
    await chat.pass(MINUTE);
    expect(chat.in()[0]?.text).toContain("Acknowledged by Ann");
    await chat.raise();
    await chat.pass(MINUTE);
    const [first, second] = chat.in();
    expect(second).toMatchObject({ replyTo: first?.reference });
    expect(second?.text).toContain("shop.example is down");
    expect(second?.text).not.toContain("Acknowledged");
    expect(Object.keys(second?.tokens ?? {})).toEqual(["acknowledge", "snooze"]);
  });

  it("goes to every destination of its audience, and is closed in each", async () => {
    const chat = await Chat.open();
    await chat.raise({ audience: "both" });
    await chat.pass(MINUTE);
    await chat.recover({ audience: "both" });
    await chat.pass(MINUTE);
    for (const place of [OPS, LOBBY])
      expect(chat.heads(place)).toEqual([
        "\u{1F7E2} shop.example is down \u00b7 over",
        "\u{1F7E2} shop.example is up again",
      ]);
  });

  it("that was never delivered is told with its end", async () => {
    const chat = await Chat.open();
    await chat.raise();
    const perform = await chat.mustNext();
    await chat.dispatch(perform);
    await chat.finish(perform, "notSent");
    chat.clock.advance(15 * MINUTE);
    await chat.recover();
    await chat.pass(MINUTE);
    expect(chat.in().map(({ text }) => text)).toEqual([
      "\u{1F7E2} shop.example is up again\nshop.example was down from 09:00 CET to 09:15 CET; the alert could not be delivered then.",
    ]);
  });

  it("that ends while it is on its way is closed in reply, as soon as its place is known", async () => {
    const chat = await Chat.open();
    await chat.raise();
    const perform = await chat.mustNext();
    await chat.dispatch(perform);
    await chat.recover();
    expect(await chat.next()).toBeNull();
    await chat.store_(perform, 1, 1, `${OPS}:77`);
    await chat.finish(perform, "accepted");
    chat.see(perform, `${OPS}:77`);
    await chat.pass(MINUTE);
    expect(chat.in()[1]).toMatchObject({ replyTo: `${OPS}:77` });
    expect(chat.in()[0]).toMatchObject({ tokens: {}, edits: 1 });
  });

  it("that ends after it was given out and before its first byte is not sent", async () => {
    const chat = await Chat.open();
    await chat.raise();
    const perform = await chat.mustNext();
    await chat.recover();
    expect(await chat.dispatch(perform)).toEqual({ go: false });
    await chat.pass(MINUTE);
    expect(chat.heads()).toEqual(["\u{1F7E2} shop.example is up again"]);
    expect(chat.in()[0]?.text).toContain("could not be delivered then");
  });

  it("shows what it was given and nothing more, in one message, however hostile", async () => {
    const chat = await Chat.open();
    const evil = "<script>&_*[x](http://evil)\u202e\u0000";
    await chat.raise({ subject: evil, lines: [evil, "\u202e".repeat(3_000)] });
    await chat.pass(0);
    const [message] = chat.in();
    expect(message?.text.startsWith("\u{1F534} <script>&_*[x](http://evil)\u27e8U+202E\u27e9\u2400 is down\n")).toBe(
      true,
    );
    expect(message?.text.length).toBeLessThanOrEqual(4_096);
    for (const hidden of ["\u202e", "\u0000"]) expect(message?.text).not.toContain(hidden);
  });

  it("began in the past when it did: what changed while the server was down is told", async () => {
    const chat = await Chat.open();
    await chat.raise({ since: chat.clock.at - 2 * HOUR });
    await chat.pass(0);
    expect(chat.in()[0]?.text).toContain("Since 07:00 CET (2 hours).");
  });

  it("that never was does not end", async () => {
    const chat = await Chat.open();
    expect(await chat.recover()).toMatchObject({ said: "nothing" });
    await chat.raise();
    await chat.recover();
    expect(await chat.recover()).toMatchObject({ said: "nothing" });
    await chat.pass(MINUTE);
    expect(chat.in()).toHaveLength(1);
  });

  it("of a mere news makes no sound and has no buttons", async () => {
    const chat = await Chat.open();
    await chat.raise({ severity: "info", condition: null, title: "The backup is late" });
    await chat.pass(0);
    expect(chat.in()).toMatchObject([{ silent: true, tokens: {} }]);
  });

  it("is refused with the field and its limit", async () => {
    const chat = await Chat.open();
    await expect(chat.raise({ subject: " " })).rejects.toMatchObject({ kind: "alertInvalid" });
    await expect(chat.raise({ lines: ["x".repeat(3_200)] })).rejects.toMatchObject({
      details: { limit: 3_200, seen: 3_201 },
    });
    await expect(chat.raise({ since: chat.clock.at + 1 })).rejects.toMatchObject({ kind: "alertInvalid" });
    await expect(chat.raise({ audience: "nobody" })).rejects.toMatchObject({ kind: "audienceUnknown" });
    expect(chat.count("alerts")).toBe(0);
  });
});

describe("people", () => {
  it("acknowledge once: the second is told who was first, and reminders end", async () => {
    const chat = await Chat.open();
    await chat.raise({ remind: { afterMs: HOUR, everyMs: HOUR, atMost: 3 } });
    await chat.pass(HOUR + MINUTE);
    expect(chat.heads()).toEqual(["\u{1F534} shop.example is down", "\u{1F534} Still: shop.example is down"]);
    expect(chat.in()[1]).toMatchObject({ replyTo: chat.in()[0]?.reference, silent: false });
    expect(await chat.press(chat.in()[0], "acknowledge")).toMatchObject({ ack: { code: "alertDone" } });
    const again = await chat.press(chat.in()[0], "acknowledge", BEA);
    expect(again.ack).toEqual({ code: "alertBefore", action: "acknowledge", by: "Ann", at: chat.clock.at });
    await chat.pass(5 * HOUR);
    expect(chat.in()).toHaveLength(2);
    expect(chat.in()[0]?.text).toContain("Acknowledged by Ann");
    const [view] = chat.store.read.alerts.list({ all: false });
    expect(view).toMatchObject({ acknowledgedBy: "Ann", state: "open" });
  });

  it("are reminded as often as was asked for, and no more", async () => {
    const chat = await Chat.open();
    await chat.raise({ remind: { afterMs: HOUR, everyMs: HOUR, atMost: 2 } });
    await chat.pass(10 * HOUR);
    expect(chat.in()).toHaveLength(3);
    expect(chat.in()[2]?.text).toContain("Last reminder");
  });

  it("snooze: no sound until then, and told when it still holds", async () => {
    const chat = await Chat.open();
    await chat.raise({ remind: { afterMs: 10 * MINUTE, everyMs: 10 * MINUTE, atMost: 9 } });
    await chat.pass(MINUTE);
    expect(await chat.press(chat.in()[0], "snooze")).toMatchObject({
      ack: { code: "alertDone", action: "snooze", at: chat.clock.at + HOUR },
    });
    await chat.pass(30 * MINUTE);
    expect(chat.in()).toHaveLength(1);
    expect(chat.in()[0]?.text).toContain("Snoozed by Ann until 10:01");
    // Another condition is told, without a sound.
    await chat.raise({ condition: "failing" });
    await chat.pass(MINUTE);
    expect(chat.in()[1]).toMatchObject({ silent: true });
    await chat.pass(30 * MINUTE);
    expect(chat.in()[2]).toMatchObject({ silent: false });
    expect(chat.in()[2]?.text).toContain("The snooze is over.");
  });

  it("who are not of the audience change nothing, and strangers hear nothing", async () => {
    const chat = await Chat.open();
    await chat.raise();
    await chat.pass(0);
    const [card] = chat.in();
    expect(await chat.press(card, "acknowledge", GUEST)).toMatchObject({ ack: { code: "alertNotOnList" } });
    expect((await chat.press(card, "acknowledge", STRANGER)).ack).toMatchObject({ code: "notOnList" });
    expect(chat.store.read.alerts.list({ all: false })).toMatchObject([{ acknowledgedAt: null }]);
  });

  it("who press when it is over are told so, also when it has come again", async () => {
    const chat = await Chat.open();
    await chat.raise();
    await chat.pass(0);
    const card = { ...(chat.in()[0] as NonNullable<ReturnType<typeof chat.in>[0]>) };
    await chat.recover();
    const ended = chat.clock.at;
    expect((await chat.press(card, "snooze")).ack).toEqual({ code: "alertOver", at: ended });
    await chat.pass(HOUR);
    await chat.raise();
    expect((await chat.press(card, "acknowledge")).ack).toEqual({ code: "alertOver", at: ended });
    expect(chat.store.read.alerts.list({ all: false })).toMatchObject([{ acknowledgedAt: null, episodes: 2 }]);
  });

  it("ask for a repair, which one taker gets", async () => {
    const chat = await Chat.open();
    const { alertId } = await chat.raise({ repair: true });
    await chat.pass(0);
    await chat.press(chat.in()[0], "repair");
    const [wish] = chat.store.read.alerts.repairsAsked();
    expect(wish).toMatchObject({ alertId, groupKey: "shop", episode: 1, by: "Ann" });
    expect(await chat.store.alerts.takeRepair({ alertId, episode: 1 })).toBe(true);
    expect(await chat.store.alerts.takeRepair({ alertId, episode: 1 })).toBe(false);
    await chat.pass(MINUTE);
    expect(chat.in()[0]?.text).toContain("Repair asked for by Ann");
  });

  it("are seen in the message at once, although a report that it lasts comes while the edit is under way", async () => {
    const chat = await Chat.open();
    await chat.raise({ repair: true });
    await chat.pass(30 * MINUTE);
    await chat.press(chat.in()[0], "acknowledge");
    const edit = await chat.next();
    await chat.raise({ repair: true });
    if (edit === null) throw new Error("no edit is sent");
    await chat.show(edit);
    expect(chat.in()[0]?.text).toContain("Acknowledged by Ann");
    // What came of it comes as soon.
    await chat.raise({ repair: true, lines: ["a repair runs"], atOnce: true });
    await chat.flush();
    expect(chat.in()[0]?.text).toContain("a repair runs");
  });

  it("at the terminal do the same", async () => {
    const chat = await Chat.open();
    await chat.raise();
    await chat.pass(0);
    const by = { actor: { type: "human", id: "uid:1" }, name: "ann" } as const;
    const input = { alert: "shop", access: chat.access, by, receipt: null };
    expect((await chat.store.alerts.snooze({ ...input, forMs: HOUR })).result).toMatchObject({ result: "done" });
    expect((await chat.store.alerts.acknowledge(input)).result).toMatchObject({ result: "done" });
    await chat.recover();
    await expect(chat.store.alerts.acknowledge(input)).rejects.toMatchObject({ kind: "alertState" });
    await expect(chat.store.alerts.acknowledge({ ...input, alert: "nothing" })).rejects.toMatchObject({
      kind: "alertNotFound",
    });
    expect((await chat.store.verify()).problems).toEqual([]);
  });
});
