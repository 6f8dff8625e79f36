// The Telegram adapter over time: tokens that come and go, other pollers, restarts of ids, lost toasts.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LoopTimes } from "../../../adapters/channel.ts";
import { connectTelegram } from "../../../adapters/telegram/connect.ts";
import { requestsOf, startSim, type Sim } from "../../../adapters/telegram/sim/index.ts";
import type { ChannelLaunch } from "../../../src/contracts/protocol/channel.ts";
import { launchFor, loopInProcess, type FakeServer, type LoopPair } from "../fake-server.ts";

let sim: Sim;
let folder: string;
let tokenFile: string;
const pairs: LoopPair[] = [];

beforeEach(async () => {
  sim = await startSim({ pollRules: { conflictDelayMs: 0, sameOffsetHoldMs: 0, sameOffsetLimitMs: 0 } });
  sim.people.addPerson({ id: 1001, firstName: "Ann" });
  folder = mkdtempSync(join(tmpdir(), "hp-connect-"));
  tokenFile = join(folder, "token");
  writeFileSync(tokenFile, sim.token, { mode: 0o600 });
});
afterEach(async () => {
  const said = JSON.stringify(pairs.map(({ notes, server }) => [notes, server.frames]));
  for (const { server } of pairs.splice(0)) server.close();
  await sim.close();
  rmSync(folder, { recursive: true });
  // Whatever happened in a test, nobody was told the token.
  for (const form of [
    sim.token,
    encodeURIComponent(sim.token),
    Buffer.from(sim.token).toString("base64"),
    sim.token.slice(-20),
  ]) {
    expect(said).not.toContain(form);
  }
});

async function begin(changes: Partial<ChannelLaunch> = {}, times: Partial<LoopTimes> = {}): Promise<FakeServer> {
  const pair = await loopInProcess(connectTelegram, times);
  pairs.push(pair);
  const settings = { apiRoot: sim.url, pollSeconds: 50, conflictWaitMs: 20 };
  pair.server.send(launchFor({ channel: "telegram:test", settings, tokenFile, ...changes }));
  return pair.server;
}

const failed = (server: FakeServer) => server.take("health", ({ ok }) => !ok);
const healthy = (server: FakeServer) => server.take("health", ({ ok }) => ok);

describe("the token", () => {
  test("in a file that others can read is not used; the cause is told until it is corrected", async () => {
    chmodSync(tokenFile, 0o644);
    const server = await begin();
    const { error } = await failed(server);
    expect(error).toMatchObject({ code: "HP203", message: expect.stringContaining(`${tokenFile} has mode 644`) });
    expect(requestsOf(sim.ledger.state(), "getMe")).toEqual([]);
    chmodSync(tokenFile, 0o600);
    await server.take("ready");
  });

  test("that Telegram refuses is read again from its file", async () => {
    writeFileSync(tokenFile, `${sim.token.split(":")[0]}:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`);
    const server = await begin();
    expect(await failed(server)).toMatchObject({ error: { code: "HP609" } });
    writeFileSync(tokenFile, sim.token);
    await server.take("ready");
  });

  test("that is refused later ends nothing: polling goes on with the next one in the file, without a second ready", async () => {
    const server = await begin();
    await healthy(server);
    // The held poll ends first, the next is refused.
    sim.faults.add({ kind: "reject", status: 401, description: "Unauthorized", method: "getUpdates" });
    sim.people.say(1001, 1001, "one");
    server.verdict((await server.take("inbound")).updateId);
    expect(await failed(server)).toMatchObject({ error: { code: "HP609" } });
    await healthy(server);
    sim.people.say(1001, 1001, "two");
    expect(await server.take("inbound")).toMatchObject({ text: "two" });
    expect(server.count("ready")).toBe(1);
    expect(requestsOf(sim.ledger.state(), "getMe")).toHaveLength(2);
  });
});

