/** Decisions in the Pi session of a run: the card, its answer, what another channel decided, and who is refused. */
import { afterEach, describe, expect, it } from "vitest";
import type { Config } from "../../../src/contracts/config.ts";
import { type FakeSession, SessionFile, type SessionOptions } from "../../harness/pi-session.ts";
import { makeWorld, type World } from "../runs/world.ts";
import { Stage } from "./stage.ts";

const IMPORT = `import * as h from "holdpoint";\n`;
const ASK = `${IMPORT}export default h.defineWorkflow({ name: "ask", startAt: "gate", nodes: {
  gate: h.humanDecision({ audience: "ops", choices: { approve: { label: "Approve" }, replan: { label: "Replan", input: { name: "how", prompt: "How?", minLength: 1, maxLength: 200 } } },
    request: () => ({ title: "Deploy?", subject: { files: 2 }, presentation: { summary: "Two files change.", blocks: [] } }) }),
  done: h.compute({ run: ({ outputs }) => outputs.gate }),
}, edges: [{ from: "gate", to: "done" }] });`;

let world: World;
let file: SessionFile;
let stage: Stage;
const open = (options?: SessionOptions): Promise<FakeSession> => stage.open(options);
const start = (origin?: Parameters<Stage["start"]>[1]): Promise<string> => stage.start("ask", origin);

async function begin(config: Partial<Config> = {}): Promise<void> {
  world = await makeWorld({
    people: { ann: { name: "Ann", telegram: [], terminal: [`uid:${process.getuid?.() ?? 0}`] } },
    audiences: { ops: { destinations: ["pi"], policy: { quorum: 1 }, assurance: "any" } } as never,
    ...config,
  });
  world.put("ask.workflow.ts", ASK);
  file = new SessionFile("s-1");
  stage = new Stage(world, file);
}
afterEach(() => stage.close());

const pending = (session: FakeSession) => session.view?.decisions.find(({ state }) => state.status.kind === "pending");

async function shown(session: FakeSession): Promise<NonNullable<ReturnType<typeof pending>>> {
  await session.has("decision");
  await session.until(() => pending(session)?.shownAt != null, "a card that was seen");
  return pending(session) as NonNullable<ReturnType<typeof pending>>;
}

const answer = (
  session: FakeSession,
  given: { decisionId: string; requestDigest: string },
  change: Partial<Parameters<FakeSession["call"]>[0]> = {},
) =>
  session.call({
    type: "answer",
    eventId: "event-1",
    decisionId: given.decisionId,
    requestDigest: given.requestDigest as never,
    choice: "approve",
    text: null,
    input: "interactive",
    bare: false,
    ...change,
  } as never);

