/** The operator chat: what a command is answered, what a button does, and who may. */
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { DefinitionSnapshot } from "../../../src/contracts/definition.ts";
import { displayStatus } from "../../../src/contracts/run-status.ts";
import type { OperatorAction } from "../../../src/contracts/decision/operator-codes.ts";
import { OPERATOR, PAGE } from "../../../src/contracts/limits.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import {
  ANN,
  BEA,
  buttonOf,
  cardOf,
  ELSEWHERE,
  GUEST,
  LOBBY,
  MAIN,
  OPS,
  replyOf,
  STRANGER,
  World,
  ACCESS,
  type Posted,
  type TapOptions,
} from "../decisions/fixture.ts";
import { Statements } from "../../../src/state/statements.ts";
import { becomeReady, claimNext, startRun } from "../fixture.ts";

const DEPLOYING: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "deploying",
  startAt: "act",
  maxSteps: 5,
  nodes: {
    act: { type: "action", timeoutMs: null, effect: { recovery: "manual", type: "deploy" } },
    end: { type: "compute", timeoutMs: null },
  },
  edges: [{ from: "act", to: "end" }],
};

/** Makes so many more effects like one that is there, past the store. */
function copyEffect(world: World, effectId: string, count: number): void {
  const db = new Database(world.path);
  const columns = (db.pragma("table_info(effects)") as { name: string }[]).map(({ name }) => name);
  const own = new Set(["effect_no", "effect_id", "short_id", "idempotency_key"]);
  const copied = columns.map((name) =>
    name === "effect_no" ? "NULL" : own.has(name) ? `${name} || '-' || n.value` : name,
  );
  db.prepare(
    `INSERT INTO effects (${columns.join(", ")}) SELECT ${copied.join(", ")} FROM effects, json_each(?) n WHERE effect_id = ?`,
  ).run(JSON.stringify(Array.from({ length: count }, (_, n) => n)), effectId);
  db.close();
}

type Received = Awaited<ReturnType<World["command"]>>;

/** A world in which Ann's private chat is allowed too. */
async function open(): Promise<World> {
  const world = await World.open();
  const main = ACCESS.profiles["main"]!;
  world.access = {
    ...ACCESS,
    profiles: { main: { ...main, allowedChatIds: [...main.allowedChatIds, ANN, BEA] } },
  };
  return world;
}

function write(world: World, text: string, options: TapOptions = {}): Promise<Received> {
  const [command = "", ...args] = text.split(" ");
  return world.command(args.join(" "), { command, ...options });
}

/** What a command is answered: the frame that goes out next, sent. */
async function ask(world: World, text: string, options: TapOptions = {}): Promise<Posted> {
  await write(world, text, options);
  return world.deliver();
}

const press = (world: World, posted: Posted, action: OperatorAction, item = -1, options: TapOptions = {}) =>
  world.tapToken(buttonOf(posted.perform, action, item), {
    reference: posted.references[0] as string,
    place: posted.perform.destination.split("/")[1] as string,
    ...options,
  });

const events = (world: World, type: string): { actor: string; payload: string }[] =>
  world.all(`SELECT actor_id AS actor, payload FROM events WHERE event_type = '${type}' ORDER BY recorded_at`);

const kinds = (frames: Perform[]): string[] =>
  frames.map(({ content, op }) => `${op} ${content?.kind === "reply" ? content.reply.code : content?.kind}`);

describe("who is heard", () => {
  it.each([
    ["a stranger in an allowed chat", { user: STRANGER }, "notOnList"],
    ["an operator in a chat that is not allowed", { place: ELSEWHERE }, "silent"],
    ["a message that was edited into a command", { traits: ["edited"] }, "ignored"],
    ["a forwarded command", { traits: ["forwarded"] }, "ignored"],
  ] as [string, TapOptions, string][])("%s gets no answer and cancels nothing", async (_who, options, verdict) => {
    const world = await open();
    const asked = await world.ask();
    await world.drain();
    expect(await write(world, `cancel ${asked.runId}`, options)).toMatchObject({ verdict });
    expect(await world.drain()).toEqual([]);
    expect(world.store.read.runs.get(asked.runId).status).toBe("waiting");
  });
});

