// Where cards go and how often: several chats, limits of the service, chats that close or move, doubt, and silence. Asserts what people see.

import { afterAll, afterEach, describe, expect, test } from "vitest";

import type { LedgerMessage } from "../../adapters/telegram/sim/types.ts";
import { botMessages, requestsOf } from "../../adapters/telegram/sim/view.ts";
import { DOUBT, OFFER } from "../../src/contracts/limits.ts";
import { Scope, liveButtons, type HomeOptions, type Phone } from "../harness/index.ts";
import { Stage, until, type Asked } from "./stage.ts";

const FORUM = -1_001_002;
const GROUP = -501;
const SUPER = -1_001_501;
const at = (...chats: (number | string)[]): string[] => chats.map((chat) => `telegram:default/${chat}`);

const scope = new Scope();
const stages: Stage[] = [];
// T28: after any fault the token is nowhere.
afterEach(async () => {
  for (const stage of stages) {
    await stage.standIn.control.faults.clear();
    expect(await stage.leaks()).toEqual([]);
  }
  await scope.close();
  stages.length = 0;
});
afterAll(() => scope.close());

/** A service whose operators have these destinations, with a controlled clock. */
async function serviceFor(operators: NonNullable<HomeOptions["audiences"]>[string]): Promise<Stage> {
  const stage = await Stage.open(scope, {
    clock: true,
    standIn: {
      chats: [
        { id: FORUM, type: "supergroup", title: "Ops", forum: true, topics: [{ id: 7, name: "Deploys" }] },
        { id: GROUP, type: "group", title: "Team" },
        { id: SUPER, type: "supergroup", title: "Team" },
      ],
    },
    home: { audiences: { operators } },
  });
  stages.push(stage);
  return stage;
}

/** Starts a question and waits until the server has it, whoever sees its card. */
async function begin(stage: Stage, what: string): Promise<{ run: string; title: string }> {
  const title = stage.unique(what);
  const run = await stage.start("ask", { title, file: stage.file() });
  await stage.waitForRun(run, ({ decisions }) => decisions.length === 1, "its question");
  return { run, title };
}

const seen = async (phone: Phone): Promise<string[]> =>
  (await phone.messages()).map(({ text }) => text.split("\n")[0] ?? "");
const message = async (phone: Phone, id: number): Promise<LedgerMessage> =>
  (await phone.messages()).find((shown) => shown.id === id) as LedgerMessage;
const step = (stage: Stage, ms: number): Promise<void> =>
  stage.clock?.advance(ms) ?? Promise.reject(new Error("no clock"));

/** A question whose card is in Ann's chat, and known to be there. */
async function confirmed(stage: Stage, what: string): Promise<Asked> {
  const asked = await stage.ask(what);
  await stage.delivery(asked.run, "applied");
  return asked;
}

/** The service is away for so long, as the clock of the server has it, and was heard again. */
async function silence(stage: Stage, ms: number): Promise<void> {
  await stage.standIn.control.server.down();
  await stage.channelWhen(({ error }) => error !== null, "a poll that fails");
  await step(stage, ms);
  await stage.standIn.control.server.up();
  const now = stage.clock?.now() ?? 0;
  await stage.channelWhen(({ lastPollAt }) => lastPollAt === now, "a good poll");
}

describe("T05: a limit of the service", () => {
  test("stops one chat for as long as it says, and no other; each card arrives once, in order", async () => {
    const stage = await serviceFor(at(1_001, 1_002));
    await stage.standIn.control.faults.add({
      kind: "tooMany",
      retryAfter: 7,
      method: "sendMessage",
      chat: 1_001,
      times: 1,
      skip: 2,
    });
    const asked = [];
    for (let i = 1; i <= 5; i += 1) asked.push(await begin(stage, "Alert"));
    const titles = asked.map(({ title }) => `\u{1F7E1} ${title}`);
    await stage.bea.waitForCard(asked[4]?.title);
    expect(await seen(stage.bea)).toEqual(titles);
    expect(await seen(stage.ann)).toEqual(titles.slice(0, 2));
    const calls = async (): Promise<number> =>
      requestsOf(await stage.standIn.control.state(), "sendMessage").filter(
        ({ params }) => params["chat_id"] === "1001",
      ).length;
    const before = await calls();
    await step(stage, 6_999);
    expect(await calls()).toBe(before);
    await step(stage, 1);
    await stage.ann.waitForCard(asked[4]?.title);
    expect(await seen(stage.ann)).toEqual(titles);
    const { effects } = await stage.view(asked[2]?.run as string);
    const held = effects.find(({ destination, purpose }) => purpose === "delivery" && destination === at(1_001)[0]);
    const { attemptList } = await stage.client.call("effect.show", { effect: held?.effectId as string });
    expect(attemptList.map(({ state }) => state)).toEqual(["rejected", "accepted"]);
  });
});

