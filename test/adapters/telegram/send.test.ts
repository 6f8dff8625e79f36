// One part of an attempt: what goes to Telegram, and what its answers mean for the message and its place.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BotClient } from "../../../adapters/telegram/call.ts";
import { sendPart, type SendClients } from "../../../adapters/telegram/send.ts";
import { botMessages, requestsOf, startSim, type Sim } from "../../../adapters/telegram/sim/index.ts";
import type { MessageContent, Perform } from "../../../src/contracts/protocol/channel.ts";
import { exampleCard } from "../../decision/examples.ts";

const FORUM = -1001234567890;
let sim: Sim;
let clients: SendClients;
const closers: (() => void)[] = [];

beforeEach(async () => {
  sim = await startSim();
  sim.people.addPerson({ id: 1001, firstName: "Ann" });
  sim.people.addChat({
    id: FORUM,
    type: "supergroup",
    title: "Ops",
    forum: true,
    topics: [{ id: 7, name: "Deploys" }],
  });
  clients = clientsFor(sim.url);
});
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await sim.close();
});

function clientsFor(apiRoot: string, token = sim.token): SendClients {
  const options = { apiRoot, timeoutMs: 20_000 };
  const made = {
    poster: new BotClient(token, { ...options, reuse: false }),
    caller: new BotClient(token, { ...options, reuse: true }),
  };
  closers.push(
    () => made.poster.close(),
    () => made.caller.close(),
  );
  return made;
}

const card = exampleCard();
const TOKENS = { approve: "aaaa", replan: "bbbb", stop: "cccc" };
const pending: MessageContent = { kind: "card", card, state: { status: { kind: "pending" } }, tokens: TOKENS };
const closed: MessageContent = {
  kind: "card",
  card,
  state: { status: { kind: "chosen", provenance: "human", label: "Approve", by: "Ann", at: card.createdAt } },
};
const prompt: MessageContent = {
  kind: "reply",
  reply: { code: "promptText", label: "Replan", prompt: "What should change?", minLength: 1, maxLength: 200 },
  timeZone: "Europe/Berlin",
  prompt: { placeholder: "What should change?" },
};

function perform(changes: Partial<Perform> = {}): Perform {
  return {
    type: "perform",
    effectId: "e-1",
    attempt: 1,
    op: "post",
    destination: "telegram:test/1001",
    content: pending,
    fromPart: 1,
    part: null,
    reference: null,
    replyTo: null,
    ...changes,
  };
}

async function posted(changes: Partial<Perform> = {}): Promise<string> {
  const result = await sendPart(clients, perform(changes), 1);
  expect(result.outcome).toBe("accepted");
  return result.reference ?? "";
}

const edit = (reference: string, content: MessageContent = closed) =>
  sendPart(clients, perform({ op: "edit", content, reference, part: 1 }), 1);