describe("polling", () => {
  test("of another instance is told in plain words, and goes on by itself", async () => {
    const server = await begin();
    await healthy(server);
    await sim.ledger.waitFor(({ polling }) => polling);
    sim.server.otherPoller();
    expect(await failed(server)).toMatchObject({
      error: { code: "HP608", message: expect.stringContaining("Another program polls with the same bot token") },
    });
    await healthy(server);
  });

  test("fetches what waited without holding, and then says that nothing waits any more", async () => {
    sim.people.say(1001, 1001, "one");
    sim.people.say(1001, 1001, "two");
    const server = await begin();
    expect(await healthy(server)).toMatchObject({ pendingUpdates: 2 });
    for (const text of ["one", "two"]) {
      const inbound = await server.take("inbound");
      expect(inbound).toMatchObject({ text });
      server.verdict(inbound.updateId);
    }
    expect(await healthy(server)).toMatchObject({ pendingUpdates: 0 });
    await sim.ledger.waitFor(({ polling }) => polling);
    const timeouts = requestsOf(sim.ledger.state(), "getUpdates").map(({ params }) => params["timeout"]);
    expect(timeouts).toEqual(["0", "0", "50"]);
  });

  test("confirms only what has a verdict, and asks for nothing it cannot use", async () => {
    sim.people.say(1001, 1001, "one");
    const server = await begin({ cursor: 12 });
    const { updateId } = await server.take("inbound");
    const [first] = requestsOf(sim.ledger.state(), "getUpdates");
    expect(first?.params["offset"]).toBe("13");
    expect(JSON.parse(first?.params["allowed_updates"] ?? "")).toEqual(["message", "edited_message", "callback_query"]);
    expect(requestsOf(sim.ledger.state(), "getUpdates")).toHaveLength(1);
    server.verdict(updateId);
    await sim.ledger.waitFor((state) => requestsOf(state, "getUpdates").length > 1);
    expect(requestsOf(sim.ledger.state(), "getUpdates")[1]?.params["offset"]).toBe(String(updateId + 1));
  });

  test("hands on ids that begin anew below the old ones", async () => {
    const server = await begin();
    sim.people.say(1001, 1001, "before");
    const before = await server.take("inbound");
    server.verdict(before.updateId);
    await sim.ledger.waitFor((state) => state.pendingUpdates.length === 0 && state.polling);
    sim.server.jumpUpdateId(1_000);
    sim.people.say(1001, 1001, "after");
    const after = await server.take("inbound");
    expect(after).toMatchObject({ text: "after", updateId: 1_000 });
    expect(after.updateId).toBeLessThan(before.updateId);
  });

  test("that hangs is given up after its time, and begun anew", async () => {
    sim.faults.add({ kind: "hang", method: "getUpdates" });
    const settings = { apiRoot: sim.url, pollSeconds: 50, pollTimeoutMs: 100, conflictWaitMs: 20 };
    const server = await begin({ settings });
    expect(await failed(server)).toMatchObject({
      error: { code: "HP605", message: expect.stringContaining("timed out") },
    });
    await healthy(server);
  });
});

describe("around messages", () => {
  test("a toast that comes too late is no error, and one that was lost on the way is told once more", async () => {
    const server = await begin();
    sim.people.tapRaw(1001, 1001, sim.people.say(1001, 1001, "x").messageId, "h:token");
    for (const kind of ["message", "answer"]) {
      const inbound = await server.take("inbound");
      expect(inbound.kind).toBe(kind);
      if (kind === "answer") {
        sim.faults.add({ kind: "drop", when: "before", how: "rst", method: "answerCallbackQuery" });
        sim.faults.add({
          kind: "reject",
          status: 400,
          description: "Bad Request: query is too old and response timeout expired or query ID is invalid",
          method: "answerCallbackQuery",
        });
      }
      server.verdict(inbound.updateId, kind === "answer" ? { code: "notOnList" } : null);
    }
    await sim.ledger.waitFor(
      (state) => requestsOf(state, "answerCallbackQuery").filter(({ verdict }) => verdict).length === 2,
    );
    sim.people.say(1001, 1001, "next");
    expect(await server.take("inbound")).toMatchObject({ text: "next" });
    expect(pairs[0]?.notes.filter((note) => note.includes("too old"))).toEqual([]);
  });

  test("an update that is to be met with silence is not answered at all", async () => {
    const server = await begin();
    sim.people.tapRaw(1001, 1001, sim.people.say(1001, 1001, "x").messageId, "h:token");
    server.verdict((await server.take("inbound")).updateId);
    server.verdict((await server.take("inbound")).updateId, null);
    await healthy(server);
    sim.people.say(1001, 1001, "next");
    await server.take("inbound");
    expect(requestsOf(sim.ledger.state(), "answerCallbackQuery")).toEqual([]);
  });

  test("commands are registered in each place; a place that is not open does no harm", async () => {
    await begin({ commands: ["problems", "help"], places: ["-77", "1001"] });
    const { commands, requests } = await sim.ledger.waitFor((state) => state.commands.length === 1 && state);
    expect(commands).toMatchObject([
      {
        scope: { type: "chat", chat_id: "1001" },
        commands: [
          { command: "problems", description: "What needs somebody" },
          { command: "help", description: "What you can ask" },
        ],
      },
    ]);
    const asked = requests.filter(({ method }) => method === "setMyCommands");
    expect(asked.map(({ verdict }) => verdict?.description)).toEqual(["Bad Request: chat not found", undefined]);
  });
});

test("the menu of a chat is in its language", async () => {
  sim.people.addChat({ id: -5, type: "group", title: "Team" });
  await begin({ commands: ["problems"], places: ["1001", "-5"], languages: { "-5": "de" } });
  const { commands } = await sim.ledger.waitFor((state) => state.commands.length === 2 && state);
  expect(commands.map(({ commands: [first], scope }) => [scope, first?.description])).toEqual([
    [{ type: "chat", chat_id: "1001" }, "What needs somebody"],
    [{ type: "chat", chat_id: "-5" }, expect.not.stringContaining("What")],
  ]);
});

test("wrong settings are told and not guessed at", async () => {
  const server = await begin({ settings: { apiRoot: "no address" } });
  expect(await failed(server)).toMatchObject({ error: { code: "HP201", message: expect.stringContaining("apiRoot") } });
});
