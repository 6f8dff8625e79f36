// Who answers, how often, from where and when: every answer gets its true reply, and only one ever counts.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { botMessages, requestsOf } from "../../adapters/telegram/sim/view.ts";
import { Scope, leakSearch, liveButtons, startStandIn, type Phone, type StandIn } from "../harness/index.ts";
import { Stage, linesOf, type Asked } from "./stage.ts";

const GROUP = -1_000_500;
const ELSEWHERE = -1_000_900;
const STRANGER = 6_666;
const NO_BUTTON = "This button does not belong to a decision that is waiting.";

const scope = new Scope();
let stage: Stage;
/** Bea's phone is with another bot, so that two people can answer at one instant. */
let otherBot: StandIn;
let bea: Phone;
let group: { ann: Phone; stranger: Phone };
beforeAll(async () => {
  otherBot = await startStandIn(scope, { token: "78000001:another-bot-for-bea-only" });
  stage = await Stage.open(scope, {
    standIn: {
      chats: [
        { id: GROUP, type: "supergroup", title: "Ops" },
        { id: ELSEWHERE, type: "supergroup", title: "Elsewhere" },
      ],
    },
    profiles: { second: otherBot.profile() },
    home: {
      audiences: {
        operators: ["telegram:default/1001", `telegram:default/${GROUP}`, "telegram:second/1002"],
      },
    },
  });
  bea = otherBot.phone(1_002);
  group = { ann: stage.standIn.phone(1_001, GROUP), stranger: stage.standIn.phone(STRANGER, GROUP) };
});
afterAll(() => scope.close());

/** The data of the live buttons of a card. */
async function buttonData(phone: Phone, title: string): Promise<string[]> {
  return liveButtons(await phone.waitForCard(title)).map(({ data }) => data as string);
}

async function isPending({ run }: Asked): Promise<boolean> {
  const { decisions } = await stage.view(run);
  return decisions.length === 1 && decisions[0]?.status === "pending";
}

/** Ends a question that a test leaves open. */
async function cancel({ run, card }: Asked): Promise<void> {
  await stage.client.call("run.cancel", { run, reason: null });
  await stage.ann.waitForSettled(card);
}

/** A toast, when one came; undefined when the service let the update pass in silence. */
async function toastOf(callbackId: string): Promise<string | undefined> {
  const state = await stage.standIn.control.state();
  return state.taps.find((tap) => tap.callbackId === callbackId)?.answer?.text;
}

describe("the same answer again", () => {
  test("T08: one tap that arrives as two callback queries decides once; the second is told that it is decided", async () => {
    const asked = await stage.ask("Two queries");
    const first = await stage.ann.tap(asked.card, "Approve");
    const second = await stage.standIn.control.people.repeatTap(first.callbackId);
    expect(await stage.ann.waitForToast(first)).toBe("Approved.");
    expect(await stage.ann.waitForToast(second)).toMatch(/^Already approved by you at /);
    const view = await stage.finished(asked.run);
    expect(view.continuations).toBe(1);
    expect(stage.submissions(asked.run).map(({ outcome }) => outcome)).toEqual(["won", "adopted"]);
    expect(linesOf(asked.file)).toHaveLength(1);
  });

  test("T08: an update that is handed out twice under one id is handled once", async () => {
    const asked = await stage.ask("One id twice");
    const tapped = await stage.ann.tap(asked.card, "Approve");
    const updateId = tapped.updateId as number;
    await stage.standIn.control.server.repeatUpdate(updateId);
    await stage.finished(asked.run);
    const later = await stage.standIn.control.people.repeatTap(tapped.callbackId);
    await stage.ann.waitForToast(later);
    const polls = requestsOf(await stage.standIn.control.state(), "getUpdates");
    expect(polls.filter(({ updateIds }) => updateIds?.includes(updateId)).length).toBeGreaterThanOrEqual(2);
    expect(stage.rows("SELECT * FROM channel_inbox WHERE update_id = ?", updateId)).toHaveLength(1);
    expect(stage.submissions(asked.run).filter(({ outcome }) => outcome === "won")).toHaveLength(1);
    expect(linesOf(asked.file)).toHaveLength(1);
  });
});