describe("T26: a person who blocked the bot", () => {
  test("is tried once, is told in the status, and the other destination decides; unblocked, they get what still waits", async () => {
    const stage = await serviceFor(at(1_001, 1_002));
    await stage.standIn.control.people.setChatState(1_001, "blocked");
    const first = await begin(stage, "Blocked");
    const card = await stage.bea.waitForCard(first.title);
    const second = await begin(stage, "Blocked");
    await stage.bea.waitForCard(second.title);
    await step(stage, 600_000);
    expect(await stage.sends(first.title)).toBe(2);
    expect(await stage.sends(second.title)).toBe(1);
    const { places } = await stage.channelWhen(() => true, "its status");
    expect(places).toMatchObject([{ place: "1001", error: expect.stringContaining("blocked") }]);
    await stage.bea.tap(card.id, "Approve");
    await stage.finished(first.run);
    await stage.standIn.control.people.setChatState(1_001, "open");
    await stage.ann.say("/start");
    await stage.ann.waitForCard(second.title);
    expect(await stage.copies(first.title)).toBe(0);
    expect(await stage.copies(second.title)).toBe(1);
  });

  test("who was the only one leaves the decision undeliverable, and answerable", async () => {
    const stage = await serviceFor(at(1_001));
    await stage.standIn.control.people.setChatState(1_001, "deactivated");
    const { run } = await begin(stage, "Nobody");
    const view = await stage.waitForRun(
      run,
      ({ decisions }) => decisions[0]?.notes.length !== 0,
      "what it says about it",
    );
    expect(view.decisions[0]?.notes.join()).toContain("undeliverable");
    expect(view.decisions[0]?.status).toBe("pending");
  });
});

describe("T16: a service that cannot parse the marks on a text", () => {
  const refusal = {
    kind: "reject",
    status: 400,
    description: "Bad Request: can't parse entities: unsupported entity",
    method: "sendMessage",
  } as const;

  test("gets it once more without them: it arrives without them once, and says so", async () => {
    const stage = await serviceFor(at(1_001));
    await stage.standIn.control.faults.add({ ...refusal, times: 1 });
    const { run, title } = await begin(stage, "Refused marks");
    const card = await stage.ann.waitForCard(title);
    expect(card.entities).toEqual([]);
    expect(card.text).toMatch(/\(Without its formatting, which was refused\.\)$/);
    expect((await stage.delivery(run, "applied")).attemptList.map(({ state }) => state)).toEqual([
      "rejected",
      "accepted",
    ]);
    await stage.ann.tap(card.id, "Approve");
    await stage.finished(run);
    expect(await stage.copies(title)).toBe(1);
  });

  test("is not tried a third time", async () => {
    const stage = await serviceFor(at(1_001));
    await stage.standIn.control.faults.add({ ...refusal, times: "always" });
    const { run, title } = await begin(stage, "Refused marks");
    expect((await stage.delivery(run, "rejected")).attemptList).toHaveLength(2);
    await step(stage, 600_000);
    expect(await stage.sends(title)).toBe(2);
  });
});

describe("T18: a log of 40 KB in a question", () => {
  const log = (mark: string): string => `${mark} was copied to its new place on another disk\n`.repeat(280);
  const blocks = ["first", "second", "third"].map((mark) => ({ kind: "preformatted", text: log(mark) }));

  test("is a document with all of it, and a card that fits one message, answers, and settles", async () => {
    const stage = await serviceFor(at(1_001));
    const asked = await stage.ask("Long evidence", { blocks });
    const [document, card] = await stage.ann.messages();
    expect(document?.document?.text).toContain(log("third"));
    expect(card?.text.length).toBeLessThanOrEqual(4_096);
    expect(card?.text).toContain(`The full text is in the document ${document?.document?.fileName} in this chat.`);
    await stage.ann.tap(asked.card, "Approve");
    await stage.finished(asked.run);
    await stage.waitForText(asked.card, "Run completed");
    expect(await stage.ann.messages()).toHaveLength(2);
  });

  test("whose document is refused, or never confirmed, is a card that says so; the document is not sent twice", async () => {
    const stage = await serviceFor(at(1_001));
    const faults = [
      { kind: "reject", status: 400, description: "Bad Request: file is too big" },
      { kind: "drop", when: "after", how: "rst" },
    ] as const;
    const said = ["could not be sent as a document", "but Telegram did not confirm it"];
    for (const [index, fault] of faults.entries()) {
      await stage.standIn.control.faults.add({ ...fault, method: "sendDocument" });
      const asked = await stage.ask("Long evidence", { blocks });
      expect((await message(stage.ann, asked.card)).text).toContain(said[index]);
      await step(stage, 600_000);
    }
    expect(requestsOf(await stage.standIn.control.state(), "sendDocument")).toHaveLength(2);
  });
});

