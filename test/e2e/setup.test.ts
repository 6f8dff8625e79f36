// Set-up as an operator does it: a token, a code sent from the phone, a test message, a configuration that works at once.

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import { parseConfig, type Config } from "../../src/contracts/config.ts";
import { setupDialogSchema, type SetupDialog } from "../../src/contracts/protocol/setup-dialog.ts";
import type { SimOptions } from "../../adapters/telegram/sim/types.ts";
import {
  client,
  leakSearch,
  makeHome,
  runCli,
  Scope,
  startServer,
  startStandIn,
  type CliResult,
  type StandIn,
  type TestHome,
} from "../harness/index.ts";

const TEAM = -300;
const OPS = -100_200;
const MOVED = -100_300;
const GROUPS: SimOptions = {
  chats: [
    { id: TEAM, type: "group", title: "Team" },
    { id: MOVED, type: "supergroup", title: "Team" },
    { id: OPS, type: "supergroup", title: "Ops", forum: true, topics: [{ id: 7, name: "Deploys" }] },
  ],
};

let scope: Scope;
let standIn: StandIn;
let home: TestHome;
beforeEach(async () => {
  scope = new Scope();
  standIn = await startStandIn(scope, GROUPS);
  home = makeHome(scope);
});
afterEach(() => scope.close());

interface Setup {
  readonly ended: Promise<CliResult>;
  /** The code as it is shown, and the bot's name; when the set-up waits for it. */
  readonly code: Promise<{ shown: string; bare: string }>;
}

function setup(args: readonly string[], stdin = ""): Setup {
  let give: (code: { shown: string; bare: string }) => void = () => undefined;
  const code = new Promise<{ shown: string; bare: string }>((resolve) => (give = resolve));
  const ended = runCli(scope, ["--home", home.dir, "setup", "telegram", "--api-root", standIn.url, ...args], {
    stdin,
    onOutput(stdout) {
      const shown = /this code to the bot: ([\w-]+)/.exec(stdout)?.[1];
      if (shown !== undefined && stdout.includes("Waiting for the code")) give({ shown, bare: shown.replace("-", "") });
    },
  });
  const early = ended.then((result) => Promise.reject(new Error(`it ended early: ${result.stdout}\n${result.stderr}`)));
  early.catch(() => undefined);
  const known = Promise.race([code, early]);
  known.catch(() => undefined);
  return { ended, code: known };
}

function configOf(): Config {
  return parseConfig(readFileSync(join(home.dir, "config.json"), "utf8"), "config.json");
}

function tokenFile(token = standIn.token): string {
  const path = join(home.dir, "token-given");
  writeFileSync(path, `${token}\n`, { mode: 0o600 });
  return path;
}

test("from nothing: the token is asked for unseen, only the code from the phone pairs, and the server works with the result", async () => {
  // Somebody wrote before the set-up: no code of theirs can count.
  await standIn.phone(6_666).say("hello?");
  const { code, ended } = setup([], `\n${standIn.token}\ny\n`);
  const { bare, shown } = await code;
  await standIn.phone(6_666).say("aaaa-aaaa");
  // Ann's own message, which the bot does not see there, sent on by somebody else.
  const { messageId } = await standIn.control.people.say(1_001, OPS, shown);
  await standIn.control.people.forward(6_666, OPS, messageId, 6_666);
  await standIn.phone().say(bare.toUpperCase());
  const result = await ended;
  expect(result, result.stderr).toMatchObject({ code: 0 });
  const said = result.stdout.replace(/\s+/g, " ");
  expect(said).toContain("Mallory (6666) wrote something else");
  expect(said).toContain("Mallory (6666) sent another code");
  expect(said).toContain("Mallory (6666) forwarded the code");
  expect(said).toContain("Ann, Telegram user 1001");
  expect(said).toContain("private chat with Ann (1001)");
  expect((await standIn.phone().waitForMessage("Holdpoint is connected")).text).toContain("operators");
  expect(await standIn.phone(6_666).messages()).toEqual([]);
  expect(configOf()).toMatchObject({
    people: { ann: { telegram: ["1001"] } },
    audiences: { operators: { destinations: ["telegram:default/1001"] } },
    telegramProfiles: { default: { tokenFile: join(home.dir, "telegram-token"), allowedUserIds: ["1001"] } },
  });
  for (const name of ["config.json", "telegram-token"])
    expect(statSync(join(home.dir, name)).mode & 0o777, name).toBe(0o600);
  expect(result.stdout + result.stderr).not.toContain(standIn.token);
  const own = { ...home, tokenFiles: { default: join(home.dir, "telegram-token") } };
  expect(await leakSearch(own, standIn.token)).toEqual([]);

  await startServer(scope, home);
  await standIn.waitFor((state) => state.polling, "the server's poll");
  const { channels } = await (await client(scope, home)).call("channel.status", {});
  expect(channels).toMatchObject([{ channel: "telegram:default", state: "ready" }]);
  // The code is no message for the server: nobody is helped because of it.
  expect(await standIn.phone().messages()).toHaveLength(1);
});

test("in a topic of a group by /start@bot, although the bot sees no plain messages there", async () => {
  const { code, ended } = setup(["--yes", "--token-file", tokenFile(), "--audience", "deploys"]);
  const { bare } = await code;
  const { bot } = await standIn.control.state();
  expect((await standIn.control.people.say(1_001, OPS, bare, { thread: 7 })).updateId).toBeNull();
  await standIn.control.people.say(1_001, OPS, `/start@${bot.username} ${bare}`, { thread: 7 });
  const result = await ended;
  expect(result, result.stderr).toMatchObject({ code: 0 });
  const shown = await standIn.phone(1_001, OPS).waitForMessage("Holdpoint is connected");
  expect(shown.threadId).toBe(7);
  expect(configOf()).toMatchObject({
    people: { ann: { telegram: ["1001"] } },
    audiences: { deploys: { destinations: [`telegram:default/${OPS}/7`] } },
  });
});