describe("a post", () => {
  test("shows the card with explicit entities, no parse mode, no link preview, and a token behind each button", async () => {
    const reference = await posted();
    const [message] = botMessages(sim.ledger.state(), 1001);
    expect(reference).toBe(`1001:${message?.id}`);
    expect(message?.buttons.flat().map(({ data, text }) => [text, data])).toEqual([
      ["Approve", "h:aaaa"],
      ["Replan\u2026", "h:bbbb"],
      ["Stop", "h:cccc"],
    ]);
    expect(message?.entities.map(({ type }) => type)).toEqual(expect.arrayContaining(["bold", "date_time"]));
    const [request] = requestsOf(sim.ledger.state(), "sendMessage");
    expect(request?.params).not.toHaveProperty("parse_mode");
    expect(JSON.parse(request?.params["link_preview_options"] ?? "")).toEqual({ is_disabled: true });
  });

  test("goes to its topic, and to General without one", async () => {
    await posted({ destination: `telegram:test/${FORUM}/7` });
    await posted({ destination: `telegram:test/${FORUM}` });
    await posted({ destination: `telegram:test/${FORUM}/1` });
    const threads = botMessages(sim.ledger.state(), FORUM).map(({ threadId }) => threadId);
    expect(threads).toEqual([7, undefined, undefined]);
    const [, general] = requestsOf(sim.ledger.state(), "sendMessage");
    expect(general?.params).not.toHaveProperty("message_thread_id");
  });

  test("answers the message it belongs to, and arrives without it when that is gone or elsewhere", async () => {
    const reference = await posted();
    await posted({ content: prompt, replyTo: reference });
    await posted({ content: prompt, replyTo: "1001:99999" });
    await posted({ content: prompt, replyTo: `${FORUM}:1` });
    const [first, ...others] = botMessages(sim.ledger.state(), 1001);
    expect(others.map(({ replyTo }) => replyTo)).toEqual([first?.id, undefined, undefined]);
  });

  test("of a prompt opens a reply with a hint in it", async () => {
    await posted({ content: prompt });
    expect(botMessages(sim.ledger.state(), 1001)[0]).toMatchObject({
      forceReply: "only",
      placeholder: "What should change?",
    });
  });

  test.each([
    ["is blocked", () => sim.people.setChatState(1001, "blocked"), { placeDead: true }],
    ["belongs to a deactivated account", () => sim.people.setChatState(1001, "deactivated"), { placeDead: true }],
    ["was never started", () => sim.people.setChatState(1001, "neverStarted"), { placeDead: true }],
  ])("to a chat that %s is refused, and the place is dead", async (_name, arrange, expected) => {
    arrange();
    expect(await sendPart(clients, perform(), 1)).toMatchObject({ outcome: "rejected", ...expected });
  });

  test("to a group that moved says where it is now; a topic that is gone is refused, and the chat is not dead", async () => {
    sim.people.deleteTopic(FORUM, 7);
    const gone = await sendPart(clients, perform({ destination: `telegram:test/${FORUM}/7` }), 1);
    expect(gone).toMatchObject({
      outcome: "rejected",
      error: { message: expect.stringContaining("thread not found") },
    });
    expect(gone).not.toHaveProperty("placeDead");
    sim.people.addChat({ id: -5, type: "group", title: "Old" });
    sim.people.setChatState(-5, "migrated", FORUM);
    const moved = await sendPart(clients, perform({ destination: "telegram:test/-5" }), 1);
    expect(moved).toMatchObject({ outcome: "rejected", movedTo: String(FORUM) });
  });

  test("to a chat that nobody knows is refused as dead", async () => {
    const result = await sendPart(clients, perform({ destination: "telegram:test/-77" }), 1);
    expect(result).toMatchObject({ outcome: "rejected", placeDead: true });
  });

  test("too many is refused with the time to wait", async () => {
    sim.faults.add({ kind: "tooMany", retryAfter: 7, method: "sendMessage" });
    expect(await sendPart(clients, perform(), 1)).toMatchObject({ outcome: "rejected", retryAfterMs: 7_000 });
  });

  test("with a refused token is to be repeated when the token may be good again", async () => {
    const wrong = clientsFor(sim.url, "1:wrong");
    expect(await sendPart(wrong, perform(), 1)).toMatchObject({
      outcome: "rejected",
      retryAfterMs: 60_000,
      error: { code: "HP609" },
    });
  });

  test("that cannot be built is refused without a call", async () => {
    const bad: Partial<Perform>[] = [
      { content: null },
      { content: { ...pending, tokens: { approve: "aaaa" } } },
      { content: { ...pending, tokens: { ...TOKENS, stop: "x".repeat(63) } } },
      { destination: "telegram:test/@ops" },
    ];
    for (const changes of bad)
      expect(await sendPart(clients, perform(changes), 1)).toMatchObject({ outcome: "rejected" });
    expect(await sendPart(clients, perform(), 2)).toMatchObject({ outcome: "rejected" });
    expect(requestsOf(sim.ledger.state(), "sendMessage")).toEqual([]);
  });

  test.each([
    ["is taken back", true, "rejected"],
    ["that cannot be taken back stays in doubt", false, "ambiguous"],
  ])("that fell out of its topic %s", async (_name, removable, outcome) => {
    // The stand-in refuses a topic that is gone; some servers let the message fall into the main chat instead.
    const calls: string[] = [];
    const server = createServer((request, response) => {
      const method = request.url?.split("/").at(-1) ?? "";
      calls.push(method);
      request.resume();
      const result = method === "sendMessage" ? { message_id: 5, date: 1, chat: { id: FORUM } } : removable;
      response.setHeader("content-type", "application/json").end(JSON.stringify({ ok: true, result }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(() => void server.close());
    const other = clientsFor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const result = await sendPart(other, perform({ destination: `telegram:test/${FORUM}/7` }), 1);
    expect(result).toMatchObject({
      outcome,
      error: { message: expect.stringContaining(`instead of chat ${FORUM}, topic 7`) },
    });
    expect(calls).toEqual(["sendMessage", "deleteMessage"]);
  });
});

describe("an edit", () => {
  test("of a closed card shows the verdict and takes the buttons away", async () => {
    const reference = await posted();
    expect(await edit(reference)).toEqual({ outcome: "accepted" });
    const [message] = botMessages(sim.ledger.state(), 1001);
    expect(message).toMatchObject({ buttons: [], text: expect.stringContaining("Approved by Ann") });
    const [request] = requestsOf(sim.ledger.state(), "editMessageText");
    expect(request?.params).not.toHaveProperty("reply_markup");
  });

  test("that changes nothing is done", async () => {
    const reference = await posted();
    await edit(reference);
    expect(await edit(reference)).toEqual({ outcome: "accepted" });
    expect(requestsOf(sim.ledger.state(), "editMessageText").map(({ verdict }) => verdict?.status)).toEqual([200, 400]);
  });

  test("of a message that is gone, or that can no longer be changed, says so", async () => {
    const reference = await posted();
    sim.people.remove(1001, Number(reference.split(":")[1]));
    expect(await edit(reference)).toMatchObject({ outcome: "rejected", gone: true });
    expect(await edit(await posted({ content: prompt }))).toMatchObject({ outcome: "rejected", gone: true });
  });

  test("whose answer is lost is in doubt, and is proved by the next", async () => {
    const reference = await posted();
    sim.faults.add({ kind: "drop", when: "after", how: "fin", method: "editMessageText" });
    expect(await edit(reference)).toMatchObject({ outcome: "ambiguous" });
    expect(await edit(reference)).toEqual({ outcome: "accepted" });
  });
});

describe("a deletion", () => {
  const remove = (reference: string) => sendPart(clients, perform({ op: "delete", content: null, reference }), 1);

  test("removes the message, and is done as well when it was gone already", async () => {
    const reference = await posted();
    expect(await remove(reference)).toEqual({ outcome: "accepted" });
    expect(botMessages(sim.ledger.state(), 1001)).toEqual([]);
    expect(await remove(reference)).toEqual({ outcome: "accepted", gone: true });
  });

  test("that comes too late is refused", async () => {
    const reference = await posted();
    sim.clock.advance(49 * 3_600_000);
    expect(await remove(reference)).toMatchObject({ outcome: "rejected" });
  });
});