describe("a late answer", () => {
  test("after somebody decided, the other person is told who and when, and nothing changes", async () => {
    const asked = await stage.ask("Late");
    const data = await buttonData(group.ann, asked.title);
    await stage.ann.tap(asked.card, "Approve");
    await stage.finished(asked.run);
    const card = await group.ann.waitForMessage(asked.title);
    const late = await stage.standIn.control.people.tapRaw(1_002, GROUP, card.id, data[2] as string);
    expect(await stage.ann.waitForToast(late)).toMatch(/^Already approved by Ann at \d\d:\d\d/);
    expect(stage.submissions(asked.run).at(-1)).toMatchObject({
      actor: "1002",
      choice: "stop",
      outcome: "already_resolved",
    });
    expect((await stage.view(asked.run)).decisions[0]?.resolution).toMatchObject({ choice: "approve", by: "Ann" });
  });
});

describe("an early answer", () => {
  test("to a card whose sending is not confirmed yet counts, and the card is settled", async () => {
    const fault = await stage.standIn.control.faults.add({
      kind: "slow",
      what: "answer",
      method: "sendMessage",
      chat: 1_001,
    });
    const asked = await stage.ask("Early");
    const tapped = await stage.ann.tap(asked.card, "Approve");
    expect(await stage.ann.waitForToast(tapped)).toBe("Approved.");
    expect((await stage.finished(asked.run)).run.status).toBe("completed");
    expect(linesOf(asked.file)).toHaveLength(1);
    // In one chat one message at a time is on its way, so the edit follows the end of the sending.
    await stage.standIn.control.faults.remove(fault);
    await stage.waitForText(asked.card, "Approved by Ann");
    const view = await stage.quiet(asked.run);
    await stage.waitForText(asked.card, "Run completed");
    expect(view.decisions[0]?.destinations[0]).toMatchObject({ status: "applied", shown: 1 });
    expect(await stage.copies(asked.title)).toBe(1);
    expect(await stage.sends(asked.title)).toBe(2);
    expect(await stage.leaks()).toEqual([]);
  });
});

describe("T20: the question for a text", () => {
  test("is removed when the decision is over, also if its sending is confirmed only after the end of the run", async () => {
    const asked = await stage.ask("Question confirmed late");
    const { faults } = stage.standIn.control;
    const fault = await faults.add({ kind: "slow", what: "answer", method: "sendMessage", chat: 1_001 });
    await stage.ann.tap(asked.card, "Replan…");
    const prompt = await stage.ann.waitForMessage("What should change?", asked.card);
    await stage.ann.tap(asked.card, "Approve");
    expect((await stage.finished(asked.run)).run.status).toBe("completed");
    await faults.remove(fault);
    await stage.waitForText(asked.card, "Run completed");
    const { effects } = await stage.quiet(asked.run);
    expect(effects.filter(({ type }) => type === "prompt.close")).toMatchObject([{ status: "applied" }]);
    expect((await stage.ann.messages()).map(({ id }) => id)).not.toContain(prompt.id);
  });
});

describe("somebody who may not answer", () => {
  test("T10: a member of the group who is not on the list gets one toast; the buttons stay", async () => {
    const asked = await stage.ask("Not on the list");
    const card = await group.stranger.waitForCard(asked.title);
    const tapped = await group.stranger.tap(card.id, "Approve");
    expect(await group.stranger.waitForToast(tapped)).toBe("You are not on the list for this decision.");
    expect(await stage.verdict(tapped.updateId)).toBe("notOnList");
    // Typed text of such a person gets nothing at all.
    const spoken = await group.stranger.reply(card.id, "approve it");
    expect(await stage.verdict(spoken.updateId)).toBe("notOnList");
    expect(liveButtons(await group.stranger.waitForCard(asked.title))).toHaveLength(3);
    expect((await group.stranger.messages()).at(-1)?.id).toBe(card.id);
    expect(await isPending(asked)).toBe(true);
    await cancel(asked);
  });

  test("T10: a card that was forwarded decides nothing where it was forwarded to", async () => {
    const asked = await stage.ask("Forwarded");
    const data = await buttonData(stage.ann, asked.title);
    const forwarded = await stage.standIn.control.people.forward(1_001, 1_001, asked.card, GROUP);
    const tapped = await stage.standIn.control.people.tapRaw(1_001, GROUP, forwarded.messageId, data[0] as string);
    expect(await group.ann.waitForToast(tapped)).toBe(NO_BUTTON);
    expect(await stage.verdict(tapped.updateId)).toBe("unknownButton");
    expect(await isPending(asked)).toBe(true);
    await cancel(asked);
  });

  test("from a chat that is not allowed there is silence, whoever taps or writes", async () => {
    const asked = await stage.ask("Elsewhere");
    const [approve] = await buttonData(stage.ann, asked.title);
    const { people } = stage.standIn.control;
    const spoken = [
      await people.say(STRANGER, STRANGER, "/workflow_channel status"),
      await people.say(1_001, ELSEWHERE, "/workflow_channel@holdpoint status"),
      await people.say(1_001, ELSEWHERE, "/workflow_channel status"),
    ];
    const taps = [
      await people.tapRaw(STRANGER, STRANGER, 1, approve as string, { inaccessible: true }),
      await people.tapRaw(1_001, ELSEWHERE, spoken[1]?.messageId ?? 0, approve as string),
    ];
    for (const { updateId } of [...spoken, ...taps])
      if (updateId !== null) expect(await stage.verdict(updateId)).toBe("silent");
    expect(spoken[0]?.updateId).not.toBeNull();
    // A later update has been acknowledged: those before it would have been, too.
    const later = await group.stranger.tap((await group.stranger.waitForCard(asked.title)).id, "Stop");
    await group.stranger.waitForToast(later);
    for (const { callbackId } of taps) expect(await toastOf(callbackId)).toBeUndefined();
    const state = await stage.standIn.control.state();
    for (const chat of [STRANGER, ELSEWHERE]) {
      expect(botMessages(state, chat)).toEqual([]);
      expect(state.requests.filter(({ params }) => params["chat_id"] === String(chat))).toEqual([]);
    }
    expect(await isPending(asked)).toBe(true);
    await cancel(asked);
  });
});

