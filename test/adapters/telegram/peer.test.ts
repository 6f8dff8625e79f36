// The happy paths of the real adapter against a Bot API that somebody else wrote, over HTTP.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { connectTelegram } from "../../../adapters/telegram/connect.ts";
import type { MessageContent, Perform } from "../../../src/contracts/protocol/channel.ts";
import { exampleCard } from "../../decision/examples.ts";
import { OtherBotApi, type PeerMessage } from "../../peer/other-bot-api.ts";
import { launchFor, loopInProcess, type FakeServer } from "../fake-server.ts";

let peer: OtherBotApi;
let server: FakeServer;
let folder: string;

beforeEach(async () => {
  peer = await OtherBotApi.open();
  folder = mkdtempSync(join(tmpdir(), "hp-peer-"));
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, peer.token, { mode: 0o600 });
  ({ server } = await loopInProcess(connectTelegram));
  const settings = { apiRoot: peer.url, pollSeconds: 20 };
  server.send(launchFor({ channel: "telegram:test", settings, tokenFile, commands: ["status"], places: ["1001"] }));
  await server.take("ready");
});
afterEach(async () => {
  server.close();
  await peer.close();
  rmSync(folder, { recursive: true });
});

const card = exampleCard();
const tokens = { approve: "aaaa", replan: "bbbb", stop: "cccc" };
const pending: MessageContent = { kind: "card", card, state: { status: { kind: "pending" } }, tokens };

function perform(effectId: string, changes: Partial<Perform> = {}): Perform {
  return {
    type: "perform",
    effectId,
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

/** The card in Ann's chat, and what the server calls it. */
async function shown(): Promise<{ message: PeerMessage; reference: string }> {
  const { outcome, parts } = await server.see(perform("e-1"));
  expect(outcome).toMatchObject({ outcome: "accepted" });
  const message = peer.messages().at(-1);
  if (message === undefined) throw new Error("nothing is shown");
  expect(parts.map(({ reference }) => reference)).toEqual([`1001:${message.message_id}`]);
  return { message, reference: `1001:${message.message_id}` };
}

describe("with a Bot API of another author", () => {
  test("the bot knows who it is, and registers its commands", async () => {
    expect(server.frames.find(({ type }) => type === "ready")).toMatchObject({
      account: { name: "@holdpoint_peer_bot" },
    });
    await peer.called("setMyCommands");
  });

  test("a card is shown once with marks and buttons, a tap comes back with its token, and its toast is told", async () => {
    const { message, reference } = await shown();
    expect(message.text?.startsWith(`\u{1F7E1} ${card.title}\n`)).toBe(true);
    expect(message.entities?.map(({ type }) => type)).toContain("date_time");
    peer.tap(message, "Approve");
    const tap = await server.take("inbound");
    expect(tap).toMatchObject({ kind: "answer", token: "aaaa", place: "1001", reference, sender: { id: "1001" } });
    server.verdict(tap.updateId, { code: "chosen", label: "Approve" });
    const id = tap.kind === "answer" ? tap.eventId : "";
    await peer.called("answerCallbackQuery");
    expect(peer.toast(id)).toBe("Approved.");
  });

  test("a card is settled in place", async () => {
    const { reference } = await shown();
    const state = {
      status: { kind: "chosen", provenance: "human", label: "Approve", by: "Ann", at: card.createdAt },
    } as const;
    const content: MessageContent = { kind: "card", card, state };
    const { outcome } = await server.see(perform("e-2", { op: "edit", content, reference, part: 1 }));
    expect(outcome).toMatchObject({ outcome: "accepted" });
    expect(peer.messages()).toHaveLength(1);
    expect(peer.messages()[0]?.text).toContain("Approved by Ann");
  });

  test("a question for text answers the card, its reply comes back exactly, and it is removed", async () => {
    const { reference } = await shown();
    const reply = {
      code: "promptText",
      label: "Replan",
      prompt: "What should change?",
      minLength: 1,
      maxLength: 99,
    } as const;
    const content: MessageContent = { kind: "reply", reply, timeZone: "UTC", prompt: { placeholder: "Replan" } };
    const { parts } = await server.see(perform("e-2", { content, replyTo: reference }));
    const asked = peer.messages().at(-1) as PeerMessage;
    expect(asked.reply_to_message?.message_id).toBe(Number(reference.split(":")[1]));
    peer.say("Use the blue  pool \u{1F600}", asked.message_id);
    const said = await server.take("inbound");
    expect(said).toMatchObject({ kind: "message", text: "Use the blue  pool \u{1F600}", replyTo: parts[0]?.reference });
    server.verdict(said.updateId);
    await server.see(perform("e-3", { op: "delete", content: null, reference: parts[0]?.reference ?? null }));
    expect(peer.messages()).toHaveLength(1);
  });

  test("commands come with what follows them, and each update once", async () => {
    peer.command("status", "now");
    const first = await server.take("inbound");
    expect(first).toMatchObject({ kind: "command", command: "status", args: "now" });
    peer.say("hello");
    server.verdict(first.updateId);
    const second = await server.take("inbound");
    expect(second).toMatchObject({ kind: "message", text: "hello" });
    server.verdict(second.updateId);
    expect(server.count("inbound")).toBe(2);
  });

  test("a document arrives as a file with its text", async () => {
    const { outcome } = await server.see(perform("e-2", { op: "document" }));
    expect(outcome).toMatchObject({ outcome: "accepted" });
    const [file] = [...peer.files.values()];
    expect(file?.name).toBe(`${card.fingerprint}.txt`);
    expect(file?.text).toContain(card.presentation.summary);
  });

  test("a chat that it does not know is a refusal", async () => {
    const { outcome } = await server.see(perform("e-2", { destination: "telegram:test/4242" }));
    expect(outcome).toMatchObject({ outcome: "rejected", placeDead: true });
  });
});