describe("T27: topics", () => {
  test("General is addressed by leaving the topic out, and a reply there goes there", async () => {
    const stage = await serviceFor(at(FORUM));
    const { title } = await begin(stage, "In General");
    const phone = stage.standIn.phone(1_001, FORUM);
    const card = await phone.waitForCard(title);
    expect(card.threadId).toBeUndefined();
    const [sent] = requestsOf(await stage.standIn.control.state(), "sendMessage").filter(({ params }) =>
      params["text"]?.includes(title),
    );
    expect(sent?.params).not.toHaveProperty("message_thread_id");
    await phone.tap(card.id, "Replan\u2026");
    const prompt = await phone.waitForMessage("What should change?");
    expect(prompt.threadId).toBeUndefined();
    await phone.reply(prompt.id, "Use the blue pool");
    const told = await phone.waitForMessage("Got it");
    expect(told.threadId).toBeUndefined();
  });

  test("a deleted topic never falls into the chat around it; the decision says that nobody was shown it", async () => {
    const stage = await serviceFor(at(`${FORUM}/7`));
    await stage.standIn.control.people.deleteTopic(FORUM, 7);
    const { run, title } = await begin(stage, "Topic gone");
    const view = await stage.waitForRun(
      run,
      ({ decisions }) => decisions[0]?.notes.length !== 0,
      "what it says about it",
    );
    expect(view.decisions[0]?.notes.join()).toContain("undeliverable");
    await step(stage, 600_000);
    expect(botMessages(await stage.standIn.control.state(), FORUM)).toEqual([]);
    expect(await stage.sends(title)).toBe(1);
  });
});

describe("a group that became a supergroup", () => {
  test("shows the card at its new id once, and is answered there", async () => {
    const stage = await serviceFor(at(GROUP));
    await stage.standIn.control.people.setChatState(GROUP, "migrated", SUPER);
    const { run, title } = await begin(stage, "Moved");
    const phone = stage.standIn.phone(1_001, SUPER);
    const card = await phone.waitForCard(title);
    const tapped = await phone.tap(card.id, "Approve");
    expect(await phone.waitForToast(tapped)).toBe("Approved.");
    await stage.finished(run);
    await phone.waitForSettled(card.id);
    expect(await stage.copies(title, phone)).toBe(1);
    const { places } = await stage.channelWhen(() => true, "its status");
    expect(places).toMatchObject([{ place: String(GROUP), movedTo: String(SUPER) }]);
  });
});

