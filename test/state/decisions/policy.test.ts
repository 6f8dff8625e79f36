/** What an audience's policy adds to the first valid answer: votes, veto, channels, reminders, a second audience, and people who change. */
import { describe, expect, it } from "vitest";
import type { Config } from "../../../src/contracts/config.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import type { Access } from "../../../src/state/decisions/access.ts";
import { ACCESS, ANN, BEA, cardOf, GUEST, LOBBY, MAIN, OPS, replyOf, STRANGER, World, type Asked } from "./fixture.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CEM = "104";
const CHOICES = { approve: { label: "Approve" }, hold: { label: "Hold" }, stop: { label: "Stop" } };
type Policy = Config["audiences"][string]["policy"];

/** Ann and Bea are asked in one chat; Cem is whom the second audience asks in the other. */
function accessWith(policy: Policy, change: Partial<Access> = {}): Access {
  const profile = ACCESS.profiles["main"] as NonNullable<Access["profiles"][string]>;
  return {
    ...ACCESS,
    people: { ...ACCESS.people, cem: { name: "Cem", telegram: [CEM] } },
    audiences: {
      ops: { destinations: [`${MAIN}/${OPS}`], people: ["ann", "bea"], policy, assurance: "any" },
      "on-call": { destinations: [`${MAIN}/${LOBBY}/7`], people: ["cem"], policy: { quorum: 1 }, assurance: "any" },
    },
    profiles: { main: { ...profile, allowedUserIds: [ANN, BEA, GUEST, CEM] } },
    timeZone: "UTC",
    ...change,
  };
}

async function open(policy: Policy): Promise<World> {
  const world = await World.open();
  world.access = accessWith(policy);
  return world;
}

const ask = (world: World, change: Record<string, unknown> = {}): Promise<Asked> =>
  world.ask({ choices: CHOICES, ...change });
const vote = (world: World, asked: Asked, user: string, choice: string) =>
  world.answer(asked, choice, { user: { actorId: user } }).then(({ result }) => result);
const policyOf = (world: World, asked: Asked) => world.store.read.decisions.get(asked.decisionId).policy;
const cards = (frames: readonly Perform[]): Perform[] => frames.filter(({ content }) => content?.kind === "card");
const replies = (frames: readonly Perform[]): Perform[] => frames.filter(({ content }) => content?.kind === "reply");