describe("commands that there are not, and plain words", () => {
  it("get help in a private chat, also when nothing waits, once a minute for plain words", async () => {
    const world = await open();
    expect(replyOf((await ask(world, "desicions", { place: ANN })).perform).reply).toEqual({
      code: "unknownCommand",
      given: "desicions",
      nearest: "decisions",
    });
    const yes = { ...(await sayDirect(world, "yes")) };
    expect(yes).toMatchObject({ verdict: "help" });
    expect(kinds(await world.drain())).toEqual(["post help"]);
    expect(await sayDirect(world, "yes")).toMatchObject({ verdict: "ignored" });
    world.clock.advance(60_000);
    expect(await sayDirect(world, "yes?")).toMatchObject({ verdict: "help" });
  });

  it("get help once a minute in a group, where they may be meant for another bot", async () => {
    const world = await open();
    expect(await write(world, "weather")).toMatchObject({ verdict: "unknownCommand" });
    expect(await write(world, "weather")).toMatchObject({ verdict: "ignored" });
    expect(await world.say("yes")).toMatchObject({ verdict: "ignored" });
    const [told] = [await world.deliver()];
    expect(replyOf(told.perform).reply.code).toBe("unknownCommand");
    world.clock.advance(60_000);
    // Who answers a message of ours is not left alone with it.
    expect(await world.say("yes", { replyTo: told.references[0] as string })).toMatchObject({ verdict: "help" });
  });
});

function sayDirect(world: World, text: string): Promise<Received> {
  const updateId = world.nextUpdate();
  return world.receive({
    type: "inbound",
    updateId,
    digest: `d-${updateId}`,
    sentAt: null,
    kind: "message",
    text,
    place: ANN,
    topic: null,
    reference: world.reference(ANN),
    replyTo: null,
    sender: { id: ANN, name: "Ann" },
    traits: [],
    direct: true,
  });
}

describe("/help, /monitors, /status", () => {
  it("list what can be asked, say that there are no monitors, and tell how it stands", async () => {
    const world = await open();
    expect(replyOf((await ask(world, "help")).perform).reply).toMatchObject({ code: "commandHelp", waiting: 0 });
    expect(replyOf((await ask(world, "start")).perform).reply).toMatchObject({ code: "commandHelp" });
    expect(replyOf((await ask(world, "monitors")).perform).reply).toMatchObject({
      code: "monitorList",
      total: 0,
    });
    await world.ask();
    await world.deliver();
    expect(replyOf((await ask(world, "status")).perform).reply).toEqual({
      code: "serviceStatus",
      channels: [],
      runs: [{ status: "waiting", count: 1 }],
      decisions: 1,
      problems: 0,
      checks: { total: 0, troubled: 0 },
    });
    // An operator who may not answer it is told that nothing waits.
    expect(replyOf((await ask(world, "status", { user: GUEST })).perform).reply).toMatchObject({ decisions: 0 });
  });
});

