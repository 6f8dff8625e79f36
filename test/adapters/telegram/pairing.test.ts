// Which message pairs: a person's own one, written now, that holds the code of this terminal.

import { expect, test } from "vitest";

import { judgePairing } from "../../../adapters/telegram/setup/pairing.ts";
import { newPairingCode, pairingCodeIn, shownCode } from "../../../src/contracts/pairing-code.ts";

const BOT = { id: "99", username: "ops_bot" };
const CODE = "7k3f92qx";
const ANN = { id: 1001, is_bot: false, first_name: "Ann" };
const PRIVATE = { id: 1001, type: "private", first_name: "Ann" };
const GROUP = { id: -100_200, type: "supergroup", title: "Ops", is_forum: true };

function judge(message: object, kind = "message"): ReturnType<typeof judgePairing> {
  const whole = { message_id: 5, date: 1_700_000_000, chat: PRIVATE, from: ANN, text: CODE, ...message };
  return judgePairing({ update_id: 1, [kind]: whole }, 1, CODE, BOT);
}

test.each([
  CODE,
  "7K3F-92QX",
  " 7k3f 92qx ",
  "/start 7k3f92qx",
  "/start@ops_bot 7k3f-92qx",
  "@ops_bot 7k3f-92qx",
  "7k3f\u201392qx",
])("%j from Ann in her private chat pairs, with her numeric id", (text) => {
  expect(judge({ text })).toEqual({
    kind: "paired",
    place: { id: "1001", kind: "private", title: null, topic: null },
    sender: { id: "1001", name: "Ann" },
  });
});

test("in a topic of a group the chat, its kind and the topic are learned; General has no topic", () => {
  const inGroup = { chat: GROUP, text: `/start@ops_bot ${CODE}` };
  const place = { id: "-100200", kind: "supergroup", title: "Ops" };
  expect(judge({ ...inGroup, is_topic_message: true, message_thread_id: 7 })).toMatchObject({
    kind: "paired",
    place: { ...place, topic: "7" },
  });
  expect(judge(inGroup)).toMatchObject({ kind: "paired", place: { ...place, topic: null } });
  expect(judge({ chat: { id: -300, type: "group", title: "Team" } })).toMatchObject({ place: { kind: "group" } });
});

test.each([
  ["another code", { text: "7k3f-92qy" }, "wrongCode"],
  ["other words", { text: "hello" }, "otherText"],
  ["a forwarded code", { forward_origin: { type: "user", sender_user: ANN, date: 1 } }, "forwarded"],
  ["an anonymous admin", { chat: GROUP, from: { id: 1_087_968_824, is_bot: true }, sender_chat: GROUP }, "anonymous"],
  ["a person who writes for a channel", { chat: GROUP, sender_chat: { id: -9, type: "channel" } }, "anonymous"],
  ["another bot", { from: { id: 5, is_bot: true, first_name: "B" } }, "bot"],
  ["a business connection", { business_connection_id: "b" }, "otherRoute"],
  ["another bot's inline message", { via_bot: { id: 6, is_bot: true } }, "otherRoute"],
])("%s does not pair, and why is said", (_what, message, notice) => {
  expect(judge(message)).toMatchObject({ kind: "noticed", notice });
});

test("an edited message and a post in a channel do not pair", () => {
  expect(judge({}, "edited_message")).toMatchObject({ notice: "edited" });
  expect(judge({ chat: { id: -9, type: "channel", title: "News" }, from: undefined }, "channel_post")).toMatchObject({
    notice: "channelPost",
  });
});

test("a bare /start, a sticker, a command for another bot and a tap are nothing; a group that moved is told", () => {
  for (const message of [{ text: "/start" }, { text: undefined, sticker: {} }, { text: `/start@other_bot ${CODE}` }])
    expect(judge(message)).toEqual({ kind: "nothing" });
  expect(judgePairing({ update_id: 1, callback_query: { id: "1", from: ANN, data: CODE } }, 1, CODE, BOT)).toEqual({
    kind: "nothing",
  });
  expect(judge({ chat: { id: -300, type: "group" }, text: undefined, migrate_to_chat_id: -100_300 })).toEqual({
    kind: "moved",
    from: "-300",
    to: "-100300",
  });
});

test("codes are of one form, without characters that are easily confused, and every byte that is not usable is passed over", () => {
  let next = 0;
  const code = newPairingCode((size) => Buffer.from(Array.from({ length: size }, () => (next = (next + 37) % 256))));
  expect(code).toMatch(/^[a-z2-9]{8}$/);
  expect(code).not.toMatch(/[ilo01]/);
  expect(pairingCodeIn(shownCode(code), null)).toBe(code);
  const stuck = [Buffer.alloc(8, 255), Buffer.from([0, 1, 2, 3, 4, 5, 6, 7])];
  expect(newPairingCode(() => stuck.shift() ?? Buffer.alloc(8))).toBe("abcdefgh");
});
