/** Decisions in Pi's terminal beside Telegram: what one answers, the other shows. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startStandIn } from "../../harness/index.ts";
import { HeldModel } from "../stages/held-model.ts";
import { hasTmux, Screen } from "../sessions/tmux.ts";
import { inWorld, type WorldOptions } from "../sessions/world.ts";
import { obliging } from "./sessions.ts";
import type { Case } from "./case.ts";
import { Scope } from "../../harness/index.ts";

const START = 'CALL {"action":"start","workflow":"deploy"}';
const both: Pick<WorldOptions, "audiences"> = { audiences: { operators: ["pi", "telegram:default/1001"] } };

const held = new HeldModel((request) => (/summar/i.test(request.last) ? { text: "They spoke." } : obliging(request)));

const cases: readonly Case[] = [
  {
    name: "what a person types in Pi's terminal settles the card in Telegram; what is tapped there settles Pi's card and closes its dialog",
    model: obliging,
    run: async (stage) => {
      const outer = new Scope();
      try {
        const standIn = await startStandIn(outer);
        await inWorld(stage, { ...both, profiles: { default: standIn.profile() } }, async ({ client, home, scope }) => {
          const phone = standIn.phone();
          const screen = new Screen(scope, { stage, home });
          await screen.shows(/mock-1/);
          screen.type(START);
          const typed = await phone.waitForCard("Approve the deployment");
          const [, first = ""] = await screen.shows(/\/workflow answer ([0-9a-f]{6}) approve \| replan/);
          // The card may be there a moment before the view that the command asks.
          await screen.shows(new RegExp(`Waits for you: Approve the deployment \\(${first}`));
          screen.type(`/workflow answer ${first} replan use the blue pool`);
          await screen.shows(/Got it: replan/);
          const settled = await phone.waitForSettled(typed.id);
          assert.match(settled.text, /Replanned by Ann, .*in Pi \(local\)/);
          const tapped = await phone.waitForCard("Approve the deployment", typed.id);
          await screen.shows(new RegExp(`/workflow answer (?!${first})[0-9a-f]{6} approve`));
          await screen.shows(new RegExp(`Waits for you: Approve the deployment \\((?!${first})`));
          // The dialog is open when the answer comes from elsewhere.
          screen.type("/workflow answer");
          await screen.shows(/Not now/);
          await phone.tap(tapped.id, "Approve");
          await screen.shows(/Approved by Ann, .*in Telegram/);
          await screen.shows(/deploy · run \w+ completed after/);
          const tail = (): string => screen.read().split("\n").slice(-30).join("\n");
          // It closes with the next view, which may come a moment after the message.
          for (let looks = 0; looks < 100 && tail().includes("Not now"); looks += 1)
            await new Promise((resolve) => setTimeout(resolve, 100));
          assert.doesNotMatch(tail(), /Not now/);
          const { decisions } = await client.call("decision.list", { all: true });
          assert.deepEqual(decisions.map(({ resolution }) => [resolution?.choice, resolution?.assurance]).toSorted(), [
            ["approve", "remote"],
            ["replan", "local"],
          ]);
        });
      } finally {
        await outer.close();
      }
    },
  },
  {
    name: "a bot is set up with Pi's dialogs: the code comes from the phone, what is confirmed is written, and the server uses it at once",
    model: obliging,
    run: async (stage) => {
      const outer = new Scope();
      try {
        const standIn = await startStandIn(outer);
        await inWorld(stage, {}, async ({ client, home, scope }) => {
          const phone = standIn.phone();
          const tokenFile = join(home.dir, "token-given");
          writeFileSync(tokenFile, `${standIn.token}\n`, { mode: 0o600 });
          const before = readFileSync(join(home.dir, "config.json"), "utf8");
          const screen = new Screen(scope, { stage, home });
          await screen.shows(/mock-1/);
          screen.type(`/workflow-channel setup --api-root ${standIn.url}`);
          await screen.shows(/File with the bot token/);
          // Left with Escape: it ends, and may be begun again.
          screen.press("Escape");
          await screen.shows(/The configuration was not changed/);
          screen.type(`/workflow-channel setup --yes`);
          await screen.shows(/Use it as: \/workflow-channel setup/);
          // Or by its word, while nothing is asked.
          screen.type(`/workflow-channel setup --api-root ${standIn.url} --token-file ${tokenFile}`);
          await screen.shows(/this code to the bot/);
          screen.type("/workflow-channel setup stop");
          await screen.shows(/The set-up was ended/);
          screen.type(`/workflow-channel setup --api-root ${standIn.url} --person ann --audience phones`);
          await screen.shows(/File with the bot token/);
          screen.type(tokenFile);
          const [, code = ""] = await screen.shows(/this code to the bot: (\S+)/);
          // Pi can be used while the code is waited for.
          screen.type("/workflow-channel status");
          await screen.shows(/pi: ready as Pi/);
          assert.ok(screen.read().includes(code), "the code is shown no longer");
          await phone.say(code);
          await screen.shows(/Is that right\?/);
          assert.equal(readFileSync(join(home.dir, "config.json"), "utf8"), before);
          screen.press("Down", "Enter");
          await screen.shows(/The running server uses it already/);
          assert.match((await phone.waitForMessage("Holdpoint is connected")).text, /phones/);
          const { channels } = await client.call("channel.status", {});
          assert.ok(channels.some(({ channel }) => channel === "telegram:default"));
          assert.ok(!screen.read().includes(standIn.token));
        });
      } finally {
        await outer.close();
      }
    },
  },
  {
    name: "what a person types while Pi compacts the conversation is served after it, and counts once",
    model: held.script,
    run: (stage) =>
      inWorld(stage, {}, async ({ client, home, scope }) => {
        const screen = new Screen(scope, { stage, home });
        await screen.shows(/mock-1/);
        screen.type("hello");
        await screen.shows(/0\.\d%\/128k/);
        screen.type(START);
        const [, fingerprint = ""] = await screen.shows(/\/workflow answer ([0-9a-f]{6}) approve \| replan/);
        await screen.shows(new RegExp(`Waits for you: Approve the deployment \\(${fingerprint}`));
        held.hold(({ last }) => /summar/i.test(last));
        screen.type("/compact");
        await held.held;
        screen.type("/workflow status");
        screen.type(`/workflow answer ${fingerprint} approve`);
        // Pi keeps what is typed until it has finished.
        await screen.shows(/Queued message[\s\S]*\/workflow status[\s\S]*\/workflow answer/);
        held.letGo();
        await screen.shows(/deploy · run \w+ completed after/);
        const { decisions } = await client.call("decision.list", { all: true });
        assert.deepEqual(
          decisions.map(({ resolution }) => resolution?.choice),
          ["approve"],
        );
      }),
  },
];

/** None where there is no tmux to show a terminal. */
export const terminal: readonly Case[] = hasTmux ? cases : [];
