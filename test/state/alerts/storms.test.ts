/** Many alerts at once and alerts that keep changing: what a chat sees, and how fast (T23, T24). */
import { describe, expect, it } from "vitest";
import { Chat, type Call } from "./chat.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The most calls to one place in any minute. */
function busiestMinute(calls: readonly Call[]): number {
  return Math.max(
    0,
    ...calls.map(({ at }) => calls.filter((other) => other.at >= at && other.at < at + MINUTE).length),
  );
}

async function storm(count: number): Promise<Chat> {
  const chat = await Chat.open();
  for (let n = 0; n < count; n += 1) {
    await chat.raise({ groupKey: `m${n}`, subject: `service-${n}.example` });
    await chat.pass(100);
  }
  return chat;
}

describe("a storm of a hundred alerts in one group", () => {
  it("is one list that names all of them, within what a group takes, and is closed when the last is over", async () => {
    const chat = await storm(100);
    await chat.pass(5 * MINUTE);
    const lists = chat.in().filter(({ text }) => text.includes("alerts at once"));
    expect(lists).toHaveLength(1);
    for (let n = 0; n < 100; n += 1) expect(lists[0]?.text).toContain(`service-${n}.example is down`);
    expect(lists[0]?.text.length).toBeLessThanOrEqual(4_096);
    expect(chat.in().length).toBeLessThanOrEqual(6);
    for (let n = 0; n < 100; n += 1) {
      await chat.recover({ groupKey: `m${n}` });
      await chat.pass(50);
    }
    await chat.pass(5 * MINUTE);
    expect(lists[0]?.text).toContain("100 alerts \u00b7 all over");
    expect(lists[0]?.tokens).toEqual({});
    expect(chat.heads().at(-1)).toBe("\u{1F7E2} All 100 alerts are over");
    expect(chat.in().at(-1)).toMatchObject({ replyTo: lists[0]?.reference });
    // Those that were told one by one before it was a storm show their end as well.
    for (const message of chat.in().filter(({ text }) => text.includes("\u00b7 over")))
      expect(message.tokens).toEqual({});
    expect(chat.in().filter(({ text }) => text.startsWith("\u{1F534}"))).toEqual([]);
    expect(busiestMinute(chat.calls)).toBeLessThanOrEqual(20);
    expect((await chat.store.verify()).problems).toEqual([]);
  });

  it("is acknowledged by one button, which everything shows", async () => {
    const chat = await storm(20);
    await chat.pass(2 * MINUTE);
    const list = chat.in().find(({ text }) => text.includes("alerts at once"));
    expect((await chat.press(list, "acknowledge")).ack).toMatchObject({ code: "alertsDone", count: 20 });
    await chat.pass(2 * MINUTE);
    expect(chat.store.read.alerts.list({ all: false }).every(({ acknowledgedBy }) => acknowledgedBy === "Ann")).toBe(
      true,
    );
    expect(list?.tokens).toEqual({});
    expect(list?.text.match(/\u2713/g)).toHaveLength(20);
  });

  it("that was snoozed offers no further snooze until that is over, and says which are", async () => {
    const chat = await storm(20);
    await chat.pass(2 * MINUTE);
    const list = chat.in().find(({ text }) => text.includes("alerts at once"));
    expect(Object.keys(list?.tokens ?? {})).toEqual(["acknowledge", "snooze"]);
    expect((await chat.press(list, "snooze")).ack).toMatchObject({ code: "alertsDone", count: 20 });
    await chat.pass(2 * MINUTE);
    expect(Object.keys(list?.tokens ?? {})).toEqual(["acknowledge"]);
    expect(list?.text.match(/\u{1F4A4}/gu)).toHaveLength(20);
    await chat.pass(HOUR);
    expect(Object.keys(list?.tokens ?? {})).toEqual(["acknowledge", "snooze"]);
    expect(list?.text).not.toContain("\u{1F4A4}");
  });

  it("has one reminder for all, not one for each", async () => {
    const chat = await Chat.open();
    const remind = { afterMs: HOUR, everyMs: HOUR, atMost: 2 };
    for (let n = 0; n < 30; n += 1) await chat.raise({ groupKey: `m${n}`, subject: `s${n}`, remind });
    await chat.pass(MINUTE);
    const before = chat.in().length;
    await chat.pass(HOUR);
    expect(chat.heads().slice(before)).toEqual(["\u26a0\ufe0f Still 30 of 30 alerts"]);
  });

  it("that was over before anything could be sent says so in one message", async () => {
    const chat = await Chat.open();
    const hold = await chat.raise({ groupKey: "first", subject: "first" });
    expect(hold.said).toBe("opened");
    const perform = await chat.mustNext();
    await chat.dispatch(perform);
    await chat.finish(perform, "rejected", { retryAfterMs: HOUR });
    for (let n = 0; n < 30; n += 1) await chat.raise({ groupKey: `m${n}`, subject: `s${n}` });
    chat.clock.advance(10 * MINUTE);
    for (const key of ["first", ...Array.from({ length: 30 }, (_, n) => `m${n}`)])
      await chat.recover({ groupKey: key });
    await chat.pass(2 * HOUR);
    expect(chat.heads()).toEqual(["\u{1F7E2} All 31 alerts are over"]);
    expect(chat.in()[0]?.text).toContain("could not be delivered then");
  });

  it("with more than a list holds goes on in a second one", async () => {
    const chat = await Chat.open();
    for (let n = 0; n < 130; n += 1)
      await chat.raise({ groupKey: `m${n}`, subject: `a service with a long name ${n}` });
    await chat.pass(5 * MINUTE);
    const text = chat
      .in()
      .map((message) => message.text)
      .join("\n");
    for (let n = 0; n < 130; n += 1)
      expect(chat.store.read.alerts.get(`m${n}`).told).toMatchObject([{ status: "sent" }]);
    expect(text.match(/\u{1F534} a service/gu)?.length).toBeGreaterThanOrEqual(130);
    for (const message of chat.in()) expect(message.text.length).toBeLessThanOrEqual(4_096);
  });

  it("does not swallow what begins after it, nor news", async () => {
    const chat = await storm(10);
    await chat.raise({ groupKey: "news", severity: "info", condition: null, title: "A report" });
    await chat.pass(10 * MINUTE);
    await chat.raise({ groupKey: "later", subject: "later.example" });
    await chat.pass(MINUTE);
    expect(chat.heads()).toContain("\u2139\ufe0f A report");
    expect(chat.heads().at(-1)).toBe("\u{1F534} later.example is down");
  });
});

