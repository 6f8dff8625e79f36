/** The stand-in does what the official server does: one test per behaviour on which stand-ins are known to differ. */
import { describe, expect, test } from "vitest";
import { botMessages } from "../../../../adapters/telegram/sim/index.ts";
import { ANN, BEA, call, keyboard, NEWS, ok, OPS, refusal, smallWorld, TEAM } from "./api.ts";

const card = (chat = ANN) => ({ chat_id: chat, text: "Deploy?", reply_markup: keyboard("Approve", "Stop") });

describe("account and polling", () => {
  test("getMe says that it is a bot", async () => {
    const sim = await smallWorld();
    expect(await ok(sim, "getMe")).toMatchObject({ is_bot: true, username: "holdpoint_local_bot" });
  });

  test("an empty long poll is held until its timeout and then gives an empty list", async () => {
    const sim = await smallWorld();
    const started = performance.now();
    expect(await ok(sim, "getUpdates", { timeout: 1 })).toEqual([]);
    expect(performance.now() - started).toBeGreaterThan(950);
  });

  test("a held poll is answered as soon as somebody writes", async () => {
    const sim = await smallWorld();
    const poll = ok(sim, "getUpdates", { timeout: 50 });
    await sim.ledger.waitFor((state) => state.polling);
    const { updateId, messageId } = sim.people.say(ANN, ANN, "hello");
    expect(await poll).toMatchObject([{ update_id: updateId, message: { message_id: messageId, text: "hello" } }]);
  });

  test("an update comes again until a higher offset confirms it", async () => {
    const sim = await smallWorld({ pollRules: { sameOffsetLimitMs: 0 } });
    const first = sim.people.say(ANN, ANN, "one").updateId as number;
    const second = sim.people.say(ANN, ANN, "two").updateId as number;
    const ids = async (offset: number) =>
      (await ok(sim, "getUpdates", { offset })).map((update: { update_id: number }) => update.update_id);
    expect(await ids(0)).toEqual([first, second]);
    expect(await ids(0)).toEqual([first, second]);
    expect(await ids(second)).toEqual([second]);
    expect(await ids(first)).toEqual([second]);
    expect((await ok(sim, "getWebhookInfo")).pending_update_count).toBe(1);
    expect(await ids(-1)).toEqual([second]);
  });

  test("limit cuts the list and a limit out of range is forced into it", async () => {
    const sim = await smallWorld({ pollRules: { sameOffsetLimitMs: 0 } });
    for (const text of ["a", "b", "c"]) sim.people.say(ANN, ANN, text);
    expect(await ok(sim, "getUpdates", { limit: 2 })).toHaveLength(2);
    expect(await ok(sim, "getUpdates", { limit: 0 })).toHaveLength(1);
    expect(await ok(sim, "getUpdates", { limit: 5000 })).toHaveLength(3);
  });

  test("allowed_updates is remembered until it is given anew", async () => {
    const sim = await smallWorld();
    await ok(sim, "getUpdates", { allowed_updates: ["callback_query"] });
    await ok(sim, "getUpdates", { offset: 1 });
    expect(sim.people.say(ANN, ANN, "unheard").updateId).toBeNull();
    await ok(sim, "getUpdates", { offset: 2, allowed_updates: [] });
    expect(sim.people.say(ANN, ANN, "heard").updateId).not.toBeNull();
  });

  test("of two pollers the older one gets 409 and the newer one goes on", async () => {
    const sim = await smallWorld();
    const older = call(sim, "getUpdates", { timeout: 50 });
    await sim.ledger.waitFor((state) => state.polling);
    const newer = call(sim, "getUpdates", { timeout: 50, offset: 5 });
    expect(await older).toMatchObject({
      status: 409,
      body: {
        error_code: 409,
        description:
          "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
      },
    });
    await sim.ledger.waitFor((state) => state.polling);
    sim.people.say(ANN, ANN, "still there");
    expect((await newer).body.result).toHaveLength(1);
  });

  test("with a webhook set getUpdates gets 409, and a waiting poll ends", async () => {
    const sim = await smallWorld({ pollRules: { conflictDelayMs: 0 } });
    const waiting = refusal(sim, "getUpdates", { timeout: 50 });
    await sim.ledger.waitFor((state) => state.polling);
    expect(await refusal(sim, "setWebhook", { url: "http://example.org" })).toContain("HTTPS URL must be provided");
    await ok(sim, "setWebhook", { url: "https://example.org/hook", secret_token: "s3cret" });
    expect(await waiting).toBe("409 Conflict: terminated by setWebhook request");
    expect(await refusal(sim, "getUpdates")).toBe(
      "409 Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    );
    expect(await ok(sim, "getWebhookInfo")).toMatchObject({ url: "https://example.org/hook" });
    await ok(sim, "deleteWebhook");
    expect(await ok(sim, "getUpdates")).toEqual([]);
  });
});

describe("messages", () => {
  test.each([
    ["4097 letters", { text: "x".repeat(4097) }, "400 Bad Request: message is too long"],
    ["4098 UTF-16 units in 2049 symbols", { text: "😀".repeat(2049) }, "400 Bad Request: message is too long"],
    ["too many bytes before parsing", { text: "x".repeat(32_769) }, "400 Bad Request: text is too long"],
    ["an empty text", { text: "" }, "400 Bad Request: message text is empty"],
    ["no text at all", {}, "400 Bad Request: message text is empty"],
    ["white space only", { text: " \n\t" }, "400 Bad Request: text must be non-empty"],
    ["half a surrogate pair", { text: "ab\ud83d" }, "400 Bad Request: strings must be encoded in UTF-8"],
    ["an unknown chat", { chat_id: 9, text: "x" }, "400 Bad Request: chat not found"],
    ["no chat", { chat_id: "", text: "x" }, "400 Bad Request: chat_id is empty"],
    [
      "an unclosed tag",
      { text: "<b>x", parse_mode: "HTML" },
      `400 Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`,
    ],
    [
      "an unknown tag",
      { text: "é<x>y</x>", parse_mode: "HTML" },
      `400 Bad Request: can't parse entities: Unsupported start tag "x" at byte offset 2`,
    ],
    [
      "a reserved character",
      { text: "1-2", parse_mode: "MarkdownV2" },
      `400 Bad Request: can't parse entities: Character '-' is reserved and must be escaped with the preceding '\\'`,
    ],
    [
      "an unclosed star",
      { text: "*x", parse_mode: "MarkdownV2" },
      "400 Bad Request: can't parse entities: Can't find end of Bold entity at byte offset 0",
    ],
    [
      "an unclosed old star",
      { text: "a *x", parse_mode: "Markdown" },
      "400 Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 2",
    ],
    ["a wrong parse mode", { text: "x", parse_mode: "BBCode" }, "400 Bad Request: unsupported parse_mode"],
  ])("refuses %s and shows nothing", async (_name, params, expected) => {
    const sim = await smallWorld();
    expect(await refusal(sim, "sendMessage", { chat_id: ANN, ...params })).toBe(expected);
    expect(sim.ledger.state().chats.flatMap((chat) => chat.messages)).toEqual([]);
  });

  test("accepts exactly 4096 UTF-16 units and counts after parsing", async () => {
    const sim = await smallWorld();
    await ok(sim, "sendMessage", { chat_id: ANN, text: "😀".repeat(2048) });
    await ok(sim, "sendMessage", { chat_id: ANN, text: `<b>${"&lt;".repeat(4096)}</b>`, parse_mode: "HTML" });
    expect(botMessages(sim.ledger.state(), ANN).map((message) => message.text.length)).toEqual([4096, 4096]);
  });

  test("dates are in seconds and a message says who sent it", async () => {
    const sim = await smallWorld({ now: 1_800_000_000_000 });
    const message = await ok(sim, "sendMessage", { chat_id: ANN, text: "x" });
    expect(message).toMatchObject({ date: 1_800_000_000, from: { is_bot: true }, chat: { id: ANN, type: "private" } });
  });

  test("an edit returns the message with edit_date and keeps the old look in the ledger", async () => {
    const sim = await smallWorld();
    const { message_id } = await ok(sim, "sendMessage", card());
    const edited = await ok(sim, "editMessageText", { chat_id: ANN, message_id, text: "Approved" });
    expect(edited).toMatchObject({ message_id, text: "Approved", edit_date: expect.any(Number) });
    const [seen] = botMessages(sim.ledger.state(), ANN);
    expect(seen?.versions.map((version) => version.text)).toEqual(["Deploy?"]);
    expect(seen?.versions[0]?.buttons.flat()).toHaveLength(2);
  });

  test("an edit without reply_markup removes the keyboard", async () => {
    const sim = await smallWorld();
    const { message_id } = await ok(sim, "sendMessage", card());
    const edited = await ok(sim, "editMessageText", { chat_id: ANN, message_id, text: "Approved" });
    expect(edited).not.toHaveProperty("reply_markup");
    expect(botMessages(sim.ledger.state(), ANN)[0]?.buttons).toEqual([]);
  });

  test("reply_parameters make a reply, and the old parameter does too", async () => {
    const sim = await smallWorld();
    const { message_id } = await ok(sim, "sendMessage", card());
    const reply = await ok(sim, "sendMessage", { chat_id: ANN, text: "More", reply_parameters: { message_id } });
    expect(reply.reply_to_message).toMatchObject({ message_id, text: "Deploy?" });
    const old = await ok(sim, "sendMessage", { chat_id: ANN, text: "More", reply_to_message_id: message_id });
    expect(old.reply_to_message.message_id).toBe(message_id);
    const lone = { message_id: 99, allow_sending_without_reply: true };
    expect(await ok(sim, "sendMessage", { chat_id: ANN, text: "x", reply_parameters: lone })).not.toHaveProperty(
      "reply_to_message",
    );
  });

  test("a person's reply carries the message that it answers", async () => {
    const sim = await smallWorld();
    const { message_id } = await ok(sim, "sendMessage", card(TEAM));
    sim.people.reply(BEA, TEAM, message_id, "use the blue pool");
    const [update] = await ok(sim, "getUpdates");
    expect(update.message).toMatchObject({
      text: "use the blue pool",
      from: { id: BEA },
      reply_to_message: { message_id, from: { is_bot: true } },
    });
  });

  test("a document keeps its name and content", async () => {
    const sim = await smallWorld();
    const form = new FormData();
    form.set("chat_id", String(ANN));
    form.set("caption", "The log");
    form.set("document", "attach://part1");
    form.set("part1", new Blob(["line one\r\n--x\r\nlast"], { type: "text/plain" }), "build log.txt");
    const response = await fetch(`${sim.url}/bot${sim.token}/sendDocument`, { method: "POST", body: form });
    expect(await response.json()).toMatchObject({
      ok: true,
      result: { caption: "The log", document: { file_name: "build log.txt", file_size: 19, mime_type: "text/plain" } },
    });
    const document = botMessages(sim.ledger.state(), ANN)[0]?.document;
    expect(document).toMatchObject({ text: "line one\r\n--x\r\nlast", size: 19 });
    expect(await refusal(sim, "sendDocument", { chat_id: ANN })).toBe(
      "400 Bad Request: there is no document in the request",
    );
    const long = { chat_id: ANN, document: document?.fileId, caption: "x".repeat(1025) };
    expect(await refusal(sim, "sendDocument", long)).toBe("400 Bad Request: message caption is too long");
  });

  test("a second delete of the same message is refused", async () => {
    const sim = await smallWorld();
    const { message_id } = await ok(sim, "sendMessage", card());
    expect(await ok(sim, "deleteMessage", { chat_id: ANN, message_id })).toBe(true);
    expect(await refusal(sim, "deleteMessage", { chat_id: ANN, message_id })).toBe(
      "400 Bad Request: message to delete not found",
    );
    expect(botMessages(sim.ledger.state(), ANN)).toEqual([]);
  });

  test("topics are addressed by id, General by leaving it out", async () => {
    const sim = await smallWorld();
    const inTopic = await ok(sim, "sendMessage", { ...card(OPS), message_thread_id: 7 });
    expect(inTopic).toMatchObject({ message_thread_id: 7, is_topic_message: true });
    const reply = { chat_id: OPS, text: "x", reply_parameters: { message_id: inTopic.message_id } };
    expect((await ok(sim, "sendMessage", reply)).message_thread_id).toBe(7);
    expect(await ok(sim, "sendMessage", card(OPS))).not.toHaveProperty("message_thread_id");
    for (const message_thread_id of [1, 8]) {
      expect(await refusal(sim, "sendMessage", { ...card(OPS), message_thread_id })).toBe(
        "400 Bad Request: message thread not found",
      );
    }
  });

  test("flood control: one message a second in a chat, twenty a minute in a group", async () => {
    const sim = await smallWorld({ floodControl: true, now: 1_800_000_000_000 });
    await ok(sim, "sendMessage", card());
    expect(await refusal(sim, "sendMessage", card())).toBe("429 Too Many Requests: retry after 1");
    for (let count = 0; count < 20; count += 1) {
      await ok(sim, "sendMessage", card(TEAM));
      sim.clock.advance(1000);
    }
    const { body, headers } = await call(sim, "sendMessage", card(TEAM));
    expect(body.parameters).toEqual({ retry_after: 40 });
    expect(headers.get("retry-after")).toBe("40");
    sim.clock.advance(40_000);
    await ok(sim, "sendMessage", card(TEAM));
  });

  test("a channel post has no from", async () => {
    const sim = await smallWorld();
    const post = await ok(sim, "sendMessage", card(NEWS));
    expect(post).not.toHaveProperty("from");
    expect(post.sender_chat.id).toBe(NEWS);
  });
});

describe("the wire", () => {
  test("an unknown method gets 404, a wrong token 401, another path 404", async () => {
    const sim = await smallWorld();
    expect(await refusal(sim, "sendPhoto", { chat_id: ANN })).toBe("404 Not Found: method not found");
    const wrong = await fetch(`${sim.url}/bot1:wrong/getMe`);
    expect([wrong.status, await wrong.json()]).toEqual([
      401,
      { ok: false, error_code: 401, description: "Unauthorized" },
    ]);
    expect((await fetch(`${sim.url}/other`)).status).toBe(404);
    expect((await fetch(`${sim.url}//`)).status).toBeLessThan(500);
  });

  test("method names have no case; GET, JSON, urlencoded and multipart mean the same", async () => {
    const sim = await smallWorld();
    const url = `${sim.url}/bot${sim.token}/SENDmessage`;
    const form = new FormData();
    form.set("chat_id", String(ANN));
    form.set("text", "four");
    await fetch(`${url}?chat_id=${ANN}&text=one`);
    await fetch(url, { method: "POST", body: new URLSearchParams({ chat_id: String(ANN), text: "two" }) });
    await ok(sim, "sendmessage", { chat_id: ANN, text: "three" });
    await fetch(url, { method: "POST", body: form });
    const state = sim.ledger.state();
    expect(botMessages(state, ANN).map((message) => message.text)).toEqual(["one", "two", "three", "four"]);
    expect(state.requests.map(({ http, encoding }) => `${http} ${encoding}`)).toEqual([
      "GET query",
      "POST urlencoded",
      "POST json",
      "POST multipart",
    ]);
  });

  test("broken bodies are refused with 400", async () => {
    const sim = await smallWorld();
    const post = async (type: string, body: string) =>
      (await fetch(`${sim.url}/bot${sim.token}/getMe`, { method: "POST", headers: { "content-type": type }, body }))
        .status;
    expect(await post("application/json", "{")).toBe(400);
    expect(await post("application/json", "[1]")).toBe(400);
    expect(await post("multipart/form-data; boundary=x", "--x\r\nnonsense")).toBe(400);
    expect(await post("text/plain", "x")).toBe(400);
  });

  test("the token is nowhere in what the stand-in remembers", async () => {
    const sim = await smallWorld();
    await ok(sim, "sendMessage", card());
    await fetch(`${sim.url}/bot${sim.token}x/getMe`);
    expect(JSON.stringify(sim.ledger.state())).not.toContain(sim.token.split(":")[1]);
  });

  test("it listens on 127.0.0.1 only", async () => {
    const sim = await smallWorld();
    await expect(fetch(sim.url.replace("127.0.0.1", "[::1]"))).rejects.toThrow("fetch failed");
    await expect(fetch(sim.url.replace("127.0.0.1", "127.0.0.2"))).rejects.toThrow("fetch failed");
  });
});
