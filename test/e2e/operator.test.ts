// The operator chat over the stand-in: what allowed people write and press, in private and in a group.

import { existsSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { OPERATOR_COMMANDS } from "../../src/contracts/decision/operator-codes.ts";
import { Scope, liveButtons, type Phone } from "../harness/index.ts";
import { Stage, isAlive, linesOf, until, type Asked } from "./stage.ts";

const GROUP = -1_000_700;
const STRANGER = 6_666;
const SHARED = { destinations: ["telegram:default/1001", `telegram:default/${GROUP}`], people: ["ann", "bea"] };

const scope = new Scope();
let stage: Stage;
let group: { readonly ann: Phone; readonly bea: Phone };
beforeAll(async () => {
  stage = await Stage.open(scope, {
    clock: true,
    standIn: { chats: [{ id: GROUP, type: "supergroup", title: "Ops" }] },
    home: { audiences: { operators: { ...SHARED, protectContent: true }, others: ["telegram:default/1002"] } },
  });
  group = { ann: stage.standIn.phone(1_001, GROUP), bea: stage.standIn.phone(1_002, GROUP) };
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

/** Writes a text and returns the bot's answer to it. */
async function answer(phone: Phone, text: string, holds = ""): Promise<{ id: number; text: string }> {
  const { messageId } = await phone.say(text);
  return stage.standIn.waitFor(
    (state) =>
      state.chats
        .find(({ id }) => id === phone.chat)
        ?.messages.find(
          ({ from, replyTo, text: shown }) => from === "bot" && replyTo === messageId && shown.includes(holds),
        ),
    `an answer to ${text}`,
  );
}

const shortId = async (run: string): Promise<string> => (await stage.view(run)).run.shortId;
const cancel = (run: string): Promise<unknown> => stage.client.call("run.cancel", { run, reason: null });
const cardIn = (phone: Phone, asked: Asked): Promise<{ id: number; text: string }> => phone.waitForCard(asked.title);

test("the commands are registered for the allowed chats, each by itself, and for nobody else", async () => {
  const { commands } = await stage.standIn.waitFor(
    (state) => state.commands.length === 3 && state,
    "the commands of three chats",
  );
  expect(commands.map(({ scope: to }) => to)).toEqual(
    ["1001", String(GROUP), "1002"].map((id) => ({ type: "chat", chat_id: id })),
  );
  for (const { commands: menu } of commands) expect(menu.map(({ command }) => command)).toEqual([...OPERATOR_COMMANDS]);
});

describe("in a private chat", () => {
  test("/status tells in six lines how it stands, /monitors that there are none, /help what can be asked", async () => {
    const asked = await stage.ask("Status");
    const { text } = await answer(stage.ann, "/status");
    const lines = text.split("\n");
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(/^Service: running since /);
    expect(lines[1]).toMatch(/^telegram:default: connected, last heard /);
    expect(lines.slice(2)).toEqual([
      "Runs: 1 waits for an answer",
      "Decisions for you: 1 (/decisions)",
      "Problems: nothing needs you",
      "Checks: none",
    ]);
    expect((await answer(stage.ann, "/monitors")).text).toBe("Nothing is watched yet.");
    const help = await answer(stage.ann, "/help");
    for (const command of OPERATOR_COMMANDS) expect(help.text).toContain(`/${command} `);
    await cancel(asked.run);
  });

  test("a plain yes and a mistyped command get help, not silence", async () => {
    const { text } = await answer(stage.bea, "yes");
    expect(text).toMatch(/^Nothing waits for you/);
    expect((await answer(stage.bea, "/desicions")).text).toBe(
      "“desicions” is not a command here. Did you mean /decisions?",
    );
    // Once: the same again is silence until a minute has passed.
    const again = await stage.bea.say("yes");
    expect(await stage.verdict(again.updateId)).toBe("ignored");
    await stage.clock?.advance(60_000);
    expect((await answer(stage.bea, "yes")).text).toMatch(/^Nothing waits for you/);
  });

  test("/decisions shows a card again; both copies belong to the one decision", async () => {
    const asked = await stage.ask("Shown again");
    const list = await answer(stage.ann, "/decisions", asked.title);
    const tapped = await stage.ann.tap(list.id, "Show 1 again");
    expect(await stage.ann.waitForToast(tapped)).toBe(`“${asked.title}” is shown again below.`);
    const again = await stage.ann.waitForCard(asked.title, list.id);
    await stage.waitForText(list.id, "1: shown again by Ann");
    await stage.ann.waitForSettled(list.id);
    await stage.ann.tap(again.id, "Approve");
    await stage.waitForText(asked.card, "Approved by Ann");
    await stage.waitForText(again.id, "Approved by Ann");
    await stage.finished(asked.run);
    expect(linesOf(asked.file)).toHaveLength(1);
    expect((await answer(stage.ann, "/decisions")).text).toBe("No decision waits for you.");
  });

  test("/runs and /run tell where a run is; /pause stops its process, /resume lets it go on", async () => {
    const file = stage.file();
    const run = await stage.start("slow-step", { file });
    await until(() => existsSync(file) && linesOf(file).length === 1, "the slow step");
    const pid = Number(linesOf(file)[0]?.split(" ")[1]);
    const short = await shortId(run);
    expect((await answer(stage.ann, "/runs")).text).toContain(`• ${short} · slow-step: running`);
    expect((await answer(stage.ann, `/run ${short}`)).text).toMatch(
      /^\S+ · slow-step: running\nStarted .*\n\d steps?, at second$/,
    );
    expect((await answer(stage.ann, `/pause ${short}`)).text).toBe(`Paused: run ${short} (slow-step).`);
    await until(() => !isAlive(pid), "the end of the paused run's process");
    expect((await stage.view(run)).run.status).toBe("paused");
    expect((await answer(stage.ann, `/resume ${short}`)).text).toBe(`Goes on: run ${short} (slow-step).`);
    expect((await stage.finished(run)).run.status).toBe("completed");
    const timeline = (await stage.view(run)).timeline;
    for (const type of ["run.paused", "run.unpaused"])
      expect(timeline.find((event) => event.type === type)).toMatchObject({
        actor: "human:ann",
        detail: { by: "Ann", channel: "telegram:default" },
      });
  });

  test("/problems settles a message in doubt by one press, recorded like channel recover", async () => {
    await stage.standIn.control.faults.add({
      kind: "drop",
      when: "after",
      how: "rst",
      method: "sendMessage",
      chat: GROUP,
    });
    const asked = await stage.ask("In doubt");
    await until(
      async () => (await stage.view(asked.run)).effects.some(({ status }) => status === "ambiguous"),
      "a doubt",
    );
    const list = await answer(stage.ann, "/problems", asked.title);
    expect(list.text).toContain("Telegram did not confirm it");
    const tapped = await stage.ann.tap(list.id, "1: Yes");
    expect(await stage.ann.waitForToast(tapped)).toMatch(/did arrive/);
    await stage.waitForText(list.id, "1: did arrive by Ann");
    expect((await answer(stage.ann, "/problems")).text).toBe("Nothing needs you.");
    const second = await stage.ann.tap(list.id, 0).catch((error: Error) => error);
    expect(second).toBeInstanceOf(Error);
    const { effects } = await stage.view(asked.run);
    expect(effects.filter(({ purpose }) => purpose === "delivery").map(({ status }) => status)).toEqual([
      "applied",
      "applied",
    ]);
    expect(await stage.copies(asked.title, group.ann)).toBe(1);
    await cancel(asked.run);
  });
});

describe("in a group", () => {
  test("commands work with and without @bot; those for another bot are left alone", async () => {
    expect((await answer(group.ann, "/monitors")).text).toBe("Nothing is watched yet.");
    expect((await answer(group.ann, "/monitors@holdpoint_local_bot")).text).toBe("Nothing is watched yet.");
    const before = (await group.ann.messages()).length;
    const foreign = await stage.standIn.control.people.say(1_001, GROUP, "/monitors@another_bot");
    // Privacy mode keeps it from us; where it is off, it is ours to ignore.
    if (foreign.updateId !== null) expect(await stage.verdict(foreign.updateId)).toBe("ignored");
    const stranger = await stage.standIn.control.people.say(STRANGER, GROUP, "/runs");
    expect(await stage.verdict(stranger.updateId)).toBe("notOnList");
    expect((await answer(group.bea, "/monitors")).text).toBe("Nothing is watched yet.");
    expect(await group.ann.messages()).toHaveLength(before + 1);
  });

  test("cards there name who may answer, and are protected as the audience wants", async () => {
    const asked = await stage.ask("Named");
    const shared = await cardIn(group.ann, asked);
    expect(shared.text).toContain("\nFor Ann or Bea.\n");
    expect(await stage.message(asked.card)).not.toContain("For Ann");
    const state = await stage.standIn.control.state();
    const shown = state.chats.flatMap(({ messages }) => messages).filter(({ text }) => text.includes(asked.title));
    expect(shown.map((message) => message.protected)).toEqual([true, true]);
    await cancel(asked.run);
  });

  test("/cancel asks the person who wrote it; every card then shows who cancelled, and where", async () => {
    const asked = await stage.ask("To be cancelled");
    const shared = await cardIn(group.ann, asked);
    const question = await answer(group.ann, `/cancel ${await shortId(asked.run)}`);
    expect(question.text).toMatch(/^Cancel this run\?/);
    const other = await group.bea.tap(question.id, "Cancel the run");
    expect(await group.bea.waitForToast(other)).toBe("Only the person who asked may press this.");
    const stranger = await stage.standIn.control.people.tap(STRANGER, GROUP, question.id, "Cancel the run");
    expect(await stage.verdict(stranger.updateId)).toBe("notOnList");
    expect((await stage.view(asked.run)).run.status).toBe("waiting");
    await group.ann.tap(question.id, "Cancel the run");
    const view = await stage.finished(asked.run);
    expect(view.run.status).toBe("cancelled");
    expect(view.timeline.find(({ type }) => type === "run.cancelled")).toMatchObject({
      actor: "human:ann",
      detail: { by: "Ann", channel: "telegram:default", actorId: "1001" },
    });
    for (const [card, chat] of [
      [asked.card, 1_001],
      [shared.id, GROUP],
    ] as const)
      expect(await stage.waitForText(card, "Cancelled", chat)).toMatch(/Cancelled by Ann, .*, in Telegram\./);
    await stage.waitForText(question.id, "Cancelled by Ann", GROUP);
    await group.ann.waitForSettled(question.id);
  });

  test("the answer of one person shows on everybody's card", async () => {
    const asked = await stage.ask("Answered by one");
    const shared = await cardIn(group.bea, asked);
    await group.bea.tap(shared.id, "Stop");
    await stage.waitForText(asked.card, "Stopped by Bea");
    await stage.waitForText(shared.id, "Stopped by Bea", GROUP);
    await stage.finished(asked.run);
  });

  test("a run cancelled on the server says so on every card", async () => {
    const asked = await stage.ask("Stopped elsewhere");
    const shared = await cardIn(group.ann, asked);
    await cancel(asked.run);
    expect(await stage.waitForText(asked.card, "Cancelled")).toMatch(/Cancelled, .*, in the terminal\./);
    expect(await stage.waitForText(shared.id, "Cancelled", GROUP)).toMatch(/Cancelled, .*, in the terminal\./);
  });
});

test("a sensitive question sends its title and choices only; no byte of the rest reaches the service", async () => {
  const asked = await stage.ask("Sensitive", { sensitive: true, summary: "salary of 90,000" });
  const card = await stage.ann.waitForCard(asked.title);
  expect(card.text).toContain("not sent to chats");
  expect(liveButtons(card)).toHaveLength(3);
  const fingerprint = (await stage.view(asked.run)).decisions[0]?.fingerprint ?? "";
  expect(card.text).toContain(`holdpoint decisions ${fingerprint}`);
  const shown = await stage.cli(["decisions", fingerprint, "--plain"]);
  expect(shown.stdout).toContain("salary of 90,000");
  await stage.ann.tap(asked.card, "Approve");
  await stage.finished(asked.run);
  const ended = await stage.waitForText(asked.card, "Run completed");
  // Nor what the run ended with.
  expect(ended).not.toContain("the shop is changed");
  const state = await stage.standIn.control.state();
  expect(state.requests.length).toBeGreaterThan(0);
  expect(JSON.stringify(state.requests)).not.toContain("90,000");
});

test("a button that was pressed while the server died is settled once by its successor", async () => {
  const uses = (): number => stage.rows("SELECT 1 FROM operator_uses").length;
  const before = uses();
  const asked = await stage.ask("Server dies");
  const question = await answer(stage.ann, `/cancel ${await shortId(asked.run)}`);
  await stage.server.stop();
  await stage.restart({ HOLDPOINT_FAULT: "channels.receive:after" });
  await stage.ann.tap(question.id, "Cancel the run");
  expect((await stage.server.exited).signal).toBe("SIGKILL");
  await stage.restart();
  expect((await stage.finished(asked.run)).run.status).toBe("cancelled");
  await stage.waitForText(question.id, "Cancelled by Ann");
  expect(uses()).toBe(before + 1);
  expect((await stage.view(asked.run)).timeline.filter(({ type }) => type === "run.cancelled")).toHaveLength(1);
});
