// Every update becomes one frame that says what it is; nothing that a person wrote is changed.

import { describe, expect, test } from "vitest";
import { inboundOf, updateIdOf, type Self } from "../../../adapters/telegram/inbound.ts";
import { inboundSchema, type Inbound } from "../../../src/contracts/protocol/channel.ts";

const SELF: Self = {
  id: "42",
  username: "HoldBot",
  commands: new Map([["workflow_channel", "workflow-channel"]]),
};
const ANN = { id: 1001, is_bot: false, first_name: "Ann", last_name: "Lee", username: "ann" };
const GROUP = { id: -1001234567890, type: "supergroup", title: "Ops" };
const BOT_CARD = {
  message_id: 7,
  date: 1_700_000_000,
  chat: GROUP,
  from: { id: 42, is_bot: true, first_name: "Hold" },
  text: "card",
};

function translate(update: object): Inbound {
  const frame = inboundOf(JSON.parse(JSON.stringify({ update_id: 5, ...update })), 5, SELF);
  // What the child says must pass the server's own check.
  return inboundSchema.parse(JSON.parse(JSON.stringify(frame)));
}

const message = (changes: object = {}): object => ({
  message_id: 8,
  date: 1_700_000_001,
  chat: GROUP,
  from: ANN,
  text: "hello",
  ...changes,
});
const tap = (changes: object = {}): object => ({
  callback_query: { id: "q-1", from: ANN, message: BOT_CARD, chat_instance: "c", data: "h:secret-token", ...changes },
});

describe("a tap", () => {
  test("carries token, message, place and sender; that the card is the bot's own is no trait", () => {
    expect(translate(tap())).toMatchObject({
      kind: "answer",
      updateId: 5,
      token: "secret-token",
      eventId: "q-1",
      place: "-1001234567890",
      topic: null,
      reference: "-1001234567890:7",
      sender: { id: "1001", name: "Ann Lee" },
      traits: [],
      sentAt: null,
    });
  });

  test.each([
    ["inaccessible", { message: { message_id: 7, date: 0, chat: GROUP } }, ["inaccessible"]],
    ["inline", { message: undefined, inline_message_id: "i-1" }, ["inline"]],
    ["forwarded", { message: { ...BOT_CARD, forward_origin: { type: "user" } } }, ["forwarded"]],
    ["business", { message: { ...BOT_CARD, business_connection_id: "b" } }, ["business"]],
    ["guest", { message: { ...BOT_CARD, guest_query_id: "g" } }, ["guest"]],
    ["bot", { from: { ...ANN, is_bot: true } }, ["bot"]],
  ])("%s is said to be so", (_name, changes, traits) => {
    const frame = translate(tap(changes));
    expect(frame).toMatchObject({ kind: "answer", traits });
  });

  test("by an admin who writes anonymously carries the real person", () => {
    expect(translate(tap())).toMatchObject({ sender: { id: "1001" }, traits: [] });
  });

  test("on a card in a channel is an answer like any other", () => {
    const channel = { id: -100, type: "channel", title: "News" };
    const card = { ...BOT_CARD, chat: channel, sender_chat: channel, from: undefined };
    expect(translate(tap({ message: card }))).toMatchObject({ sender: { id: "1001" }, place: "-100", traits: [] });
  });

  test("with data that is not ours goes on with that data", () => {
    expect(translate(tap({ data: "approve" }))).toMatchObject({ kind: "answer", token: "approve" });
    expect(translate(tap({ data: "h:" }))).toMatchObject({ kind: "answer", token: "" });
    expect(translate(tap({ data: "x".repeat(500) }))).toMatchObject({ token: "x".repeat(200) });
  });

  test("in a topic names the topic", () => {
    const card = { ...BOT_CARD, is_topic_message: true, message_thread_id: 17 };
    expect(translate(tap({ message: card }))).toMatchObject({ topic: "17" });
  });
});