test("a group that becomes a supergroup on the way is written down with its new id", async () => {
  const { code, ended } = setup(["--yes", "--token-file", tokenFile()]);
  const { bare } = await code;
  const { bot } = await standIn.control.state();
  // The first test message meets a group that is gone.
  await standIn.control.faults.add({
    kind: "reject",
    status: 400,
    description: "Bad Request: group chat was upgraded to a supergroup chat",
    parameters: { migrate_to_chat_id: MOVED },
    method: "sendMessage",
    chat: TEAM,
  });
  await standIn.control.people.say(1_001, TEAM, `/start@${bot.username} ${bare}`);
  const result = await ended;
  expect(result, result.stderr).toMatchObject({ code: 0 });
  const said = result.stdout.replace(/\s+/g, " ");
  expect(said).toContain("this group gets another id when it becomes a supergroup");
  expect(said).toContain(`its id is ${MOVED} now`);
  await standIn.phone(1_001, MOVED).waitForMessage("Holdpoint is connected");
  expect(configOf()).toMatchObject({
    audiences: { operators: { destinations: [`telegram:default/${MOVED}`] } },
    telegramProfiles: { default: { allowedChatIds: [String(MOVED)] } },
  });
});

test("a bot in use: refused while its server polls; afterwards what people sent meanwhile stays for the server", async () => {
  home = makeHome(scope, { profiles: { default: standIn.profile() }, config: { retention: { runDays: 7 } } });
  const given = home.tokenFiles["default"] ?? "";
  const server = await startServer(scope, home);
  await standIn.waitFor((state) => state.polling, "the server's poll");
  const refused = await setup(["--yes", "--token-file", given]).ended;
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("holdpoint server stop");
  await server.stop();
  await standIn.waitFor((state) => !state.polling, "the end of the server's poll");

  const { updateId } = await standIn.phone().say("for the server");
  const { code, ended } = setup(["--yes", "--token-file", given]);
  await standIn.phone(1_002).say((await code).bare);
  const result = await ended;
  expect(result, result.stderr).toMatchObject({ code: 0 });
  const { pendingUpdates } = await standIn.control.state();
  expect(pendingUpdates.map((update) => update.updateId)).toContain(updateId);
  expect(configOf()).toMatchObject({
    retention: { runDays: 7 },
    audiences: { operators: { destinations: ["telegram:default/1001", "telegram:default/1002"] } },
  });
});

test("with a refused token, or with another poller, nothing is written", async () => {
  const before = readFileSync(join(home.dir, "config.json"), "utf8");
  const refused = await setup(["--yes", "--token-file", tokenFile("1:AAAAAAAAAAAAAAAAAAAAAAAAA")]).ended;
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("does not accept the bot token");
  expect(existsSync(join(home.dir, "telegram-token"))).toBe(false);

  await standIn.control.faults.add({ kind: "conflict", method: "getUpdates", times: "always" });
  const contested = await setup(["--yes", "--token-file", tokenFile()]).ended;
  expect(contested.code).not.toBe(0);
  expect(contested.stderr.replace(/\s+/g, " ")).toContain("Another program polls");
  await standIn.control.faults.clear();
  expect(readFileSync(join(home.dir, "config.json"), "utf8")).toBe(before);
});

test("for a program that shows the questions (--dialog): everything is a line of JSON, and a token is never asked", async () => {
  const frames = (output: string): SetupDialog[] =>
    output
      .split("\n")
      .slice(0, -1)
      .map((line) => setupDialogSchema.parse(JSON.parse(line)));
  const initial = readFileSync(join(home.dir, "config.json"), "utf8");
  // A path, which does not exist: in a terminal the token would be asked now.
  const missing = await setup(["--dialog"], `${join(home.dir, "nothing")}\n${standIn.token}\n`).ended;
  expect(missing.code).not.toBe(0);
  expect(frames(missing.stdout)).toEqual([
    { type: "ask", question: "File with the bot token", fallback: join(home.dir, "telegram-token") },
  ]);
  expect(missing.stderr).toContain("does not exist");
  expect(readFileSync(join(home.dir, "config.json"), "utf8")).toBe(initial);

  const { code, ended } = setup(["--dialog"], `${tokenFile()}\nyes\n`);
  await standIn.phone().say((await code).bare);
  const result = await ended;
  expect(result, result.stderr).toMatchObject({ code: 0, stderr: "" });
  const told = frames(result.stdout);
  expect(told.filter(({ type }) => type === "confirm")).toEqual([{ type: "confirm", question: "Is that right?" }]);
  expect(told.at(-1)).toMatchObject({ type: "say", text: expect.stringContaining("holdpoint server start") });
  expect(configOf()).toMatchObject({ people: { ann: { telegram: ["1001"] } } });

  // The questions are left: nothing is written.
  const before = readFileSync(join(home.dir, "config.json"), "utf8");
  const left = setup(["--dialog", "--audience", "others", "--token-file", tokenFile()]);
  await standIn.phone().say((await left.code).bare);
  expect(await left.ended).toMatchObject({ code: EXIT.interrupted.code });
  expect(readFileSync(join(home.dir, "config.json"), "utf8")).toBe(before);
});
