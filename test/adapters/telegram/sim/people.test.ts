/** What the bot hears when people act: who seems to speak, in which chat, and what it never hears. */
import { expect, test } from "vitest";
import type { Sim } from "../../../../adapters/telegram/sim/index.ts";
import { ANN, BEA, keyboard, NEWS, ok, OPS, refusal, smallWorld, TEAM } from "./api.ts";

const hello = { chat_id: ANN, text: "hello" };

const heard = async (sim: Sim) => (await ok(sim, "getUpdates", { timeout: 1 }))[0];

test("an anonymous admin writes as 1087968824 on behalf of the group, and taps as the real person", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { chat_id: OPS, text: "x", reply_markup: keyboard("Approve") });
  const { updateId } = sim.people.reply(ANN, OPS, message_id, "yes", { as: "anonymousAdmin" });
  expect(await heard(sim)).toMatchObject({ message: { from: { id: 1_087_968_824 }, sender_chat: { id: OPS } } });
  sim.people.tap(ANN, OPS, message_id, "Approve");
  const [tap] = await ok(sim, "getUpdates", { offset: (updateId as number) + 1 });
  expect(tap.callback_query.from.id).toBe(ANN);
});

test("somebody writes on behalf of a channel", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { chat_id: OPS, text: "x" });
  sim.people.reply(ANN, OPS, message_id, "yes", { as: { chat: NEWS } });
  expect(await heard(sim)).toMatchObject({ message: { from: { id: 136_817_688 }, sender_chat: { id: NEWS } } });
});

test("a channel post has no from", async () => {
  const sim = await smallWorld();
  sim.people.post(NEWS, "news");
  const update = await heard(sim);
  expect(update.channel_post).toMatchObject({ chat: { id: NEWS }, text: "news" });
  expect(update.channel_post).not.toHaveProperty("from");
});

test("business and guest messages carry the same chat id under another update type", async () => {
  const sim = await smallWorld();
  const id = sim.people.say(ANN, ANN, "b", { businessConnection: "bc1" }).updateId as number;
  expect(await heard(sim)).toMatchObject({ business_message: { chat: { id: ANN }, business_connection_id: "bc1" } });
  sim.people.say(ANN, ANN, "g", { guestQuery: "g1" });
  const [guest] = await ok(sim, "getUpdates", { offset: id + 1 });
  expect(guest).toMatchObject({ guest_message: { chat: { id: ANN }, guest_query_id: "g1" } });
});

test("a tap on an inaccessible message has date 0, and an inline tap has no chat", async () => {
  const sim = await smallWorld();
  const id = sim.people.tapRaw(ANN, ANN, 44, "forged", { inaccessible: true }).updateId as number;
  expect((await heard(sim)).callback_query.message).toEqual({
    message_id: 44,
    date: 0,
    chat: { id: ANN, type: "private", first_name: "Ann", username: "ann_example" },
  });
  sim.people.tapInline(ANN, "inline-1", "x");
  const [inline] = await ok(sim, "getUpdates", { offset: id + 1 });
  expect(inline.callback_query).toMatchObject({ inline_message_id: "inline-1", data: "x" });
  expect(inline.callback_query).not.toHaveProperty("message");
});

test("a person without a username, and one who changes it", async () => {
  const sim = await smallWorld();
  const id = sim.people.say(BEA, TEAM, "/status").updateId as number;
  expect((await heard(sim)).message.from).toEqual({ id: BEA, is_bot: false, first_name: "Bea" });
  sim.people.rename(ANN, { username: "other", firstName: "Anna" });
  sim.people.say(ANN, ANN, "x");
  const [renamed] = await ok(sim, "getUpdates", { offset: id + 1 });
  expect(renamed.message.from).toMatchObject({ id: ANN, first_name: "Anna", username: "other" });
});

test("a reply in General carries a thread id that is not a topic", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { chat_id: OPS, text: "x" });
  sim.people.reply(ANN, OPS, message_id, "yes");
  const { message } = await heard(sim);
  expect(message.message_thread_id).toBe(message_id);
  expect(message).not.toHaveProperty("is_topic_message");
});

test("a reply in a topic says so", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { chat_id: OPS, text: "x", message_thread_id: 7 });
  sim.people.reply(ANN, OPS, message_id, "yes");
  expect(await heard(sim)).toMatchObject({ message: { message_thread_id: 7, is_topic_message: true } });
});

test("in a group the bot hears commands, mentions and replies to it, nothing else", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { chat_id: TEAM, text: "x" });
  expect(sim.people.say(BEA, TEAM, "yes").updateId).toBeNull();
  expect(sim.people.say(BEA, TEAM, "/status@somebody_else_bot").updateId).toBeNull();
  expect(sim.people.say(BEA, TEAM, "/status").updateId).not.toBeNull();
  expect(sim.people.say(BEA, TEAM, "hey @holdpoint_local_bot").updateId).not.toBeNull();
  expect(sim.people.reply(BEA, TEAM, message_id, "yes").updateId).not.toBeNull();
});

test("forwards lose their buttons and name their origin; edits come as edited_message", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { ...hello, reply_markup: keyboard("Approve") });
  sim.people.addChat({ id: BEA, type: "private" });
  const forwarded = sim.people.forward(ANN, ANN, message_id, BEA);
  expect(sim.ledger.state().chats.find((chat) => chat.id === BEA)?.messages[0]).toMatchObject({
    buttons: [],
    forwardedFrom: { chatId: ANN, messageId: message_id },
  });
  expect(await heard(sim)).toMatchObject({ message: { forward_origin: { type: "user" } } });
  expect(await refusal(sim, "editMessageText", { chat_id: BEA, message_id: forwarded.messageId, text: "y" })).toBe(
    "400 Bad Request: message can't be edited",
  );
  const said = sim.people.say(ANN, ANN, "teh");
  const edited = sim.people.editOwn(ANN, ANN, said.messageId, "the");
  const [update] = await ok(sim, "getUpdates", { offset: edited.updateId });
  expect(update.edited_message).toMatchObject({ message_id: said.messageId, text: "the" });
});