describe("/decisions", () => {
  it("shows a card again, once for each button; the copies belong to one decision", async () => {
    const world = await open();
    const asked = await world.ask();
    const first = await world.deliver();
    const list = await ask(world, "decisions");
    expect(replyOf(list.perform).reply).toMatchObject({
      code: "decisionList",
      total: 1,
      items: [{ item: 1, title: "Approve the deployment", fingerprint: asked.fingerprint }],
    });
    expect(await press(world, list, "showAgain", 1)).toMatchObject({
      ack: { code: "shownAgain", title: "Approve the deployment" },
    });
    expect(await press(world, list, "showAgain", 1)).toMatchObject({ ack: { code: "buttonUsed", by: "Ann" } });
    const frames = [await world.deliver(), await world.deliver()];
    expect(kinds(frames.map(({ perform }) => perform)).toSorted()).toEqual(["edit decisionList", "post card"]);
    const again = frames.find(({ perform }) => perform.op === "post") as Posted;
    expect(await world.tap(again, "approve", { user: BEA })).toMatchObject({ verdict: "accepted" });
    const edits = (await world.drain()).filter(({ op }) => op === "edit");
    expect(new Set(edits.map(({ reference }) => reference))).toEqual(
      new Set([...first.references, ...again.references]),
    );
    expect(events(world, "decision.offeredAgain")).toMatchObject([{ actor: "ann" }]);
  });

  it("shows a card of a group in the private chat of somebody who may answer, and to nobody else", async () => {
    const world = await open();
    await world.ask();
    await world.deliver();
    const list = await ask(world, "decisions", { place: ANN });
    await press(world, list, "showAgain", 1, { place: ANN });
    const frames = await world.drain();
    expect(frames.find(({ op }) => op === "post")).toMatchObject({ destination: `${MAIN}/${ANN}` });
    // In a chat without its card it is not named.
    expect(replyOf((await ask(world, "decisions", { place: LOBBY })).perform).reply).toMatchObject({ total: 0 });
    expect(replyOf((await ask(world, "decisions", { user: GUEST })).perform).reply).toMatchObject({ total: 0 });
  });

  it("comes in pages, each asked for with a button", async () => {
    const world = await open();
    for (let at = 1; at <= 8; at += 1) await world.ask({ title: `Question ${at}` });
    await world.drain();
    const list = await ask(world, "decisions");
    expect(replyOf(list.perform).reply).toMatchObject({ from: 0, total: 8 });
    expect(replyOf(list.perform).buttons).toHaveLength(7);
    expect(await press(world, list, "more")).toMatchObject({ ack: { code: "moreBelow" } });
    const next = (await world.drain()).find(({ op }) => op === "post") as Perform;
    expect(replyOf(next).reply).toMatchObject({
      from: 6,
      total: 8,
      items: [
        { item: 7, title: "Question 7" },
        { item: 8, title: "Question 8" },
      ],
    });
  });

  it("tells whoever presses late that the decision is over", async () => {
    const world = await open();
    await world.ask();
    const card = await world.deliver();
    const list = await ask(world, "decisions");
    await world.tap(card, "approve");
    expect(await press(world, list, "showAgain", 1)).toMatchObject({ ack: { code: "alreadyDecided" } });
    expect(world.count("effects", "purpose = 'delivery'")).toBe(1);
  });
});

describe("a button's token", () => {
  it("works only under its own message, in its chat, for the person it is for", async () => {
    const world = await open();
    const asked = await world.ask();
    await world.drain();
    const question = await ask(world, `cancel ${asked.runId}`);
    const other = await ask(world, "help");
    const refused = [
      press(world, question, "cancelRun", 1, { reference: other.references[0] as string }),
      press(world, question, "cancelRun", 1, { place: LOBBY, reference: `${LOBBY}:7` }),
      press(world, question, "cancelRun", 1, { reference: null }),
      world.tapToken("made-up", { reference: question.references[0] as string }),
    ];
    for (const one of refused) expect(await one).toMatchObject({ ack: { code: "unknownButton" } });
    expect(await press(world, question, "cancelRun", 1, { user: BEA })).toMatchObject({
      ack: { code: "buttonOfOther" },
    });
    expect(await press(world, question, "cancelRun", 1, { user: STRANGER })).toMatchObject({ verdict: "notOnList" });
    expect(world.store.read.runs.get(asked.runId).status).toBe("waiting");
    expect(world.count("operator_uses")).toBe(0);
    expect(await press(world, question, "cancelRun", 1)).toMatchObject({ verdict: "runControlled" });
  });

  it("is stored as a hash only", async () => {
    const world = await open();
    const asked = await world.ask();
    await world.drain();
    const question = await ask(world, `cancel ${asked.runId}`);
    const token = buttonOf(question.perform, "cancelRun", 1);
    const stored = world.all<{ request: string; payload: string | null }>(
      "SELECT request, NULL AS payload FROM effects UNION ALL SELECT NULL, payload FROM events",
    );
    expect(stored.some((row) => JSON.stringify(row).includes(token))).toBe(false);
  });
});

