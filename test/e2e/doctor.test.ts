// What `holdpoint doctor` finds out about a bot, the clock and the database, with and without a server; it changes nothing.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { closeSync, openSync, writeSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";

import type { SimOptions } from "../../adapters/telegram/sim/types.ts";
import {
  client,
  makeHome,
  runCli,
  Scope,
  startServer,
  startStandIn,
  type StandIn,
  type TestHome,
} from "../harness/index.ts";

interface Check {
  readonly name: string;
  readonly state: string;
  readonly found: string;
  readonly remedy: string | null;
}

const TEAM = -300;
const GONE = -400;
const WORLD: SimOptions = {
  chats: [
    { id: TEAM, type: "group", title: "Team" },
    { id: -100_300, type: "supergroup", title: "Team" },
  ],
};

let scope: Scope;
let standIn: StandIn;
let home: TestHome;
beforeEach(async () => {
  scope = new Scope();
  standIn = await startStandIn(scope, WORLD);
  home = makeHome(scope, { profiles: { default: standIn.profile() } });
});
afterEach(() => scope.close());

async function doctor(): Promise<{ code: number | null; checks: Check[]; text: string }> {
  const { code, stderr, stdout } = await runCli(scope, ["--home", home.dir, "doctor", "--json"]);
  const { result } = JSON.parse(stdout) as { result: { checks: Check[] } };
  expect(stdout + stderr).not.toContain(standIn.token);
  return { code, checks: result.checks, text: stdout };
}

function named(checks: readonly Check[], name: string): Check[] {
  return checks.filter((check) => check.name === name);
}

test("a good bot without a server: token, clock, chats, nobody else polls; what waits is left where it is", async () => {
  const { updateId } = await standIn.phone().say("for the server");
  const { checks, code } = await doctor();
  expect(code).toBe(0);
  expect(named(checks, "Token file")).toMatchObject([{ state: "ok" }]);
  expect(named(checks, "Bot")).toMatchObject([{ state: "ok", found: expect.stringContaining("privacy mode on") }]);
  expect(named(checks, "Clock")).toMatchObject([{ state: "ok" }]);
  expect(named(checks, "Updates")).toMatchObject([
    { state: "ok", found: expect.stringContaining("1 waiting for the server") },
  ]);
  expect(named(checks, "Chat")).toMatchObject([
    { state: "ok", found: expect.stringContaining("telegram:default/1001") },
  ]);
  const state = await standIn.control.state();
  expect(state.pendingUpdates.map((update) => update.updateId)).toEqual([updateId]);
  expect(state.chats.flatMap(({ messages }) => messages.filter(({ from }) => from === "bot"))).toEqual([]);
});

test("another program that polls is found by its 409, with advice", async () => {
  await standIn.control.faults.add({ kind: "conflict", method: "getUpdates", times: "always" });
  const { checks, code } = await doctor();
  expect(code).not.toBe(0);
  expect(named(checks, "Updates")).toMatchObject([
    {
      state: "wrong",
      found: expect.stringContaining("Another program polls"),
      remedy: expect.stringContaining("bot of its own"),
    },
  ]);
});

test("beside a running server nothing is polled: it is asked how its polls go", async () => {
  await startServer(scope, home);
  await standIn.waitFor((state) => state.polling, "the server's poll");
  const polls = async (): Promise<number> =>
    (await standIn.control.state()).requests.filter(({ method }) => method.toLowerCase() === "getupdates").length;
  const before = await polls();
  const { checks, code } = await doctor();
  expect(code).toBe(0);
  expect(await polls()).toBe(before);
  expect(named(checks, "Updates")).toMatchObject([
    { state: "ok", found: expect.stringContaining("the server receives them") },
  ]);
  expect(named(checks, "Polling")).toMatchObject([{ state: "ok" }]);
  expect(named(checks, "Database")).toMatchObject([{ state: "ok", found: expect.stringContaining("is sound") }]);
});

test("a refused token, a service that cannot be reached, a webhook: each is told with what to do", async () => {
  const fault = await standIn.control.faults.add({
    kind: "reject",
    status: 401,
    description: "Unauthorized",
    times: "always",
  });
  expect(named((await doctor()).checks, "Bot")).toMatchObject([
    { state: "wrong", found: expect.stringContaining("does not accept the bot token") },
  ]);
  await standIn.control.faults.remove(fault);
  await standIn.control.faults.add({
    kind: "serverError",
    status: 502,
    when: "before",
    body: "html",
    method: "getMe",
    times: 1,
  });
  expect(named((await doctor()).checks, "Bot")).toMatchObject([
    { state: "wrong", found: expect.stringContaining("did not answer properly") },
  ]);
  const url = `${standIn.url}/bot${standIn.token}/setWebhook?url=https://example.com/hook`;
  expect((await fetch(url)).status).toBe(200);
  expect(named((await doctor()).checks, "Updates")).toMatchObject([
    { state: "wrong", found: expect.stringContaining("webhook"), remedy: expect.stringContaining("deleteWebhook") },
  ]);
});

test("chats that the bot cannot write to, and a group that became a supergroup with its new id", async () => {
  home = makeHome(scope, {
    profiles: { default: standIn.profile() },
    audiences: {
      operators: [`telegram:default/${TEAM}`, `telegram:default/${GONE}`, "telegram:default/1001", "terminal"],
    },
  });
  await standIn.control.people.setChatState(TEAM, "migrated", -100_300);
  const { checks, code } = await doctor();
  expect(code).not.toBe(0);
  expect(named(checks, "Chat")).toMatchObject([
    { state: "wrong", found: expect.stringContaining("its id is -100300 now") },
    { state: "wrong", found: expect.stringContaining("does not know this chat") },
    { state: "ok" },
  ]);
});

test("a clock that is minutes off is wrong, and says in which direction", async () => {
  // The stand-in in front of which the time is ten minutes later.
  const proxy = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      let body = "";
      for await (const piece of request) body += String(piece);
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${standIn.url}${request.url}`, { method: "POST", headers, body });
      response.writeHead(answer.status, { date: new Date(Date.now() + 600_000).toUTCString() });
      response.end(await answer.text());
    };
    void pass();
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  scope.add(() => new Promise<void>((resolve) => void proxy.close(() => resolve())));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  home = makeHome(scope, { profiles: { default: { ...standIn.profile(), url } } });
  expect(named((await doctor()).checks, "Clock")).toMatchObject([
    {
      state: "wrong",
      found: expect.stringMatching(/(599|600) s behind Telegram's/),
      remedy: expect.stringContaining("time"),
    },
  ]);
});

test("a damaged database is found, and left as it is", async () => {
  const server = await startServer(scope, home);
  await (await client(scope, home)).call("run.list", { limit: 1, before: null });
  await server.stop();
  // The content of a page in the middle.
  const file = openSync(home.database, "r+");
  writeSync(file, Buffer.alloc(2_048, 0x5a), 0, 2_048, 4_096 * 3);
  closeSync(file);
  const { checks, code } = await doctor();
  expect(code).not.toBe(0);
  expect(named(checks, "Database")).toMatchObject([{ state: "wrong" }]);
});