describe("an alert that keeps changing", () => {
  it("is named once, edited, and told again when it is stable", async () => {
    const chat = await Chat.open();
    for (let n = 0; n < 15; n += 1) {
      await chat.raise({ lines: [`error ${n * 7919}`] });
      await chat.pass(20 * SECOND);
      await chat.recover();
      await chat.pass(20 * SECOND);
    }
    const heads = chat.heads();
    expect(heads).toEqual([
      "\u{1F7E2} shop.example is down \u00b7 over",
      "\u{1F7E2} shop.example is up again",
      "\u{1F7E0} shop.example keeps changing",
    ]);
    await chat.pass(MINUTE);
    expect(chat.in()[2]?.text).toMatch(/30 times in \d+ minutes\. Quiet until it is stable\./);
    expect(chat.in()[2]?.replyTo).toBe(chat.in()[0]?.reference);
    await chat.pass(HOUR);
    expect(chat.heads().slice(2)).toEqual([
      "\u{1F7E2} shop.example is down \u00b7 over",
      "\u{1F7E2} shop.example is up again",
    ]);
    expect(chat.in()[3]?.text).toContain("It changed 30 times, and is stable now.");
    expect(chat.in().every(({ tokens }) => Object.keys(tokens).length === 0)).toBe(true);
  });

  it("and stays wrong in the end is told anew, with its buttons", async () => {
    const chat = await Chat.open();
    for (const what of ["raise", "recover", "raise", "recover", "raise"] as const) {
      await chat[what]();
      await chat.pass(MINUTE);
    }
    await chat.pass(11 * MINUTE);
    expect(chat.heads().at(-1)).toBe("\u{1F534} shop.example is down");
    expect(chat.in().at(-1)).toMatchObject({ silent: false });
    expect(Object.keys(chat.in().at(-1)?.tokens ?? {})).toEqual(["acknowledge", "snooze"]);
    await chat.recover();
    await chat.pass(MINUTE);
    expect(chat.heads().at(-1)).toBe("\u{1F7E2} shop.example is up again");
  });

  it("by its condition, each time another one, is bounded too", async () => {
    const chat = await Chat.open();
    for (let n = 0; n < 30; n += 1) {
      await chat.raise({ fingerprint: `error ${n}`, condition: "failing" });
      await chat.pass(20 * SECOND);
    }
    expect(chat.in().length).toBeLessThanOrEqual(3);
    expect(chat.heads().at(-1)).toBe("\u{1F7E0} shop.example keeps changing");
  });

  it("is left to whoever reports it, where that notices unrest by itself", async () => {
    const chat = await Chat.open();
    for (let n = 0; n < 4; n += 1) {
      await chat.raise({ watchFlapping: false });
      await chat.pass(MINUTE);
      await chat.recover();
      await chat.pass(MINUTE);
    }
    expect(chat.in()).toHaveLength(8);
  });
});

describe("the pace", () => {
  it("of alerts to a group stays below twenty a minute, and a card does not wait for it", async () => {
    const chat = await Chat.open();
    for (let n = 0; n < 40; n += 1) await chat.raise({ groupKey: `n${n}`, severity: "info", subject: `news ${n}` });
    await chat.flush();
    expect(chat.in()).toHaveLength(5);
    const due = chat.all<{ n: number }>("SELECT count(*) AS n FROM effects WHERE next_attempt_at > created_at")[0];
    expect(due?.n).toBe(1);
    await chat.ask();
    await chat.flush();
    expect(
      chat
        .in()
        .map(({ text }) => text)
        .slice(5),
    ).toEqual(["card"]);
    chat.messages.pop();
    await chat.pass(10 * MINUTE);
    expect(chat.in()).toHaveLength(40);
    expect(busiestMinute(chat.calls)).toBeLessThanOrEqual(20);
    expect(chat.heads()).toEqual(Array.from({ length: 40 }, (_, n) => `\u2139\ufe0f news ${n} is down`));
  });
});
