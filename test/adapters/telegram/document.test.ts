// T18: the document of a card, from the frame to what lies in the chat.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BotClient } from "../../../adapters/telegram/call.ts";
import { partCount } from "../../../adapters/telegram/message.ts";
import { sendPart, type SendClients } from "../../../adapters/telegram/send.ts";
import { botMessages, requestsOf, startSim, type Sim } from "../../../adapters/telegram/sim/index.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import { exampleCard } from "../../decision/examples.ts";

let sim: Sim;
let clients: SendClients;

beforeEach(async () => {
  sim = await startSim();
  sim.people.addPerson({ id: 1001, firstName: "Ann" });
  const options = { apiRoot: sim.url, timeoutMs: 20_000 };
  clients = {
    poster: new BotClient(sim.token, { ...options, reuse: false }),
    caller: new BotClient(sim.token, { ...options, reuse: true }),
  };
});
afterEach(async () => {
  clients.poster.close();
  clients.caller.close();
  await sim.close();
});

/** A log of 40 KB whose end is told from its beginning, with a line that would turn around what follows. */
const LOG = [
  ...Array.from({ length: 700 }, (_, at) => `line ${at}: a shard of the index was copied to its place`),
  "\u202eend",
];
const example = exampleCard();
const card = {
  ...example,
  presentation: {
    ...example.presentation,
    blocks: [0, 1, 2].map((at) => ({
      kind: "preformatted" as const,
      text: LOG.slice(at * 250, (at + 1) * 250).join("\n"),
    })),
  },
};

function perform(changes: Partial<Perform>): Perform {
  const state = { status: { kind: "pending" }, notes: { document: "sent" } } as const;
  return {
    type: "perform",
    effectId: "e-1",
    attempt: 1,
    op: "document",
    destination: "telegram:test/1001",
    content: { kind: "card", card, state },
    fromPart: 1,
    part: null,
    reference: null,
    replyTo: null,
    ...changes,
  };
}

describe("a document", () => {
  test("is one file with everything that the card says, inert, under the name that the card names", async () => {
    const frame = perform({ protect: true });
    expect(partCount(frame)).toBe(1);
    const sent = await sendPart(clients, frame, 1);
    const [message] = botMessages(sim.ledger.state(), 1001);
    expect(sent).toEqual({ outcome: "accepted", reference: `1001:${message?.id}` });
    expect(message).toMatchObject({ protected: true, buttons: [] });
    expect(message?.text).toBe(`${card.title} \u00b7 full text \u00b7 ${card.fingerprint}`);
    expect(message?.document?.fileName).toBe(`${card.fingerprint}.txt`);
    const text = message?.document?.text ?? "";
    for (const line of LOG.slice(0, -1)) expect(text).toContain(line);
    expect(text).toContain("\u27e8U+202E\u27e9end");
    expect(text).not.toContain("\u202e");
  });

  test("leaves one message as its card: the beginning, and where the rest is", async () => {
    const tokens = { approve: "a", replan: "b", stop: "c" };
    for (const [document, line] of [
      ["sent", `The full text is in the document ${card.fingerprint}.txt in this chat.`],
      ["unconfirmed", "but Telegram did not confirm it. Read it on the server"],
      [
        "failed",
        `The full text could not be sent as a document. Read it on the server: holdpoint decisions ${card.fingerprint}`,
      ],
    ] as const) {
      const content = {
        kind: "card",
        card,
        tokens,
        state: { status: { kind: "pending" }, notes: { document } },
      } as const;
      const frame = perform({ op: "post", content });
      expect(partCount(frame)).toBe(1);
      expect(await sendPart(clients, frame, 1)).toMatchObject({ outcome: "accepted" });
      const message = botMessages(sim.ledger.state(), 1001).at(-1);
      expect(message?.text).toContain(line);
      expect(message?.text).toContain(card.presentation.summary);
      expect(message?.text.length).toBeLessThanOrEqual(4_096);
      expect(message?.buttons.flat()).toHaveLength(3);
    }
  });

  test.each([
    ["is told to wait", { kind: "tooMany", retryAfter: 7 }, { outcome: "rejected", retryAfterMs: 7_000 }, 0],
    [
      "is refused",
      { kind: "reject", status: 400, description: "Bad Request: file is too big" },
      { outcome: "rejected" },
      0,
    ],
    ["arrives unconfirmed", { kind: "drop", when: "after", how: "rst" }, { outcome: "ambiguous" }, 1],
    ["meets a failing service", { kind: "serverError", status: 500, when: "after" }, { outcome: "ambiguous" }, 1],
  ] as const)("that %s is called once and repeated by nobody here", async (_name, fault, expected, copies) => {
    sim.faults.add({ ...fault, method: "sendDocument" });
    expect(await sendPart(clients, perform({}), 1)).toMatchObject(expected);
    expect(requestsOf(sim.ledger.state(), "sendDocument")).toHaveLength(1);
    expect(botMessages(sim.ledger.state(), 1001)).toHaveLength(copies);
  });

  test("to a service that is not there is not sent", async () => {
    await sim.server.down();
    expect(await sendPart(clients, perform({}), 1)).toMatchObject({ outcome: "notSent" });
  });
});