describe("/run, /pause, /resume, /cancel", () => {
  it("find the run by what people type, and name candidates when it is not clear", async () => {
    const world = await open();
    const one = await world.ask();
    await world.drain();
    const short = world.store.read.runs.get(one.runId).shortId;
    expect(replyOf((await ask(world, `run ${short}`)).perform).reply).toMatchObject({
      code: "runDetail",
      run: { run: short, workflow: "deploy", status: "waiting" },
      decision: "Approve the deployment",
    });
    // In a chat without its card the question is not named.
    expect(replyOf((await ask(world, `run ${short}`, { place: LOBBY })).perform).reply).not.toHaveProperty("decision");
    expect(replyOf((await ask(world, "run")).perform).reply).toMatchObject({ code: "runDetail" });
    await world.ask({ title: "Another" });
    await world.drain();
    expect(replyOf((await ask(world, "cancel")).perform).reply).toMatchObject({ code: "runWanted", verb: "cancel" });
    expect(replyOf((await ask(world, "pause nonsense")).perform).reply).toEqual({
      code: "runUnknown",
      given: "nonsense",
    });
    expect(replyOf((await ask(world, "pause 2")).perform).reply).toMatchObject({ code: "runSeveral" });
  });

  it("pause and resume leave an event with the person, and say what they cannot do", async () => {
    const world = await open();
    const { runId } = await world.ask();
    await world.drain();
    expect(replyOf((await ask(world, `pause ${runId}`)).perform).reply).toMatchObject({
      code: "runControlled",
      verb: "pause",
      run: { status: "paused" },
    });
    expect(JSON.parse(events(world, "run.paused")[0]?.payload ?? "")).toMatchObject({ by: "Ann", channel: MAIN });
    expect(replyOf((await ask(world, `resume ${runId}`, { user: GUEST })).perform).reply).toMatchObject({
      code: "runControlled",
      verb: "resume",
      run: { status: "waiting" },
    });
    expect(events(world, "run.unpaused")).toMatchObject([{ actor: `${MAIN}:${GUEST}` }]);
    expect(replyOf((await ask(world, `resume ${runId}`)).perform).reply).toMatchObject({
      code: "runRefused",
      reason: "waitsForDecision",
    });
  });

  it("cancel asks back, and every card shows who cancelled", async () => {
    const world = await open();
    const { runId } = await world.ask({ audience: "both" });
    await world.drain();
    const question = await ask(world, `cancel ${runId}`);
    expect(world.store.read.runs.get(runId).status).toBe("waiting");
    await press(world, question, "cancelRun", 1);
    expect(world.store.read.runs.get(runId).status).toBe("cancelled");
    const [event] = events(world, "run.cancelled");
    expect(event).toMatchObject({ actor: "ann" });
    expect(JSON.parse(event?.payload ?? "")).toMatchObject({ by: "Ann", channel: MAIN, actorId: ANN });
    const frames = await world.drain();
    const cards = frames.filter(({ content }) => content?.kind === "card");
    expect(cards.map(({ destination }) => destination).toSorted()).toEqual([`${MAIN}/${OPS}`, `${MAIN}/${LOBBY}/7`]);
    for (const card of cards)
      expect(cardOf(card).state.status).toMatchObject({ kind: "cancelled", by: "Ann", channel: MAIN });
    const answer = frames.find(({ content }) => content?.kind === "reply") as Perform;
    expect(replyOf(answer)).toMatchObject({ used: [{ action: "cancelRun", by: "Ann" }] });
    expect(replyOf(answer)).not.toHaveProperty("buttons");
    expect(await press(world, question, "keepRun", 1)).toMatchObject({ ack: { code: "buttonUsed" } });
    expect(replyOf((await ask(world, `cancel ${runId}`)).perform).reply).toMatchObject({
      code: "runRefused",
      reason: "ended",
    });
  });

  it("hand out the runner that must be stopped, once", async () => {
    const world = await open();
    const asked = await world.ask();
    const card = await world.deliver();
    await world.tap(card, "approve");
    await world.drain();
    const { claim } = await claimNext(world.store, world.epoch);
    const updateId = world.nextUpdate();
    const first = await write(world, `pause ${asked.runId}`, { updateId });
    expect(first).toMatchObject({ verdict: "runControlled", stop: claim.runnerEpoch });
    expect(await write(world, `pause ${asked.runId}`, { updateId })).not.toHaveProperty("stop");
  });
});