describe("a quorum", () => {
  it("is reached by different persons who choose the same; every vote is shown on the card", async () => {
    const world = await open({ quorum: 2 });
    const asked = await ask(world);
    const card = await world.deliver();
    expect(cardOf(card.perform).state.votes).toEqual({ need: 2, veto: [], cast: [] });
    expect(await world.tap(card, "approve")).toMatchObject({
      verdict: "recorded",
      ack: { code: "votesRecorded", label: "Approve", have: 1, need: 2 },
    });
    const [edit] = await world.drain();
    expect(edit).toMatchObject({ op: "edit", reference: card.references[0] });
    expect(cardOf(edit as Perform).state).toMatchObject({
      status: { kind: "pending" },
      votes: { cast: [{ label: "Approve", by: ["Ann"] }] },
    });
    expect(policyOf(world, asked)).toMatchObject({ quorum: 2, votes: [{ label: "Approve", by: ["Ann"] }] });
    expect(
      await world.tap(edit as Perform, "approve", { user: BEA, reference: card.references[0] as string }),
    ).toMatchObject({ verdict: "accepted", ack: { code: "chosen", label: "Approve" } });
    expect(world.output(asked)).toEqual({ choice: "approve" });
    const [settled] = await world.drain();
    expect(cardOf(settled as Perform).state).toMatchObject({
      status: { kind: "chosen", by: "Bea" },
      votes: { cast: [{ label: "Approve", by: ["Ann", "Bea"] }] },
    });
  });

  it("counts a person once: the same vote again changes nothing, another one replaces it", async () => {
    const world = await open({ quorum: 2 });
    const asked = await ask(world);
    await world.deliver();
    await vote(world, asked, ANN, "approve");
    expect(await world.drain()).toHaveLength(1);
    expect(await vote(world, asked, ANN, "approve")).toMatchObject({ kind: "recorded", reply: { have: 1 } });
    expect(await world.drain()).toHaveLength(0);
    expect(await vote(world, asked, ANN, "stop")).toMatchObject({ kind: "recorded" });
    expect(policyOf(world, asked).votes).toEqual([{ label: "Stop", by: ["Ann"] }]);
    expect(await world.drain()).toHaveLength(1);
    expect(await vote(world, asked, BEA, "approve")).toMatchObject({ kind: "recorded", reply: { have: 1 } });
  });

  it("shows a vote that came while the card was on its way once the card is known", async () => {
    const world = await open({ quorum: 2 });
    const asked = await ask(world);
    const perform = await world.mustNext();
    await world.dispatch(perform);
    await vote(world, asked, ANN, "approve");
    const reference = world.reference(OPS);
    await world.store_(perform, 1, 1, reference);
    await world.finish(perform, "accepted");
    const [edit, ...rest] = await world.drain();
    expect(edit).toMatchObject({ op: "edit", reference });
    expect(cardOf(edit as Perform).state.votes?.cast).toEqual([{ label: "Approve", by: ["Ann"] }]);
    expect(rest).toEqual([]);
  });

  it("is not needed for a veto, which decides at once, whatever was voted before", async () => {
    const world = await open({ quorum: 2, veto: ["stop", "elsewhere"] });
    const asked = await ask(world);
    expect(policyOf(world, asked).veto).toEqual(["Stop"]);
    await vote(world, asked, ANN, "approve");
    expect(await vote(world, asked, BEA, "stop")).toMatchObject({ kind: "accepted" });
    expect(world.output(asked)).toEqual({ choice: "stop" });
  });

  it("lets the workflow mark a veto, and then also asks for the text that goes with it", async () => {
    const world = await open({ quorum: 2 });
    const input = { name: "changes", prompt: "What should change?" };
    await expect(ask(world, { choices: { ...CHOICES, replan: { label: "Replan", input } } })).rejects.toMatchObject({
      kind: "presentationInvalid",
      message: expect.stringContaining('add it to "veto" of the audience'),
    });
    const marked = await open({ quorum: 2, veto: ["stop"] });
    const asked = await ask(marked, { choices: { ...CHOICES, replan: { label: "Replan", input, veto: true } } });
    expect(policyOf(marked, asked).veto).toEqual(["Stop", "Replan"]);
    await vote(marked, asked, ANN, "approve");
    expect((await marked.answer(asked, "replan", { input: "use blue", user: { actorId: BEA } })).result.kind).toBe(
      "accepted",
    );
    expect(marked.output(asked)).toEqual({ choice: "replan", input: { changes: "use blue" } });
  });

  it("that everybody missed is said on the card and in the list; a changed vote still decides", async () => {
    const world = await open({ quorum: 2 });
    const asked = await ask(world);
    const card = await world.deliver();
    await vote(world, asked, ANN, "approve");
    expect(await vote(world, asked, BEA, "hold")).toMatchObject({
      kind: "recorded",
      reply: { code: "votesRecorded", have: 1, everybodyVoted: true },
    });
    expect(policyOf(world, asked).everybodyVoted).toBe(true);
    const edits = await world.drain();
    // One edit shows both votes: what an older one would have shown, the newer one shows too.
    expect(edits.map(({ reference }) => reference)).toEqual([card.references[0]]);
    expect(cardOf(edits.at(-1) as Perform).state.votes).toMatchObject({ everybodyVoted: true });
    expect(await vote(world, asked, BEA, "approve")).toMatchObject({ kind: "accepted" });
    expect(policyOf(world, asked).everybodyVoted).toBe(false);
  });

  it("is left to the timeout at the deadline; the votes stay in the record", async () => {
    const world = await open({ quorum: 2 });
    const asked = await ask(world, { onTimeout: { afterMs: HOUR, response: { choice: "stop" } } });
    await vote(world, asked, ANN, "approve");
    world.clock.advance(HOUR);
    await world.store.decisions.expire({ decisionId: asked.decisionId, access: world.access });
    expect(world.store.read.decisions.get(asked.decisionId)).toMatchObject({
      resolution: { provenance: "timeout_policy", choice: "stop", by: null },
      policy: { votes: [{ label: "Approve", by: ["Ann"] }] },
    });
  });

  it("binds the policy into the request: another policy is another digest", async () => {
    const world = await open({ quorum: 2 });
    const first = await ask(world);
    world.access = accessWith({ quorum: 2, veto: ["stop"] });
    const second = await ask(world);
    const policies = world.all<{ policy: string }>("SELECT policy FROM human_decisions ORDER BY decision_no");
    expect(policies.map(({ policy }) => JSON.parse(policy))).toEqual([{ quorum: 2 }, { quorum: 2, veto: ["stop"] }]);
    expect(first.requestDigest).not.toBe(second.requestDigest);
    // The policy that counts is the one under which it was asked.
    world.access = accessWith({ quorum: 1 });
    expect(await vote(world, first, ANN, "approve")).toMatchObject({ kind: "recorded" });
  });
});

