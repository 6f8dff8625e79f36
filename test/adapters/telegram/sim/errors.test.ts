/** Every refusal that a bot must recognise, provoked by the situation that brings it about, with its exact text. */
import { expect, test } from "vitest";
import type { ChatState, Sim } from "../../../../adapters/telegram/sim/index.ts";
import { ANN, call, keyboard, NEWS, ok, OPS, refusal, smallWorld, TEAM } from "./api.ts";

const send = (sim: Sim, chat: number) => refusal(sim, "sendMessage", { chat_id: chat, text: "x" });

test("message is not modified: the same text, entities and keyboard", async () => {
  const sim = await smallWorld();
  const same = {
    chat_id: ANN,
    text: "x y",
    entities: [{ type: "bold", offset: 0, length: 1 }],
    reply_markup: keyboard("A"),
  };
  const { message_id } = await ok(sim, "sendMessage", same);
  const text =
    "400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";
  expect(await refusal(sim, "editMessageText", { ...same, message_id })).toBe(text);
  expect(
    await refusal(sim, "editMessageReplyMarkup", { chat_id: ANN, message_id, reply_markup: same.reply_markup }),
  ).toBe(text);
  await ok(sim, "editMessageText", { ...same, message_id, entities: [] });
  await ok(sim, "editMessageReplyMarkup", { chat_id: ANN, message_id });
  expect(await refusal(sim, "editMessageReplyMarkup", { chat_id: ANN, message_id })).toBe(text);
});

test("message to edit, delete, answer and react to: not found, also after a person removed it", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { chat_id: ANN, text: "x" });
  sim.people.remove(ANN, message_id);
  for (const id of [message_id, 77]) {
    const at = { chat_id: ANN, message_id: id };
    expect(await refusal(sim, "editMessageText", { ...at, text: "y" })).toBe(
      "400 Bad Request: message to edit not found",
    );
    expect(await refusal(sim, "deleteMessage", at)).toBe("400 Bad Request: message to delete not found");
    expect(await refusal(sim, "setMessageReaction", { ...at, reaction: [] })).toBe(
      "400 Bad Request: message to react not found",
    );
    expect(await refusal(sim, "sendMessage", { chat_id: ANN, text: "y", reply_parameters: { message_id: id } })).toBe(
      "400 Bad Request: message to be replied not found",
    );
  }
  expect(await refusal(sim, "deleteMessage", { chat_id: ANN })).toBe(
    "400 Bad Request: message identifier is not specified",
  );
});

test.each([
  ["a reply prompt", { force_reply: true, input_field_placeholder: "What should change?" }],
  ["a custom keyboard", { keyboard: [[{ text: "Yes" }]] }],
  ["the removal of one", { remove_keyboard: true }],
])("message can't be edited: it carries %s", async (_name, reply_markup) => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { chat_id: ANN, text: "x", reply_markup });
  expect(await refusal(sim, "editMessageText", { chat_id: ANN, message_id, text: "y" })).toBe(
    "400 Bad Request: message can't be edited",
  );
});

test("message can't be edited or deleted: not ours", async () => {
  const sim = await smallWorld();
  const { messageId: message_id } = sim.people.say(ANN, TEAM, "mine");
  expect(await refusal(sim, "editMessageText", { chat_id: TEAM, message_id, text: "y" })).toBe(
    "400 Bad Request: message can't be edited",
  );
  expect(await refusal(sim, "deleteMessage", { chat_id: TEAM, message_id })).toBe(
    "400 Bad Request: message can't be deleted",
  );
});

test.each<[name: string, chat: number, state: ChatState, text: string]>([
  ["blocked", ANN, "blocked", "403 Forbidden: bot was blocked by the user"],
  ["deactivated", ANN, "deactivated", "403 Forbidden: user is deactivated"],
  ["never started", ANN, "neverStarted", "403 Forbidden: bot can't initiate conversation with a user"],
  ["kicked from a group", TEAM, "kicked", "403 Forbidden: bot was kicked from the group chat"],
  ["kicked from a supergroup", OPS, "kicked", "403 Forbidden: bot was kicked from the supergroup chat"],
  ["kicked from a channel", NEWS, "kicked", "403 Forbidden: bot was kicked from the channel chat"],
  ["not a member", OPS, "notMember", "403 Forbidden: bot is not a member of the supergroup chat"],
  ["without rights", OPS, "noRights", "400 Bad Request: not enough rights to send text messages to the chat"],
])("%s", async (_name, chat, state, text) => {
  const sim = await smallWorld();
  sim.people.setChatState(chat, state);
  expect(await send(sim, chat)).toBe(text);
  sim.people.setChatState(chat, "open");
  await ok(sim, "sendMessage", { chat_id: chat, text: "x" });
});