describe("very many problems", () => {
  it("are looked at up to a limit, and it is said that there are more", async () => {
    const world = await open();
    await world.ask();
    const card = await world.mustNext();
    await world.dispatch(card);
    await world.finish(card, "ambiguous");
    copyEffect(world, card.effectId, 5_000);
    const looked = vi.spyOn(Statements.prototype, "all");
    onTestFinished(() => looked.mockRestore());
    const list = replyOf((await ask(world, "problems", { place: ANN })).perform).reply;
    expect(list).toMatchObject({ code: "problemList", total: OPERATOR.problems, more: true, from: 0 });
    const status = replyOf((await ask(world, "status", { place: ANN })).perform).reply;
    expect(status).toMatchObject({ code: "serviceStatus", problems: OPERATOR.problems, moreProblems: true });
    for (const { value } of looked.mock.results) expect((value as unknown[]).length).toBeLessThanOrEqual(501);
  });
});

describe("/problems", () => {
  async function inDoubt(world: World): Promise<Perform> {
    const perform = await world.mustNext();
    await world.dispatch(perform);
    await world.finish(perform, "ambiguous");
    return perform;
  }

  it("is empty most of the time and says so", async () => {
    const world = await open();
    expect(replyOf((await ask(world, "problems")).perform).reply).toEqual({
      code: "problemList",
      items: [],
      runs: [],
      from: 0,
      total: 0,
    });
  });

  it.each([
    ["arrived", "applied", "applied"],
    ["sendAgain", "pending", "retry"],
    ["drop", "rejected", "dropped"],
  ] as const)("a message in doubt is settled by one press: %s", async (action, status, outcome) => {
    const world = await open();
    await world.ask();
    const lost = await inDoubt(world);
    const list = await ask(world, "problems", { place: BEA, user: BEA });
    expect(replyOf(list.perform).reply).toMatchObject({
      total: 1,
      items: [{ item: 1, problem: "inDoubt", title: "Approve the deployment", destination: `${MAIN}/${OPS}` }],
    });
    expect(await press(world, list, action, 1, { user: BEA })).toMatchObject({ ack: { code: "recovered" } });
    expect(world.store.read.effects.get(lost.effectId).status).toBe(status);
    const [event] = events(world, "effect.settled");
    expect(event).toMatchObject({ actor: "bea" });
    expect(JSON.parse(event?.payload ?? "")).toMatchObject({ outcome, by: "Bea", channel: MAIN });
    expect(await press(world, list, "drop", 1, { user: BEA })).toMatchObject({
      ack: { code: "buttonUsed", by: "Bea" },
    });
  });

  it("counts all of them, however many there are", async () => {
    const world = await open();
    for (let i = 0; i <= PAGE.rows; i += 1) {
      await world.ask({ title: `Question ${i + 1}` });
      // Slower than a chat is paced.
      world.clock.advance(60_000);
      await inDoubt(world);
    }
    const list = await ask(world, "problems", { place: ANN });
    const { reply } = replyOf(list.perform);
    if (reply.code !== "problemList") throw new Error("no list of problems");
    expect(reply.total).toBe(PAGE.rows + 1);
    expect(reply.items.map(({ item }) => item)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("names no title in a chat that has no card of the decision", async () => {
    const world = await open();
    await world.ask();
    await inDoubt(world);
    const list = await ask(world, "problems", { place: LOBBY, user: GUEST });
    expect(replyOf(list.perform).reply).toMatchObject({ total: 1, items: [{ item: 1, id: expect.any(String) }] });
    expect(JSON.stringify(list.perform)).not.toContain("Approve the deployment");
  });

  it("offers a card that no destination could show once more", async () => {
    const world = await open();
    await world.ask();
    const card = await world.mustNext();
    await world.dispatch(card);
    await world.finish(card, "rejected");
    const list = await ask(world, "problems", { place: ANN });
    expect(replyOf(list.perform).reply).toMatchObject({ items: [{ problem: "undeliverable" }] });
    await press(world, list, "sendAgain", 1);
    expect(kinds(await world.drain()).toSorted()).toEqual(["edit problemList", "post card"]);
  });

  it("does not offer to send again what was decided meanwhile", async () => {
    const world = await open();
    const { runId } = await world.ask();
    await inDoubt(world);
    const list = await ask(world, "problems", { place: ANN });
    await world.store.runs.cancel({
      run: runId,
      expectedRevision: null,
      receipt: null,
      actor: { type: "human", id: "uid:1" },
    });
    expect(await press(world, list, "sendAgain", 1)).toMatchObject({
      ack: { code: "recoverRefused", reason: "decided" },
    });
    await world.drain();
    const later = await ask(world, "problems", { place: ANN });
    expect(
      replyOf(later.perform)
        .buttons?.flat()
        .map(({ action }) => action),
    ).toEqual(["arrived", "drop"]);
  });
});

it("/runs counts runs by the status that lists show", async () => {
  const world = await open();
  const first = await world.ask({ title: "One" });
  await world.ask({ title: "Two" });
  await world.drain();
  await ask(world, `pause ${first.runId}`);
  const { reply } = replyOf((await ask(world, "runs")).perform);
  const rows = world.store.read.runs.list({ limit: 10, before: null });
  expect(reply).toMatchObject({
    total: 2,
    items: rows.map((row) => ({ run: row.shortId, status: displayStatus(row) })),
  });
});

it("/decisions looks at all decisions that wait, not at the first page of them", async () => {
  const world = await open();
  // Ann may answer the last one only.
  const access = world.access;
  const ops = access.audiences["ops"] as NonNullable<(typeof access.audiences)[string]>;
  world.access = {
    ...access,
    audiences: { ...access.audiences, others: { ...ops, people: ["bea"], destinations: ["terminal"] } },
  };
  for (let i = 0; i < PAGE.rows; i += 1) await world.ask({ audience: "others" });
  const mine = await world.ask();
  await world.drain();
  const list = await ask(world, "decisions", { place: ANN });
  expect(replyOf(list.perform).reply).toMatchObject({ total: 1, items: [{ fingerprint: mine.fingerprint }] });
});

it("a card that is on its way already is not sent once more by asking for it", async () => {
  const world = await open();
  const { decisionId } = await world.ask();
  await world.dispatch(await world.mustNext());
  const inPrivate = { place: ANN };
  const lists = [await ask(world, "decisions", inPrivate), await ask(world, "decisions", inPrivate)];
  for (const list of lists)
    expect(await press(world, list, "showAgain", 1)).toMatchObject({ ack: { code: "shownAgain" } });
  const sql = `SELECT 1 FROM effects e JOIN human_decisions d USING (decision_no) WHERE d.decision_id = '${decisionId}' AND e.purpose = 'delivery'`;
  // The one in the group, and one in her own chat.
  expect(world.all(sql)).toHaveLength(2);
});

it("/problems lists each action in doubt by itself, and its run is not listed beside it", async () => {
  const world = await open();
  await startRun(world.store, DEPLOYING);
  const launch = await claimNext(world.store, world.epoch);
  await becomeReady(world.store, launch, DEPLOYING);
  const { claim } = launch;
  const action = { step: 0, nodeId: "act", effectType: "deploy", recovery: "manual", request: {} } as const;
  const { effectId } = await world.store.effects.reserve({ claim, ...action });
  const list = async (): Promise<unknown> => replyOf((await ask(world, "problems", { place: ANN })).perform).reply;
  expect(await list()).not.toHaveProperty("actions");
  await world.store.effects.report({ claim, effectId, attempt: 1, outcome: "ambiguous" });
  const { shortId } = world.store.read.effects.get(effectId);
  const run = world.store.read.runs.list({ limit: 1, before: null })[0]?.shortId;
  expect(await list()).toMatchObject({ actions: [{ id: shortId, type: "deploy", run }], runs: [], items: [] });
});

describe("/alerts", () => {
  /** Alerts of the audience in the chat OPS, whose people are Ann and Bea; what was sent about them is out of the way. */
  async function burning(world: World, ...keys: string[]): Promise<void> {
    for (const key of keys)
      await world.store.alerts.raise({
        access: world.access,
        audience: "ops",
        groupKey: key,
        severity: "critical",
        subject: key,
        condition: "down",
        lines: [],
      });
    await world.drain();
  }

  it("says that nothing holds, and /status, /problems and /monitors lead to it when something does", async () => {
    const world = await open();
    expect(replyOf((await ask(world, "alerts")).perform).reply).toEqual({
      code: "alertList",
      items: [],
      from: 0,
      total: 0,
    });
    await burning(world, "shop");
    for (const command of ["status", "problems", "monitors"])
      expect(replyOf((await ask(world, command)).perform).reply).toMatchObject({ alerts: 1 });
  });

  it("lists what holds, what nobody has taken first; one press takes one, another leaves one in peace", async () => {
    const world = await open();
    await burning(world, "shop", "mail", "disk");
    const list = await ask(world, "alerts");
    const { items, total } = replyOf(list.perform).reply as { items: { subject: string }[]; total: number };
    expect([total, items.map(({ subject }) => subject)]).toEqual([3, ["disk", "mail", "shop"]]);
    expect(await press(world, list, "acknowledge", 1)).toMatchObject({ ack: { code: "alertDone" } });
    expect(await press(world, list, "snooze", 2)).toMatchObject({ ack: { code: "alertDone", action: "snooze" } });
    // One press uses up its item.
    expect(await press(world, list, "snooze", 1)).toMatchObject({ ack: { code: "buttonUsed", by: "Ann" } });
    await world.drain();
    const again = replyOf((await ask(world, "alerts")).perform);
    expect(again.reply).toMatchObject({
      items: [
        { subject: "mail", snoozed: true },
        { subject: "shop", acknowledged: false },
        { subject: "disk", acknowledged: true },
      ],
    });
    expect(again.buttons).toEqual([
      [{ action: "acknowledge", item: 1 }],
      [
        { action: "acknowledge", item: 2 },
        { action: "snooze", item: 2 },
      ],
    ]);
  });

  it("is told in a chat of its audience and to its people, and taken by them alone", async () => {
    const world = await open();
    await burning(world, "shop");
    const totalFor = async (options: TapOptions): Promise<number> =>
      (replyOf((await ask(world, "alerts", options)).perform).reply as { total: number }).total;
    expect(await totalFor({ place: BEA, user: BEA })).toBe(1);
    expect(await totalFor({ place: LOBBY, user: ANN })).toBe(0);
    const list = await ask(world, "alerts", { user: GUEST });
    expect(replyOf(list.perform).reply).toMatchObject({ total: 1 });
    expect(replyOf(list.perform).buttons ?? []).toEqual([]);
  });

  it("comes in pages", async () => {
    const world = await open();
    await burning(world, ...Array.from({ length: 8 }, (_, at) => `service-${at}`));
    const first = await ask(world, "alerts");
    expect(replyOf(first.perform).reply).toMatchObject({ from: 0, total: 8 });
    await press(world, first, "more");
    const next = (await world.drain()).find(({ op }) => op === "post") as Perform;
    expect(replyOf(next).reply).toMatchObject({ code: "alertList", from: 6, total: 8 });
  });
});