describe("a card whose sending was not confirmed", () => {
  const RESEND = { destinations: at(1_001), onAmbiguous: { resendAfterMs: 60_000 } };

  test("is sent again after the audience's time; two copies, the second says so, and either decides both", async () => {
    const stage = await serviceFor(RESEND);
    await stage.standIn.control.faults.add({
      kind: "drop",
      when: "after",
      how: "rst",
      method: "sendMessage",
      times: 1,
    });
    const { run, title } = await begin(stage, "Repeated");
    await stage.delivery(run, "ambiguous");
    await step(stage, 59_000);
    expect(await stage.sends(title)).toBe(1);
    await step(stage, 1_000);
    await stage.delivery(run, "applied");
    const [first, second] = (await stage.ann.messages()).filter(({ text }) => text.includes(title));
    expect(first?.text).not.toContain("Possible repeat");
    expect(second?.text).toContain("Possible repeat of the card from ");
    await stage.ann.tap(first?.id as number, "Approve");
    await stage.finished(run);
    await stage.ann.waitForSettled(first?.id as number);
    await stage.ann.waitForSettled(second?.id as number);
    expect(await stage.copies(title)).toBe(2);
  });

  test("and that never arrived is there once after all", async () => {
    const stage = await serviceFor(RESEND);
    await stage.standIn.control.faults.add({
      kind: "drop",
      when: "before",
      how: "rst",
      method: "sendMessage",
      times: 1,
    });
    const { run, title } = await begin(stage, "Lost");
    await stage.delivery(run, "ambiguous");
    await step(stage, 60_000);
    await stage.ann.waitForCard(title);
    await step(stage, 600_000);
    expect(await stage.copies(title)).toBe(1);
  });

  test.each([
    ["Yes", 1, "did arrive, says Bea"],
    ["No, send again", 2, "is sent again"],
    ["Drop it", 1, "is not sent again by Bea"],
  ])("is settled by one tap in another chat: %s", async (button, copies, words) => {
    const stage = await serviceFor(at(1_001, 1_002));
    await stage.standIn.control.faults.add({
      kind: "drop",
      when: "after",
      how: "rst",
      method: "sendMessage",
      chat: 1_001,
      times: 1,
    });
    const { run, title } = await begin(stage, "Asked about");
    await stage.bea.waitForCard(title);
    await stage.delivery(run, "ambiguous");
    await step(stage, DOUBT.askAfterMs);
    const question = await stage.bea.waitForCard("Did a card arrive in Ann\u2019s chat?");
    await stage.bea.tap(question.id, button);
    const closed = await stage.bea.waitForSettled(question.id);
    expect(closed.text).toContain(words);
    await stage.channelWhen(({ ambiguous, queued }) => ambiguous + queued === 0, "an end of the doubt");
    expect(await stage.copies(title)).toBe(copies);
    const { doubts } = await stage.channelWhen(() => true, "its figures");
    expect(doubts).toMatchObject({ oldestAt: null, ended: 1, longestMs: DOUBT.askAfterMs });
  });
});

describe("after a silence of more than 150 seconds", () => {
  test("a card is offered again and says why; the old copy stays valid and is marked; not again within 12 hours", async () => {
    const stage = await serviceFor(at(1_001));
    const asked = await confirmed(stage, "Silence");
    await silence(stage, OFFER.silenceMs + 30_000);
    const anew = await stage.ann.waitForCard(asked.title, asked.card);
    expect(anew.text).toMatch(/I was offline from .* to .*\. If you tapped in that time, please tap again\./);
    await stage.waitForText(asked.card, "Shown again below at");
    expect(liveButtons(await message(stage.ann, asked.card))).toHaveLength(3);
    await silence(stage, OFFER.silenceMs + 30_000);
    await stage.barrier();
    expect(await stage.copies(asked.title)).toBe(2);
    await stage.ann.tap(asked.card, "Approve");
    await stage.finished(asked.run);
    await stage.ann.waitForSettled(asked.card);
    await stage.ann.waitForSettled(anew.id);
    expect(await stage.copies(asked.title)).toBe(2);
  });

  test("of 150 seconds nothing is offered", async () => {
    const stage = await serviceFor(at(1_001));
    const asked = await confirmed(stage, "Short silence");
    await silence(stage, OFFER.silenceMs);
    await stage.barrier();
    expect(await stage.copies(asked.title)).toBe(1);
  });

  test("the server was away itself: the same", async () => {
    const stage = await serviceFor(at(1_001));
    const asked = await confirmed(stage, "Server away");
    await until(() => stage.rows("SELECT 1 FROM channels WHERE polled_at IS NOT NULL").length > 0, "a good poll");
    await stage.server.kill("SIGKILL");
    stage.clock?.leap(OFFER.silenceMs + 30_000);
    await stage.restart();
    const anew = await stage.ann.waitForCard(asked.title, asked.card);
    expect(anew.text).toContain("I was offline from");
  });

  test("more than five cards of a chat come as one message with a button each", async () => {
    const stage = await serviceFor(at(1_001));
    const asked = [];
    for (let i = 0; i <= OFFER.anew; i += 1) asked.push(await confirmed(stage, "Many"));
    await silence(stage, OFFER.silenceMs + 30_000);
    const digest = await stage.ann.waitForCard("6 decisions wait here");
    expect(liveButtons(digest).map(({ text }) => text)).toEqual(asked.map(({ title }) => title));
    for (const { title } of asked) expect(digest.text).toContain(title);
    const third = asked[2];
    const tapped = await stage.ann.tap(digest.id, third?.title as string);
    expect(await stage.ann.waitForToast(tapped)).toContain("is shown again below");
    const anew = await stage.ann.waitForCard("I was offline", digest.id);
    expect(anew.text).toContain(third?.title);
    const copies = await Promise.all(asked.map(({ title }) => stage.sends(`\u{1F7E1} ${title}`)));
    expect(copies).toEqual([1, 1, 2, 1, 1, 1]);
  });
});
