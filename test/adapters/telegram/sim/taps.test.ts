/** Buttons and taps, as the official server treats them. */
import { describe, expect, test } from "vitest";
import { botMessages } from "../../../../adapters/telegram/sim/index.ts";
import { ANN, keyboard, ok, refusal, smallWorld } from "./api.ts";

const card = () => ({ chat_id: ANN, text: "Deploy?", reply_markup: keyboard("Approve", "Stop") });

describe("taps", () => {
  test("a tap is a callback query with chat_instance and the message as it stands", async () => {
    const sim = await smallWorld();
    const { message_id } = await ok(sim, "sendMessage", card());
    const { callbackId, updateId } = sim.people.tap(ANN, ANN, message_id, "Approve");
    const [update] = await ok(sim, "getUpdates");
    expect(update).toMatchObject({
      update_id: updateId,
      callback_query: { id: callbackId, data: "approve", from: { id: ANN }, message: { message_id, text: "Deploy?" } },
    });
    expect(update.callback_query.chat_instance).toMatch(/^-?\d+$/u);
  });

  test("an answer shows a toast once; unknown, repeated and long answers are refused", async () => {
    const sim = await smallWorld();
    const { message_id } = await ok(sim, "sendMessage", card());
    const { callbackId } = sim.people.tap(ANN, ANN, message_id, 0);
    const tooOld = "400 Bad Request: query is too old and response timeout expired or query ID is invalid";
    const answer = { callback_query_id: callbackId, text: "Approved" };
    expect(await refusal(sim, "answerCallbackQuery", { ...answer, text: "x".repeat(201) })).toBe(
      "400 Bad Request: MESSAGE_TOO_LONG",
    );
    expect(await ok(sim, "answerCallbackQuery", answer)).toBe(true);
    expect(await refusal(sim, "answerCallbackQuery", answer)).toBe(tooOld);
    expect(await refusal(sim, "answerCallbackQuery", { callback_query_id: "12" })).toBe(tooOld);
    expect(sim.ledger.state().toasts).toMatchObject([{ callbackId, userId: ANN, chatId: ANN, text: "Approved" }]);
  });

  test("a person cannot press what is not there or what is disabled", async () => {
    const sim = await smallWorld();
    const reply_markup = { inline_keyboard: [[{ text: "Approved by Ann", disabled: {} }]] };
    const { message_id } = await ok(sim, "sendMessage", { chat_id: ANN, text: "x", reply_markup });
    expect(() => sim.people.tap(ANN, ANN, message_id, "Stop")).toThrow('no button "Stop"');
    expect(() => sim.people.tap(ANN, ANN, message_id, "Approved by Ann")).toThrow("sends nothing");
    expect(sim.ledger.state().taps).toEqual([]);
  });

  test.each([
    ["65 bytes of callback data", { text: "x", callback_data: "é".repeat(32) + "x" }, "BUTTON_DATA_INVALID"],
    [
      "no action",
      { text: "x" },
      "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
    ],
    ["no text", { callback_data: "x" }, `can't parse inline keyboard button: Can't find field "text"`],
    ["an empty text", { text: " ", callback_data: "x" }, "inline keyboard button text must be non-empty"],
    [
      "an unknown style",
      { text: "x", callback_data: "x", style: "pink" },
      "can't parse inline keyboard button: Invalid button style specified",
    ],
    ["a long text to copy", { text: "x", copy_text: { text: "x".repeat(257) } }, "BUTTON_COPY_TEXT_INVALID"],
  ])("refuses a button with %s", async (_name, button, expected) => {
    const sim = await smallWorld();
    const params = { chat_id: ANN, text: "x", reply_markup: { inline_keyboard: [[button]] } };
    expect(await refusal(sim, "sendMessage", params)).toBe(`400 Bad Request: ${expected}`);
  });

  test("the buttons of Bot API 10.3 arrive: style, disabled, copy_text, and a keyboard that asks for a reply", async () => {
    const sim = await smallWorld();
    const row = [
      { text: "Approve", callback_data: "é".repeat(32), style: "success" },
      { text: "Done", disabled: {} },
      { text: "Copy", copy_text: { text: "a91c4e" } },
    ];
    const reply_markup = { inline_keyboard: [row], force_reply: true };
    const { message_id, reply_markup: back } = await ok(sim, "sendMessage", { chat_id: ANN, text: "x", reply_markup });
    expect(back).toEqual(reply_markup);
    const edited = await ok(sim, "editMessageText", {
      chat_id: ANN,
      message_id,
      text: "y",
      reply_markup: { inline_keyboard: [row] },
    });
    expect(edited.reply_markup.force_reply).toBe(true);
    const [seen] = botMessages(sim.ledger.state(), ANN);
    expect(seen?.forceReply).toBe("keyboard");
    expect(seen?.buttons).toEqual([
      [
        { text: "Approve", style: "success", data: "é".repeat(32) },
        { text: "Done", disabled: true },
        { text: "Copy", copyText: "a91c4e" },
      ],
    ]);
  });
});