describe("T11: forged callback data", () => {
  test("of the right shape, of another card, and of an earlier version are refused alike and tell nothing", async () => {
    const asked = await stage.ask("Forged", {}, "again");
    const [first] = await buttonData(stage.ann, asked.title);
    const groupData = await buttonData(group.ann, asked.title);
    await stage.ann.tap(asked.card, "Again");
    const second = await stage.ann.waitForCard(asked.title, asked.card);
    const other = await stage.ask("Another card");
    const [otherApprove] = await buttonData(stage.ann, other.title);
    const forged = {
      "an earlier version": first as string,
      "another card": otherApprove as string,
      "the same decision in another chat": groupData[0] as string,
      "the right shape": (otherApprove as string).replaceAll(/[a-z]/g, "q"),
      "the wrong shape": "approve",
    };
    for (const [what, data] of Object.entries(forged)) {
      const tapped = await stage.standIn.control.people.tapRaw(1_001, 1_001, second.id, data);
      expect(await stage.ann.waitForToast(tapped), what).toBe(NO_BUTTON);
      expect(await stage.verdict(tapped.updateId), what).toBe("unknownButton");
    }
    expect((await stage.view(asked.run)).decisions.map(({ status }) => status)).toEqual(["accepted", "pending"]);
    expect(await isPending(other)).toBe(true);
    await cancel(other);
    await cancel({ ...asked, card: second.id });
  });
});

describe("T09: two people at one instant", () => {
  test("with different answers: the first that is stored wins, and the other is told who it was", async () => {
    for (const [mine, hers] of [
      ["Approve", "Stop"],
      ["Stop", "Approve"],
    ] as const) {
      const asked = await stage.ask("At one instant");
      const copy = await bea.waitForCard(asked.title);
      const [annTap, beaTap] = await Promise.all([stage.ann.tap(asked.card, mine), bea.tap(copy.id, hers)]);
      const [toAnn, toBea] = await Promise.all([stage.ann.waitForToast(annTap), bea.waitForToast(beaTap)]);
      const view = await stage.finished(asked.run);
      const winner = view.decisions[0]?.resolution;
      const annWon = winner?.by === "Ann";
      expect(winner?.choice).toBe((annWon ? mine : hers).toLowerCase());
      const done = annWon ? mine : hers;
      const verb = done === "Approve" ? "approved" : "stopped";
      expect(annWon ? toAnn : toBea).toBe(done === "Approve" ? "Approved." : "Stopped.");
      expect(annWon ? toBea : toAnn).toMatch(
        new RegExp(`^Already ${verb} by ${annWon ? "Ann" : "Bea"} at \\d\\d:\\d\\d`),
      );
      expect(stage.submissions(asked.run).map(({ outcome }) => outcome)).toEqual(["won", "already_resolved"]);
      await stage.waitForText(asked.card, `${done === "Approve" ? "Approved" : "Stopped"} by ${winner?.by}`);
      await bea.waitForSettled(copy.id);
      expect(linesOf(asked.file)).toHaveLength(done === "Approve" ? 1 : 0);
    }
    expect(await leakSearch(stage.home, otherBot.token, stage.client)).toEqual([]);
  });
});

