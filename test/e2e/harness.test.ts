// The harness itself: a search that finds nothing proves something only if it finds what is there.

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";

import { parseConfig } from "../../src/contracts/config.ts";
import {
  Scope,
  client,
  leakSearch,
  liveButtons,
  logsOf,
  makeHome,
  startRun,
  startServer,
  startStandIn,
  tokenForms,
  waitForRun,
  type TestHome,
} from "../harness/index.ts";

const scope = new Scope();
afterEach(() => scope.close());

const TOKEN = "123456:AAE-x_y/z+secret";

function homeWithToken(): TestHome {
  return makeHome(scope, { profiles: { default: { url: "http://127.0.0.1:9", token: TOKEN } } });
}

test("a made home has a valid configuration with its audience, people and profile", () => {
  const home = homeWithToken();
  const config = parseConfig(JSON.stringify(home.config), "config.json");
  expect(config.audiences["operators"]?.destinations).toEqual(["telegram:default/1001"]);
  expect(config.telegramProfiles["default"]?.allowedUserIds).toEqual(["1001", "1002"]);
  expect(config.telegramProfiles["default"]?.allowedChatIds).toEqual(["1001"]);
});

describe("the search for leaks", () => {
  test("finds the token at any place of a base64 text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (before, after) => {
        const text = Buffer.from(`${before}${TOKEN}${after}`).toString("base64");
        return tokenForms(TOKEN).some(
          ({ form, bytes }) => form.startsWith("base64 ") && text.includes(bytes.toString()),
        );
      }),
    );
  });

  test("finds it raw and URL-encoded in logs and beside the database, and not in its own file", async () => {
    const home = homeWithToken();
    expect((await leakSearch(home, TOKEN)).filter(({ where }) => where.startsWith(home.dir))).toEqual([]);
    mkdirSync(join(home.dir, "logs"));
    writeFileSync(join(home.dir, "logs", "server.log"), `{"url":"/bot${encodeURIComponent(TOKEN)}/getMe"}\n`);
    appendFileSync(`${home.database}-wal`, Buffer.from(`\0\0${TOKEN}\0`));
    const found = (await leakSearch(home, TOKEN)).filter(({ where }) => where.startsWith(home.dir));
    expect(found).toEqual(
      expect.arrayContaining([
        { where: join(home.dir, "logs", "server.log"), form: "url-encoded" },
        { where: `${home.database}-wal`, form: "raw" },
      ]),
    );
    expect(logsOf(home)).toContain("getMe");
  });

  test("finds it in the environment of another process", async () => {
    const home = homeWithToken();
    const code = "process.stdout.write('up'); process.stdin.resume().on('end', () => process.exit())";
    const child = spawn(process.execPath, ["-e", code], { env: { ...process.env, LEAK: TOKEN } });
    scope.add(() => child.kill("SIGKILL"));
    await once(child.stdout, "data");
    expect(await leakSearch(home, TOKEN)).toContainEqual({ where: `/proc/${child.pid}/environ`, form: "raw" });
    child.stdin.end();
    await once(child, "exit");
  });

  test("refuses to search nothing", async () => {
    const home = { ...homeWithToken(), dir: "/nonexistent" };
    await expect(leakSearch(home, TOKEN)).rejects.toThrow("nothing to search");
  });
});

test("a phone sees the card, taps it, and is told", async () => {
  const standIn = await startStandIn(scope);
  const ann = standIn.phone();
  const api = async (method: string, body: object): Promise<{ result: unknown }> => {
    const response = await fetch(`${standIn.url}/bot${standIn.token}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { result: unknown };
  };
  const reply_markup = { inline_keyboard: [[{ text: "Approve", callback_data: "t" }]] };
  await api("sendMessage", { chat_id: ann.chat, text: "🟡 Approve it", reply_markup });
  const card = await ann.waitForCard("Approve it");
  expect(liveButtons(card).map(({ text }) => text)).toEqual(["Approve"]);
  const tapped = await ann.tap(card.id, "Approve");
  await api("answerCallbackQuery", { callback_query_id: tapped.callbackId, text: "Recorded" });
  expect(await ann.waitForToast(tapped)).toBe("Recorded");
  await api("editMessageText", { chat_id: ann.chat, message_id: card.id, text: "✅ Approve it" });
  expect((await ann.waitForSettled(card.id)).text).toBe("✅ Approve it");
});

test("a server killed while a card waits is started again, and the tap is answered once", async () => {
  const standIn = await startStandIn(scope);
  const home = makeHome(scope, { profiles: { default: standIn.profile() } });
  const first = await startServer(scope, home);
  const me = await client(scope, home);
  const run = await startRun(me, "docs/examples/deploy.workflow.ts", { version: "4.12.0" });
  const ann = standIn.phone();
  const card = await ann.waitForCard("Approve the deployment");
  expect(await first.kill()).toEqual({ code: null, signal: "SIGKILL" });
  const second = await first.restart();
  expect(second.epoch).toBeGreaterThan(first.epoch);
  const tapped = await ann.tap(card.id, "Approve");
  expect(await ann.waitForToast(tapped)).toContain("Approved");
  const view = await waitForRun(me, run.runId, ({ run: { finishedAt } }) => finishedAt !== null, "the end");
  expect(view.run.status).toBe("completed");
  expect(view.continuations).toBe(1);
  expect((await ann.waitForSettled(card.id)).text).toContain("Approved by Ann");
  expect((await ann.messages()).filter(({ text }) => text.includes("Approve the deployment"))).toHaveLength(1);
  expect(await leakSearch(home, standIn.token, me)).toEqual([]);
  expect(await second.stop()).toEqual({ code: 0, signal: null });
});

test("a server that refuses to start says why", async () => {
  const home = makeHome(scope);
  home.writeConfig({ schema: "holdpoint.config.v2" });
  await expect(startServer(scope, home)).rejects.toMatchObject({ kind: "configInvalid" });
});