describe("a policy that requires", () => {
  it("a channel refuses answers of others and says which it takes", async () => {
    const world = await open({ quorum: 1, require: { channels: ["telegram"] } });
    const asked = await ask(world);
    const local = { type: "control", channel: "terminal", actorId: "uid:1000", personId: "ann" } as const;
    expect((await world.answer(asked, "approve", { user: { ...local, assurance: "local" } })).result).toMatchObject({
      kind: "notAllowed",
      reply: { code: "wrongChannel", channels: ["telegram"] },
    });
    expect(policyOf(world, asked).channels).toEqual(["telegram"]);
    expect(await vote(world, asked, ANN, "approve")).toMatchObject({ kind: "accepted" });
  });

  it("an assurance refuses answers from this machine, even of somebody on the list", async () => {
    const world = await open({ quorum: 1, require: { assurance: "remote" } });
    const asked = await ask(world);
    const local = { type: "control", channel: "terminal", actorId: "uid:1000", personId: "ann" } as const;
    expect((await world.answer(asked, "approve", { user: { ...local, assurance: "local" } })).result).toMatchObject({
      kind: "notAllowed",
      reply: { code: "remoteOnly" },
    });
  });
});

describe("a reminder", () => {
  const remindAfter = { minutes: 30, everyMinutes: 60, atMost: 3 };
  const remind = (world: World, { decisionId }: Asked) =>
    world.store.decisions.remind({ decisionId, access: world.access });

  it("answers the card, is another text each time, and ends with its cap", async () => {
    const world = await open({ quorum: 1, remindAfter });
    const asked = await ask(world);
    const card = await world.deliver();
    expect(world.store.read.decisions.nextDue()).toBe(world.clock.at + 30 * MINUTE);
    const seen: unknown[] = [];
    for (let more = true; more;) {
      const due = world.store.read.decisions.nextDue();
      more = due !== null;
      if (due === null) continue;
      world.clock.at = due - 1;
      expect(await remind(world, asked)).toMatchObject({ kind: "notDue" });
      world.clock.at = due;
      expect(world.store.read.decisions.dueNotices(due)).toEqual([{ decisionId: asked.decisionId, what: "remind" }]);
      expect(await remind(world, asked)).toMatchObject({ kind: "reminded", messages: 1 });
      const [frame] = await world.drain();
      expect(frame).toMatchObject({ op: "post", replyTo: card.references[0], destination: `${MAIN}/${OPS}` });
      seen.push(replyOf(frame as Perform).reply);
    }
    expect(seen).toMatchObject([
      { code: "reminder", number: 1, last: false },
      { code: "reminder", number: 2, last: false },
      { code: "reminder", number: 3, last: true },
    ]);
    expect(policyOf(world, asked).reminders).toEqual({ sent: 3, atMost: 3, nextAt: null });
  });

  it("is one after a sleep over several, and the next keeps the beat", async () => {
    const world = await open({ quorum: 1, remindAfter });
    const asked = await ask(world);
    await world.deliver();
    const start = world.clock.at;
    world.clock.advance(36 * HOUR);
    expect(await remind(world, asked)).toMatchObject({ kind: "reminded", number: 1 });
    expect(await remind(world, asked)).toMatchObject({ kind: "notDue" });
    expect(world.store.read.decisions.nextDue()).toBe(start + 36 * HOUR + 30 * MINUTE);
  });

  it("does not come in the night, also when its timer is late", async () => {
    const quiet = { from: "22:00", to: "07:00" };
    const world = await open({ quorum: 1, remindAfter: { minutes: 30, atMost: 3, quiet } });
    world.access = { ...world.access, timeZone: "Europe/Berlin" };
    world.clock.at = Date.parse("2027-03-27T20:00:00Z");
    const asked = await ask(world);
    await world.deliver();
    // It was due at half past nine in the evening; the machine slept until after midnight.
    world.clock.at = Date.parse("2027-03-27T23:30:00Z");
    expect(await remind(world, asked)).toMatchObject({ kind: "notDue" });
    expect(await world.drain()).toEqual([]);
    // Seven o'clock on the day on which clocks go forward.
    expect(new Date(world.store.read.decisions.nextDue() ?? 0).toISOString()).toBe("2027-03-28T05:00:00.000Z");
    world.clock.at = Date.parse("2027-03-28T05:00:00Z");
    expect(await remind(world, asked)).toMatchObject({ kind: "reminded", number: 1 });
  });

  it("names those who have not voted yet", async () => {
    const world = await open({ quorum: 2, remindAfter });
    const asked = await ask(world);
    await world.deliver();
    await vote(world, asked, ANN, "approve");
    await world.drain();
    world.clock.advance(30 * MINUTE);
    await remind(world, asked);
    expect(replyOf((await world.drain())[0] as Perform).reply).toMatchObject({ code: "reminder", missing: ["Bea"] });
  });

  it("that waits to be sent is not sent any more once the decision is over", async () => {
    const world = await open({ quorum: 1, remindAfter });
    const asked = await ask(world);
    await world.deliver();
    world.clock.advance(30 * MINUTE);
    await remind(world, asked);
    const given = await world.mustNext();
    expect(given.content?.kind).toBe("reply");
    await vote(world, asked, ANN, "approve");
    expect(await world.dispatch(given)).toEqual({ go: false });
    world.clock.advance(HOUR);
    expect(await remind(world, asked)).toMatchObject({ kind: "notDue" });
    expect(replies(await world.drain())).toEqual([]);
  });

  it("waits until there is a card to remind of, and none comes after the deadline", async () => {
    const world = await open({ quorum: 1, remindAfter });
    const asked = await ask(world, { expiresAt: world.clock.at + HOUR });
    world.clock.advance(30 * MINUTE);
    expect(await remind(world, asked)).toMatchObject({ kind: "notDue" });
    expect(policyOf(world, asked).reminders).toMatchObject({ sent: 0 });
    world.clock.advance(2 * HOUR);
    expect(await remind(world, asked)).toMatchObject({ kind: "notDue" });
    expect(world.count("human_decisions", "remind_at IS NOT NULL")).toBe(0);
  });
});