test("a migrated group names its successor on sends, and old messages can still be edited", async () => {
  const sim = await smallWorld();
  const { message_id } = await ok(sim, "sendMessage", { chat_id: TEAM, text: "x" });
  sim.people.setChatState(TEAM, "migrated", OPS);
  const { body } = await call(sim, "sendMessage", { chat_id: TEAM, text: "y" });
  expect(body).toEqual({
    ok: false,
    error_code: 400,
    description: "Bad Request: group chat was upgraded to a supergroup chat",
    parameters: { migrate_to_chat_id: OPS },
  });
  await ok(sim, "editMessageText", { chat_id: TEAM, message_id, text: "y" });
});

test("message thread not found: the topic was deleted; General stays", async () => {
  const sim = await smallWorld();
  await ok(sim, "sendMessage", { chat_id: OPS, text: "x", message_thread_id: 7 });
  sim.people.deleteTopic(OPS, 7);
  expect(await refusal(sim, "sendMessage", { chat_id: OPS, text: "x", message_thread_id: 7 })).toBe(
    "400 Bad Request: message thread not found",
  );
  await ok(sim, "sendMessage", { chat_id: OPS, text: "x" });
  sim.people.addTopic(OPS, { id: 9, name: "Again" });
  await ok(sim, "sendMessage", { chat_id: OPS, text: "x", message_thread_id: 9 });
});

test("wrong commands are refused, right ones are seen", async () => {
  const sim = await smallWorld();
  const set = (command: string, description: string) => ({ commands: [{ command, description }] });
  expect(await refusal(sim, "setMyCommands", set("Status", "x"))).toBe("400 Bad Request: BOT_COMMAND_INVALID");
  expect(await refusal(sim, "setMyCommands", set("status", ""))).toBe(
    "400 Bad Request: BOT_COMMAND_DESCRIPTION_INVALID",
  );
  await ok(sim, "setMyCommands", set("status", "How things stand"));
  await ok(sim, "setMyCommands", set("status", "How it is going"));
  expect(sim.ledger.state().commands).toMatchObject([
    { scope: { type: "default" }, commands: [{ command: "status", description: "How it is going" }] },
  ]);
});

test("wrong markup is refused", async () => {
  const sim = await smallWorld();
  const text = async (reply_markup: unknown) => refusal(sim, "sendMessage", { chat_id: ANN, text: "x", reply_markup });
  expect(await text("{")).toBe("400 Bad Request: can't parse reply keyboard markup JSON object");
  expect(await text("[]")).toBe("400 Bad Request: object expected as reply markup");
  expect(await text(keyboard(...Array.from({ length: 101 }, (_, index) => `b${index}`)))).toBe(
    "400 Bad Request: reply markup is too long",
  );
  const { message_id } = await ok(sim, "sendMessage", { chat_id: ANN, text: "x" });
  expect(
    await refusal(sim, "editMessageText", { chat_id: ANN, message_id, text: "y", reply_markup: { force_reply: true } }),
  ).toBe("400 Bad Request: inline keyboard expected");
});

test("getChat and setMessageReaction answer as the server does", async () => {
  const sim = await smallWorld();
  expect(await ok(sim, "getChat", { chat_id: "@ops_example" })).toMatchObject({
    id: OPS,
    is_forum: true,
    title: "Ops",
  });
  expect(await refusal(sim, "getChat", { chat_id: 5 })).toBe("400 Bad Request: chat not found");
  const { messageId: message_id } = sim.people.say(ANN, ANN, "x");
  await ok(sim, "setMessageReaction", { chat_id: ANN, message_id, reaction: [{ type: "emoji", emoji: "👍" }] });
  expect(sim.ledger.state().chats.find((chat) => chat.id === ANN)?.messages[0]?.reactions).toEqual(["👍"]);
});