describe("a message", () => {
  test("keeps its text exactly", () => {
    for (const text of ["\n  two\nlines \t", "ü😀\u202Ex", "\u0000", "/usr/local is wrong", "/"]) {
      expect(translate({ message: message({ text }) })).toMatchObject({ kind: "message", text });
    }
  });

  test("says what it answers, and whether the two are alone", () => {
    expect(translate({ message: message({ reply_to_message: BOT_CARD }) })).toMatchObject({
      replyTo: "-1001234567890:7",
      direct: false,
      sentAt: 1_700_000_001_000,
      reference: "-1001234567890:8",
    });
    const alone = { id: 1001, type: "private", first_name: "Ann" };
    expect(translate({ message: message({ chat: alone }) })).toMatchObject({
      replyTo: null,
      direct: true,
      place: "1001",
    });
  });

  test("in a topic does not answer the message that opened the topic; a thread in General is no topic", () => {
    const opener = { ...BOT_CARD, message_id: 17, forum_topic_created: { name: "Deploys" } };
    const inTopic = { is_topic_message: true, message_thread_id: 17, reply_to_message: opener };
    expect(translate({ message: message(inTopic) })).toMatchObject({ topic: "17", replyTo: null });
    expect(translate({ message: message({ message_thread_id: 9 }) })).toMatchObject({ topic: null });
  });

  test.each([
    ["edited_message", message({ edit_date: 1_700_000_009 }), ["edited"]],
    ["message", message({ forward_origin: { type: "hidden_user" } }), ["forwarded"]],
    [
      "message",
      message({ from: { id: 1087968824, is_bot: true, first_name: "Group" }, sender_chat: GROUP }),
      ["anonymous"],
    ],
    [
      "message",
      message({
        from: { id: 136817688, is_bot: true, first_name: "Channel" },
        sender_chat: { id: -5, type: "channel" },
      }),
      ["anonymous"],
    ],
    ["message", message({ from: { ...ANN, is_bot: true } }), ["bot"]],
    ["message", message({ business_connection_id: "b" }), ["business"]],
    ["message", message({ guest_query_id: "g" }), ["guest"]],
    ["message", message({ via_bot: { id: 9, is_bot: true } }), ["inline"]],
    ["channel_post", message({ from: undefined, chat: { id: -100, type: "channel", title: "News" } }), ["channelPost"]],
  ])("as %s is said to be so", (kind, body, traits) => {
    expect(translate({ [kind]: body })).toMatchObject({ kind: "message", traits });
  });

  test("that a group has another id now is handed over as such, but not from a chat that only looks like it", () => {
    const moved = { text: undefined, chat: { id: -501, type: "group", title: "Team" }, migrate_to_chat_id: -1_001_501 };
    expect(translate({ message: message(moved) })).toMatchObject({ kind: "moved", place: "-501", movedTo: "-1001501" });
    expect(translate({ message: message({ ...moved, business_connection_id: "b" }) })).toMatchObject({ kind: "other" });
  });

  test("without text is of interest only as a reply to the bot", () => {
    const photo = { text: undefined, photo: [{ file_id: "f" }], caption: "approve" };
    expect(translate({ message: message(photo) })).toMatchObject({ kind: "other", what: "photo" });
    expect(translate({ message: message({ ...photo, reply_to_message: BOT_CARD }) })).toMatchObject({
      kind: "message",
      text: "",
      traits: ["noText"],
      replyTo: "-1001234567890:7",
    });
  });

  test("from somebody with a broken or endless name is still read", () => {
    expect(
      translate({ message: message({ from: { id: 3, first_name: `A\uD800${"😀".repeat(300)}` } }) }),
    ).toMatchObject({
      kind: "message",
      sender: { id: "3", name: expect.stringMatching(/^A\uFFFD(😀){90,99}\u2026?$/u) },
    });
  });
});

describe("a command", () => {
  const said = (text: string, more: object = {}): Inbound => translate({ message: message({ text, ...more }) });

  test.each([
    ["/status", "status", ""],
    ["/Status@holdbot  now please", "status", "now please"],
    ["/workflow_channel recover e-1 confirm", "workflow-channel", "recover e-1 confirm"],
    ["/workflow-channel status", "workflow-channel", "status"],
  ])("%s is recognised", (text, command, args) => {
    expect(said(text)).toMatchObject({ kind: "command", command, args, place: "-1001234567890" });
  });

  test("for another bot is none of ours", () => {
    expect(said("/status@OtherBot")).toMatchObject({ kind: "other", what: "command for another bot" });
  });

  test("in a reply to the bot counts only when it is known; anything else is the typed answer", () => {
    expect(said("/status", { reply_to_message: BOT_CARD })).toMatchObject({ kind: "message", text: "/status" });
    expect(said("/workflow_channel status", { reply_to_message: BOT_CARD })).toMatchObject({ kind: "command" });
  });
});

describe("what is not understood", () => {
  test.each([
    [{ poll: { id: "p" } }, "poll"],
    [{ a_kind_of_tomorrow: {} }, "a_kind_of_tomorrow"],
    [{}, "empty update"],
    [{ message: message({ text: undefined, new_chat_members: [] }) }, "new_chat_members"],
    [{ callback_query: { id: "q", from: ANN, message: BOT_CARD, game_short_name: "g" } }, "button without data"],
  ])("is handed over as other", (update, what) => {
    expect(translate(update)).toMatchObject({ kind: "other", what, updateId: 5 });
  });

  test.each([
    { message: message({ chat: undefined }) },
    { message: message({ message_id: "8" }) },
    { message: message({ from: { id: "not a number" } }) },
    { message: message({ text: "half a \uD83D pair" }) },
    { callback_query: { data: "h:x", message: BOT_CARD } },
    { callback_query: { id: 5, from: ANN, data: "h:x", message: BOT_CARD } },
  ])("or broken is handed over as unreadable, with its id", (update) => {
    expect(translate(update)).toMatchObject({ kind: "unreadable", updateId: 5, what: expect.stringMatching(/./) });
  });

  test("without an id cannot be handled", () => {
    for (const update of [null, 5, {}, { update_id: "5" }, { update_id: -1 }, { update_id: 1.5 }]) {
      expect(updateIdOf(update)).toBeNull();
    }
    expect(updateIdOf({ update_id: 5 })).toBe(5);
  });
});

test("the digest tells an update from another one with the same id, whatever the order of its fields", () => {
  const one = translate({ message: message() });
  expect(translate({ message: { ...message(), text: "other" } }).digest).not.toBe(one.digest);
  const reversed = Object.fromEntries(Object.entries(message()).toReversed());
  expect(translate({ message: reversed }).digest).toBe(one.digest);
  expect(one.digest).toMatch(/^[0-9a-f]{64}$/);
});