describe("a decision of a run that was started from Pi", () => {
  it("shows its card in that session, starts no turn, and goes on once with the answer", async () => {
    await begin();
    const session = await open();
    const run = await start();
    const decision = await shown(session);
    const [card] = file.of("decision");
    expect(card?.delivery).toMatchObject({ form: "message", customType: "holdpoint-decision", trigger: false });
    expect(card?.delivery.content).toContain("Two files change.");
    expect(card?.delivery.content).toContain(`/workflow answer ${decision.fingerprint}`);
    expect(JSON.stringify(card?.delivery)).not.toContain("token");
    expect(decision.answerable).toBe(true);

    const reply = await answer(session, decision);
    expect(reply).toMatchObject({ ok: true, code: "accepted" });
    const view = await world.until(run, ({ run: { status } }) => status === "completed");
    expect(view.decisions[0]?.resolution).toMatchObject({ by: "Ann", channel: "pi", assurance: "local" });
    const settled = await session.has("settlement");
    expect(settled.delivery).toMatchObject({ form: "entry", trigger: false });
    expect(await answer(session, decision)).toMatchObject({ ok: true, code: "adopted" });
  });

  it("asks for the text of a choice, and takes it", async () => {
    await begin();
    const session = await open();
    const run = await start();
    const decision = await shown(session);
    const asked = await answer(session, decision, { choice: "replan" });
    expect(asked).toMatchObject({ ok: false, code: "inputRequired" });
    expect(asked.text).toContain("text");
    expect(await answer(session, decision, { choice: "replan", text: "smaller" })).toMatchObject({ ok: true });
    const view = await world.until(run, ({ run: { status } }) => status === "completed");
    expect(view.finalOutput).toMatchObject({ choice: "replan", input: { how: "smaller" } });
  });

  it.each([
    ["a program of Pi", { input: "extension" }, {}],
    ["RPC", { input: "rpc" }, {}],
    ["a dialog that RPC shows", { input: "dialog" }, { mode: "rpc" }],
    ["a line that nobody typed", { input: "interactive" }, { mode: "rpc" }],
  ] as const)("is not answered by %s", async (_who, change, options) => {
    await begin();
    const session = await open(options);
    const run = await start();
    const decision = await shown(session);
    expect(await answer(session, decision, change as never)).toMatchObject({ ok: false, error: { code: "HP685" } });
    expect((await world.view(run)).run.status).toBe("waiting");
  });

  it("is answered over RPC where the configuration says so", async () => {
    await begin({ pi: { command: "pi", rpcAnswers: true } });
    const session = await open({ mode: "rpc" });
    await start();
    expect(await answer(session, await shown(session), { input: "rpc" } as never)).toMatchObject({ ok: true });
  });

  it("refuses an answer from this machine where its audience wants another device", async () => {
    await begin({
      audiences: {
        ops: { destinations: ["telegram:main/-1001"], policy: { quorum: 1 }, assurance: "remote" },
      } as never,
    });
    const session = await open();
    const run = await start();
    await session.until(() => pending(session) !== undefined, "the decision");
    const decision = pending(session) as NonNullable<ReturnType<typeof pending>>;
    expect(decision).toMatchObject({ answerable: false, messageId: null });
    expect(await answer(session, decision)).toMatchObject({ ok: false, code: "notAllowed" });
    expect((await world.view(run)).run.status).toBe("waiting");
  });

  it("refuses somebody in Pi where its audience does not name it", async () => {
    await begin({
      audiences: { ops: { destinations: ["terminal"], policy: { quorum: 1 }, assurance: "any" } } as never,
    });
    const session = await open();
    await start();
    await session.until(() => pending(session) !== undefined, "the decision");
    const refused = await answer(session, pending(session) as never);
    expect(refused).toMatchObject({ ok: false, code: "notAllowed" });
    expect(refused.text).toContain("cannot be answered in Pi");
  });

  it("takes an answer that names no decision only for a card that has stood there", async () => {
    await begin();
    const session = await open();
    await start();
    const decision = await shown(session);
    const refused = await answer(session, decision, { bare: true });
    expect(refused).toMatchObject({ ok: false, code: "nameDecision" });
    expect(refused.text).toContain(`/workflow answer ${decision.fingerprint}`);
  });

  it("says in the session who decided elsewhere", async () => {
    await begin({
      audiences: { ops: { destinations: ["pi", "terminal"], policy: { quorum: 1 }, assurance: "any" } } as never,
    });
    const session = await open();
    await start();
    const decision = await shown(session);
    await world.call("decision.answer", {
      decision: decision.decisionId,
      requestDigest: decision.requestDigest,
      choice: "approve",
      input: null,
      confirmed: true,
    });
    const { delivery } = await session.has("settlement");
    expect(delivery.details.message).toMatchObject({
      kind: "settlement",
      state: { status: { kind: "chosen", label: "Approve", by: "Ann", channel: "terminal" } },
    });
  });

  it("refuses the card of a run that no session started, and says so", async () => {
    await begin();
    const run = await start(null);
    const view = await world.until(run, ({ run: { status } }) => status === "waiting");
    expect(view.effects).toMatchObject([{ destination: "pi", status: "rejected", error: { code: "HP681" } }]);
  });

  it("has one run at a time in a session", async () => {
    await begin();
    await start();
    expect(await world.refusal(start())).toBe("sessionBusy");
    await start({ session: "s-2" });
  });
});
