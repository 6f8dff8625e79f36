/** Two client libraries that nobody here wrote work with the stand-in unchanged: it has the shape of the Bot API, not of one of them. */
import { Bot as GrammyBot, GrammyError, InputFile } from "grammy";
import { Bot as OtherBot } from "node-telegram-bot-api";
import { expect, test } from "vitest";
import { botMessages, requestsOf, toastsFor } from "../../../../adapters/telegram/sim/index.ts";
import { ANN, keyboard, smallWorld } from "./api.ts";

test("grammY polls, sends a card, hears the tap, answers, edits and uploads", async () => {
  const sim = await smallWorld();
  const bot = new GrammyBot(sim.token, { client: { apiRoot: sim.url } });
  bot.command("deploy", (context) =>
    context.reply("Deploy?", {
      reply_markup: { inline_keyboard: [[{ text: "Approve", callback_data: "ok", style: "success" }]] },
    }),
  );
  bot.callbackQuery("ok", async (context) => {
    await context.answerCallbackQuery("Approved");
    await context.editMessageText(`Approved by ${context.from.first_name}`);
    await context.replyWithDocument(new InputFile(Buffer.from("the log"), "log.txt"));
  });
  const running = bot.start();
  await sim.ledger.waitFor((state) => state.polling);
  sim.people.say(ANN, ANN, "/deploy");
  const card = await sim.ledger.waitFor((state) => botMessages(state, ANN)[0]);
  sim.people.tap(ANN, ANN, card.id, "Approve");
  await sim.ledger.waitFor((state) => botMessages(state, ANN)[1]?.document?.text === "the log", {
    what: "the document",
  });
  const state = sim.ledger.state();
  expect(botMessages(state, ANN)[0]).toMatchObject({ text: "Approved by Ann", buttons: [] });
  expect(toastsFor(state, ANN).map((toast) => toast.text)).toEqual(["Approved"]);
  await bot.stop();
  await running;
  expect(sim.ledger.state().pendingUpdates).toEqual([]);
  const refused = bot.api.sendMessage(5, "x");
  await expect(refused).rejects.toThrow(GrammyError);
  await expect(refused).rejects.toThrow("chat not found");
});

test("node-telegram-bot-api does the same, with urlencoded bodies", async () => {
  const sim = await smallWorld();
  const bot = new OtherBot(sim.token, { apiRoot: sim.url, maxRetries: 0 });
  bot.command("deploy", (context) =>
    context.api.sendMessage({
      chat_id: ANN,
      text: "Deploy?",
      entities: [{ type: "bold", offset: 0, length: 7 }],
      reply_markup: keyboard("Approve") as { inline_keyboard: never[] },
    }),
  );
  bot.on("callback_query", async (context) => {
    const query = context.callbackQuery;
    const message = query?.message;
    if (!query || !message) throw new Error("no message in the tap");
    await context.api.answerCallbackQuery({ callback_query_id: query.id, text: "Approved" });
    await context.api.editMessageText({ chat_id: message.chat.id, message_id: message.message_id, text: "Approved" });
  });
  const running = bot.startPolling();
  await sim.ledger.waitFor((state) => state.polling);
  sim.people.say(ANN, ANN, "/deploy");
  const card = await sim.ledger.waitFor((state) => botMessages(state, ANN)[0]);
  expect(card.entities).toEqual([{ type: "bold", offset: 0, length: 7 }]);
  sim.people.tap(ANN, ANN, card.id, "Approve");
  await sim.ledger.waitFor((state) => botMessages(state, ANN)[0]?.text === "Approved", { what: "the edit" });
  expect(toastsFor(sim.ledger.state(), ANN).map((toast) => toast.text)).toEqual(["Approved"]);
  expect(requestsOf(sim.ledger.state(), "sendMessage")[0]?.encoding).toBe("urlencoded");
  bot.stop();
  await running;
  await expect(bot.api.sendMessage({ chat_id: 5, text: "x" })).rejects.toThrow("chat not found");
});