describe("an escalation", () => {
  const escalateAfter = { minutes: 30, audience: "on-call" };
  const escalate = (world: World, { decisionId }: Asked) =>
    world.store.decisions.escalate({ decisionId, access: world.access });

  it("asks the second audience too, tells the first, and changes no digest", async () => {
    const world = await open({ quorum: 1, escalateAfter });
    const asked = await ask(world);
    const card = await world.deliver();
    expect((await vote(world, asked, CEM, "approve")).reply).toEqual({ code: "notOnList" });
    world.clock.advance(30 * MINUTE - 1);
    expect(await escalate(world, asked)).toEqual({ kind: "notDue" });
    world.clock.advance(1);
    expect(await escalate(world, asked)).toEqual({ kind: "escalated" });
    expect(await escalate(world, asked)).toEqual({ kind: "notDue" });
    const frames = await world.drain();
    const second = frames.find(({ destination }) => destination === `${MAIN}/${LOBBY}/7`);
    expect(cardOf(second as Perform)).toMatchObject({
      card: { requestDigest: asked.requestDigest, audience: ["Ann", "Bea", "Cem"] },
    });
    expect(replies(frames)).toMatchObject([
      {
        destination: `${MAIN}/${OPS}`,
        replyTo: card.references[0],
        content: { reply: { code: "escalated", audience: "on-call", names: ["Cem"], cause: "silence" } },
      },
    ]);
    const edit = frames.find(({ op }) => op === "edit");
    expect(cardOf(edit as Perform).state.notes?.escalated).toMatchObject({ audience: "on-call", names: ["Cem"] });
    expect(policyOf(world, asked).escalation).toMatchObject({ to: "on-call", names: ["Cem"], cause: "silence" });
    // The first audience still counts, and so does the second.
    expect((await vote(world, asked, CEM, "approve")).kind).toBe("accepted");
    expect((await vote(world, asked, ANN, "approve")).kind).toBe("alreadyDecided");
    expect(cards(await world.drain()).map(({ destination }) => destination)).toEqual([
      `${MAIN}/${OPS}`,
      `${MAIN}/${LOBBY}/7`,
    ]);
  });

  it("keeps what the second audience wants kept: its cards are protected", async () => {
    const world = await open({ quorum: 1, escalateAfter });
    const onCall = { ...world.access.audiences["on-call"]!, protectContent: true };
    world.access = { ...world.access, audiences: { ...world.access.audiences, "on-call": onCall } };
    const asked = await ask(world);
    expect((await world.deliver()).perform.protect).toBeUndefined();
    world.clock.advance(30 * MINUTE);
    await escalate(world, asked);
    const second = (await world.drain()).find(({ destination }) => destination === `${MAIN}/${LOBBY}/7`);
    expect(second?.protect).toBe(true);
    expect(world.store.read.decisions.card(asked.decisionId).escalatedTo).toBe("on-call");
  });

  it("comes at once when no destination can show the card", async () => {
    const world = await open({ quorum: 1, escalateAfter });
    const asked = await ask(world);
    const perform = await world.mustNext();
    await world.dispatch(perform);
    await world.finish(perform, "rejected", { placeDead: true });
    expect(world.store.read.decisions.dueNotices(world.clock.at)).toEqual([
      { decisionId: asked.decisionId, what: "escalate" },
    ]);
    expect(await escalate(world, asked)).toEqual({ kind: "escalated" });
    expect(policyOf(world, asked).escalation).toMatchObject({ cause: "undeliverable" });
    expect((await world.drain()).map(({ destination }) => destination)).toEqual([`${MAIN}/${LOBBY}/7`]);
  });

  it("comes at once when everybody has voted in vain, and brings the vote that decides", async () => {
    const world = await open({ quorum: 2, escalateAfter });
    const asked = await ask(world);
    await world.deliver();
    await vote(world, asked, ANN, "approve");
    expect(await vote(world, asked, BEA, "stop")).toMatchObject({ reply: { everybodyVoted: true } });
    expect(policyOf(world, asked)).toMatchObject({ everybodyVoted: false, escalation: { cause: "noQuorum" } });
    expect(await vote(world, asked, CEM, "stop")).toMatchObject({ kind: "accepted" });
    expect(world.output(asked)).toEqual({ choice: "stop" });
  });

  it("to an audience that is not configured any more fails once, and says so", async () => {
    const world = await open({ quorum: 1, escalateAfter });
    const asked = await ask(world);
    const { ops } = world.access.audiences;
    world.access = { ...world.access, audiences: { ops: ops as NonNullable<typeof ops> } };
    world.clock.advance(30 * MINUTE);
    expect(await escalate(world, asked)).toEqual({ kind: "failed" });
    expect(policyOf(world, asked).escalation).toMatchObject({ at: null, dueAt: null });
    expect(world.store.read.decisions.nextDue()).toBeNull();
    expect((await vote(world, asked, ANN, "approve")).kind).toBe("accepted");
  });

  it("does not come once the decision is over, or its deadline has passed", async () => {
    const world = await open({ quorum: 1, escalateAfter });
    const late = await ask(world, { expiresAt: world.clock.at + 10 * MINUTE });
    const answered = await ask(world);
    await vote(world, answered, ANN, "approve");
    world.clock.advance(HOUR);
    expect(await escalate(world, answered)).toEqual({ kind: "notDue" });
    expect(await escalate(world, late)).toEqual({ kind: "notDue" });
    expect(world.count("effects", `destination = '${MAIN}/${LOBBY}/7'`)).toBe(0);
  });
});