describe("T19: typed answers", () => {
  test("plain text gets help, the reply to the question counts, and editing it changes nothing", async () => {
    const [one, two] = [await stage.ask("First of two prompts"), await stage.ask("Second of two prompts")];
    const prompts: number[] = [];
    for (const { card } of [one, two]) {
      await stage.ann.tap(card, "Replan…");
      prompts.push((await stage.ann.waitForMessage("What should change?", prompts.at(-1) ?? card)).id);
    }
    const yes = await stage.ann.say("yes");
    const help = await stage.ann.waitForMessage("plain messages decide nothing", yes.messageId);
    expect(help.text).toMatch(/^2 decisions wait for you/);
    expect(await stage.verdict(yes.updateId)).toBe("help");

    const spoken = await stage.ann.reply(prompts[1] as number, "use the green pool");
    await stage.ann.waitForMessage("Got it: replan, “use the green pool”.", spoken.messageId);
    const edited = await stage.standIn.control.people.editOwn(1_001, 1_001, spoken.messageId, "use the red pool");
    expect(await stage.verdict(edited.updateId)).toBe("editIgnored");
    await stage.ann.waitForMessage("Editing a reply changes nothing", spoken.messageId);
    const view = await stage.waitForRun(two.run, ({ decisions }) => decisions.length === 2, "the second version");
    expect(view.decisions[0]?.resolution?.input).toBe("use the green pool");
    expect(view.outputs["replan"]).toMatchObject({ changes: "use the green pool" });
    expect(await isPending(one)).toBe(true);
    const next = await stage.ann.waitForCard(two.title, spoken.messageId);
    await cancel({ ...two, card: next.id });
    await cancel(one);
  });
});

describe("when the acknowledgement or the edit of a card fails", () => {
  test("T13: a query that is too old to be answered changes nothing about the decision or its card", async () => {
    const asked = await stage.ask("Too old");
    const description = "Bad Request: query is too old and response timeout expired or query ID is invalid";
    const fault = await stage.standIn.control.faults.add({
      kind: "reject",
      method: "answerCallbackQuery",
      status: 400,
      description,
      times: "always",
    });
    await stage.ann.tap(asked.card, "Approve");
    await stage.waitForText(asked.card, "Approved by Ann");
    expect((await stage.finished(asked.run)).run.status).toBe("completed");
    await stage.quiet(asked.run);
    const { faults } = await stage.standIn.control.state();
    expect(faults.find(({ id }) => id === fault)?.hits).toBe(1);
    await stage.standIn.control.faults.remove(fault);
    expect(await stage.copies(asked.title)).toBe(1);
    expect((await stage.ann.messages()).at(-1)?.id).toBe(asked.card);
    expect(await stage.leaks()).toEqual([]);
  });

  test("T14: “message is not modified” counts as settled; no second message is posted", async () => {
    const asked = await stage.ask("Not modified");
    const description =
      "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";
    const spec = { kind: "reject", method: "editMessageText", chat: 1_001, status: 400, description } as const;
    const fault = await stage.standIn.control.faults.add({ ...spec, times: "always" });
    await stage.ann.tap(asked.card, "Approve");
    await stage.finished(asked.run);
    const { effects } = await stage.quiet(asked.run);
    await stage.standIn.control.faults.remove(fault);
    const settlements = effects.filter(
      ({ purpose, destination }) => purpose === "settlement" && destination === "telegram:default/1001",
    );
    expect(settlements.length).toBeGreaterThanOrEqual(1);
    expect(settlements.filter(({ status }) => status !== "applied" && status !== "cancelled")).toEqual([]);
    expect(effects.filter(({ type }) => type === "reply.outcome")).toEqual([]);
    expect(await stage.copies(asked.title)).toBe(1);
    expect(await stage.leaks()).toEqual([]);
  });

  test("T14: the outcome of a card that was deleted is posted once, as a message of its own", async () => {
    const asked = await stage.ask("Deleted card");
    const card = await group.ann.waitForCard(asked.title);
    await stage.standIn.control.people.remove(GROUP, card.id);
    await stage.ann.tap(asked.card, "Approve");
    const told = await group.ann.waitForMessage(asked.title, card.id);
    expect(told.text).toMatch(/Approved by Ann/);
    expect(liveButtons(told)).toEqual([]);
    await stage.finished(asked.run);
    await stage.quiet(asked.run);
    expect(await stage.copies(asked.title, group.ann)).toBe(1);
    expect(await stage.copies(asked.title)).toBe(1);
    expect(await stage.leaks()).toEqual([]);
  });
});
