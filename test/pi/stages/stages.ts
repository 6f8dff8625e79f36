/**
 * The stages of a run in a session at which `npm run test:pi -- --full` kills Pi, the server and the adapter. Each is brought about and held, so that
 * the kill comes in it and not beside it: a process that has to take part is stopped (SIGSTOP), the model does not answer, a judge does not judge.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { EffectSummary } from "../../../src/contracts/protocol/operations.ts";
import { HANG_MS } from "../../harness/index.ts";
import type { LastingSession } from "../sessions/lasting.ts";
import { adapterPid, signal } from "../sessions/processes.ts";
import type { World } from "../sessions/world.ts";
import type { HeldModel } from "./held-model.ts";

export interface Play {
  readonly world: World;
  readonly session: LastingSession;
  readonly model: HeldModel;
}

/** A run that has come to a stage and stays there until it is let go on. */
export interface Held {
  readonly runId: string;
  readonly letGoOn: () => void;
}

export interface KillStage {
  /** What has happened, and what has not. */
  readonly name: string;
  reach(play: Play): Promise<Held>;
}

const STEP = /This is the step/;

export const STAGES: readonly KillStage[] = [
  {
    name: "a step is requested, and its session is busy",
    reach: (play) => busy(play, "deploy", (one) => one.type === "message.step"),
  },
  {
    name: "a step's message is on its way",
    reach: (play) => frozen(play, "deploy", (one) => one.type === "message.step"),
  },
  {
    name: "a step is shown, and its agent works",
    reach: (play) => thinking(play, ({ last }) => STEP.test(last)),
  },
  {
    name: "a result is submitted and being judged",
    async reach({ session, world: { stage } }) {
      writeFileSync(stage.path("hold"), "");
      const runId = await session.start("deploy");
      await until("the judge", () => existsSync(stage.path("judging")) || undefined);
      return { runId, letGoOn: () => rmSync(stage.path("hold")) };
    },
  },
  {
    name: "a card is requested, and its session is busy",
    reach: (play) => busy(play, "ask", (one) => one.purpose === "delivery"),
  },
  {
    name: "a card is on its way",
    reach: (play) => frozen(play, "ask", (one) => one.purpose === "delivery"),
  },
  {
    name: "a card is shown",
    async reach({ session }) {
      const runId = await session.start("ask");
      await session.pi.message("decision");
      return { runId, letGoOn: () => undefined };
    },
  },
  {
    name: "an answer is given in Pi and not stored",
    async reach({ session, world }) {
      const runId = await asked(session);
      const { decisions } = await world.client.call("run.get", { run: runId });
      const fingerprint = decisions[0]?.fingerprint ?? "";
      const { pi } = session;
      await pi.until(() => pi.widget.find((line) => line.includes(fingerprint)), "the question");
      const adapter = await adapterPid(world);
      signal(adapter, "SIGSTOP");
      void pi.prompt(`/workflow answer ${fingerprint} approve`).catch(() => undefined);
      await pi.until(() => pi.probed.find(({ input }) => input?.includes(fingerprint)), "the answer");
      return { runId, letGoOn: () => void signal(adapter, "SIGCONT") };
    },
  },
  {
    name: "a card is decided elsewhere, and its session does not know",
    async reach({ session, world }) {
      const runId = await asked(session);
      const { client } = world;
      const { decisions } = await client.call("run.get", { run: runId });
      const decision = decisions[0]?.decisionId ?? "";
      const { requestDigest } = await client.call("decision.show", { decision });
      const letGoOn = stopped(session.pi.pid);
      await client.call("decision.answer", {
        decision,
        requestDigest,
        choice: "approve",
        input: null,
        confirmed: true,
      });
      await effect(world, runId, (one) => one.type === "message.terminal");
      return { runId, letGoOn };
    },
  },
  {
    name: "a run has ended, and its last message is on its way",
    reach: (play) => frozen(play, "quick", (one) => one.type === "message.terminal"),
  },
  {
    name: "the last message is shown, and its turn goes on",
    reach: (play) => thinking(play, ({ last }) => /has completed/.test(last), "quick"),
  },
];

/** A card in a session with a file: one that is lost with its session is not shown again after somebody has decided. */
async function asked(session: LastingSession): Promise<string> {
  await session.pi.turn("hello");
  const runId = await session.start("ask");
  await session.pi.message("decision");
  return runId;
}

type Workflow = Parameters<LastingSession["start"]>[0];

/** The person's own turn goes on, so that what comes waits for its end. */
async function busy(
  { model, session, world }: Play,
  workflow: Workflow,
  test: (effect: EffectSummary) => boolean,
): Promise<Held> {
  model.hold(({ last }) => last.startsWith("think"));
  void session.pi.prompt("think for a while");
  await model.held;
  const runId = await session.start(workflow);
  await effect(world, runId, (one) => test(one) && one.status === "pending");
  return { runId, letGoOn: () => model.letGo() };
}

/** Pi takes part in nothing, so that what is offered to it stays on its way. */
async function frozen(
  { session, world }: Play,
  workflow: Workflow,
  test: (effect: EffectSummary) => boolean,
): Promise<Held> {
  // Only what is connected is offered anything; this is answered over the link.
  const { pi } = session;
  await until("the link", async () => {
    await pi.prompt("/workflow clear");
    await sleep(50);
    return pi.notices.find((text) => /not shown here any more/.test(text));
  });
  const letGoOn = stopped(pi.pid);
  const runId = await session.start(workflow);
  await effect(world, runId, (one) => test(one) && one.status === "applying");
  return { runId, letGoOn };
}

/** The model has been asked, and does not answer. */
async function thinking(
  { model, session }: Play,
  test: Parameters<HeldModel["hold"]>[0],
  workflow: Workflow = "deploy",
): Promise<Held> {
  model.hold(test);
  const runId = await session.start(workflow);
  await model.held;
  return { runId, letGoOn: () => model.letGo() };
}

function stopped(pid: number): () => void {
  signal(pid, "SIGSTOP");
  return () => void signal(pid, "SIGCONT");
}

/** Waits until the run has such a message. */
function effect({ client }: World, run: string, test: (effect: EffectSummary) => boolean): Promise<EffectSummary> {
  return until("a message", async () => (await client.call("run.get", { run })).effects.find(test));
}

async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + HANG_MS; ; await sleep(10)) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`${what} did not come to this stage`);
  }
}