describe("people who change", () => {
  const revise = (world: World) => world.store.decisions.revise({ access: world.access, after: 0 });
  const without = (access: Access, person: string): Access => ({
    ...access,
    audiences: Object.fromEntries(
      Object.entries(access.audiences).map(([name, audience]) => [
        name,
        { ...audience, people: audience.people?.filter((id) => id !== person) },
      ]),
    ),
  });

  it("count from the next answer on: whoever was added may answer, whoever was removed may not", async () => {
    const world = await open({ quorum: 1 });
    const [first, second] = [await ask(world), await ask(world)];
    expect((await vote(world, first, CEM, "approve")).reply).toEqual({ code: "notOnList" });
    const { ops } = world.access.audiences;
    const people = ["bea", "cem"];
    world.access = { ...world.access, audiences: { ops: { ...(ops as NonNullable<typeof ops>), people } } };
    expect((await vote(world, first, ANN, "approve")).reply).toEqual({ code: "notOnList" });
    expect((await vote(world, first, CEM, "approve")).kind).toBe("accepted");
    expect((await vote(world, second, BEA, "approve")).kind).toBe("accepted");
    expect((await vote(world, second, STRANGER, "approve")).reply).toEqual({ code: "notOnList" });
  });

  it("lose the votes that they gave, on the card too; they stay lost until they vote again", async () => {
    const world = await open({ quorum: 2 });
    const asked = await ask(world);
    await world.deliver();
    await vote(world, asked, ANN, "approve");
    await world.drain();
    const full = world.access;
    world.access = without(full, "ann");
    expect(await revise(world)).toEqual({ promptsClosed: 0, votesRevoked: 1, next: null });
    expect(await revise(world)).toEqual({ promptsClosed: 0, votesRevoked: 0, next: null });
    expect(cardOf((await world.drain())[0] as Perform).state.votes?.cast).toEqual([]);
    world.access = full;
    expect(await vote(world, asked, BEA, "approve")).toMatchObject({ kind: "recorded", reply: { have: 1 } });
    expect(await vote(world, asked, ANN, "approve")).toMatchObject({ kind: "accepted" });
  });

  it("make a card say and take back that everybody has voted, also without a vote that was lost", async () => {
    const world = await open({ quorum: 2 });
    const asked = await ask(world);
    await world.deliver();
    await vote(world, asked, ANN, "approve");
    await vote(world, asked, BEA, "stop");
    const everybody = async (): Promise<(boolean | undefined)[]> =>
      (await world.drain()).map((frame) => cardOf(frame).state.votes?.everybodyVoted);
    const before = await everybody();
    const { ops } = world.access.audiences;
    const listed = ops?.people ?? [];
    const setPeople = async (people: string[]): Promise<void> => {
      world.access = { ...world.access, audiences: { ops: { ...(ops as NonNullable<typeof ops>), people } } };
      await revise(world);
    };
    expect(before.at(-1)).toBe(true);
    // Somebody new may vote: nobody's vote is lost, and the card has to say something else all the same.
    await setPeople([...listed, "cem"]);
    expect(await everybody()).toEqual([undefined]);
    await setPeople(listed);
    expect(await everybody()).toEqual([true]);
  });

  it("lose their votes at the next answer even if nobody noticed before", async () => {
    const world = await open({ quorum: 2 });
    const asked = await ask(world);
    await vote(world, asked, ANN, "approve");
    world.access = without(world.access, "ann");
    expect(await vote(world, asked, BEA, "approve")).toMatchObject({ kind: "recorded", reply: { have: 1 } });
    expect(world.count("decision_votes", "revoked_at IS NOT NULL")).toBe(1);
  });

  it.each(["before its first byte", "after it"])(
    "have a question that is in the adapter's hands taken back: %s",
    async (moment) => {
      const world = await open({ quorum: 1 });
      const card = await (async () => {
        await world.ask();
        return world.deliver();
      })();
      await world.tap(card, "replan");
      const prompt = await world.mustNext();
      if (moment === "after it") await world.dispatch(prompt);
      world.access = without(world.access, "ann");
      await revise(world);
      if (moment === "after it") {
        await world.store_(prompt, 1, 1, `${OPS}:4711`);
        await world.finish(prompt, "accepted");
        expect(await world.drain()).toMatchObject([{ op: "delete", reference: `${OPS}:4711` }]);
      } else expect(await world.dispatch(prompt)).toEqual({ go: false });
      expect(await world.drain()).toEqual([]);
    },
  );

  it("have their question for text taken back, and their late reply does not count", async () => {
    const world = await open({ quorum: 1 });
    const asked = await world.ask();
    const card = await world.deliver();
    await world.tap(card, "replan");
    const prompt = await world.deliver();
    world.access = without(world.access, "ann");
    expect(await revise(world)).toEqual({ promptsClosed: 1, votesRevoked: 0, next: null });
    expect(await world.drain()).toMatchObject([{ op: "delete", reference: prompt.references[0] }]);
    await world.say("use the blue pool", { replyTo: prompt.references[0] as string });
    expect(world.store.read.decisions.get(asked.decisionId).status).toBe("pending");
    // Bea is asked as before; her question stays.
    await world.drain();
    await world.tap(card, "replan", { user: BEA });
    await world.deliver();
    expect(await revise(world)).toEqual({ promptsClosed: 0, votesRevoked: 0, next: null });
  });
});
