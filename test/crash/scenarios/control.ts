/** Scenarios in which a client pauses, resumes and cancels. */
import { existsSync } from "node:fs";
import { join } from "node:path";

import { botMessages, type LedgerMessage } from "../../../adapters/telegram/sim/index.ts";
import type { Stage, World } from "../stage.ts";
import { APPROVED, JOURNEY, openGate, runOf, untilAsked, untilAtGate, untilEnded, type Scenario } from "./scenario.ts";

/** Paused in the middle of a step, and while the question waits; the answer of that time counts. */
const pause: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const run = await stage.run(JOURNEY, "pause", { gate: true });
    await untilAtGate(stage, "pause");
    await stage.call("run.pause", { run });
    await stage.until("the pause", (world) => runOf(world, run).run.status === "paused");
    await stage.call("run.resume", { run });
    openGate(stage, "pause");
    await untilAsked(stage, run);
    await stage.call("run.pause", { run });
    stage.person.awake = true;
    await stage.until("the answer", (world) => runOf(world, run).decisions[0]?.status === "accepted");
    await stage.until("the pause", (world) => runOf(world, run).run.status === "paused");
    await stage.call("run.resume", { run });
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

/** Cancelled while the question waits, and in the middle of a step. */
const cancel: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const waiting = await stage.run(JOURNEY, "waiting");
    const working = await stage.run(JOURNEY, "working", { gate: true });
    await untilAsked(stage, waiting);
    await untilAtGate(stage, "working");
    for (const run of [waiting, working]) await stage.call("run.cancel", { run, reason: "not needed" });
    stage.person.awake = true;
    await untilEnded(stage, waiting);
    await untilEnded(stage, working);
    return new Map([
      [waiting, { status: "cancelled", decisions: ["cancelled explicit_cancel"], actions: ["prepare", "inspect"] }],
      [working, { status: "cancelled", decisions: [], actions: [] }],
    ]);
  },
};

/** Cancelled from the chat: the command is answered with a question, and its button is pressed. */
const chat: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const run = await stage.run(JOURNEY, "chat");
    await untilAsked(stage, run);
    stage.person.write(1_001, `/cancel ${run}`);
    const question = ({ ledger }: World): LedgerMessage | undefined =>
      botMessages(ledger, 1_001).find((message) => message.text.startsWith("Cancel this run?"));
    const { id } = await stage.until("the question", question);
    stage.person.press(1_001, id, "Cancel the run");
    await stage.until("what was pressed", (world) => question(world)?.text.includes("Cancelled by"));
    await untilEnded(stage, run);
    return new Map([
      [run, { status: "cancelled", decisions: ["cancelled explicit_cancel"], actions: ["prepare", "inspect"] }],
    ]);
  },
};

/**
 * A runner that lost its claim writes nothing more: the pause and a step of the runner reach the server in one turn, the pause
 * first. The server is held still while both are sent. In which order it reads them is the kernel's choice, so there are rounds.
 */
const fenced: Scenario = {
  async play(stage) {
    await stage.start();
    const runs: string[] = [];
    do runs.push(await fence(stage, `fenced-${runs.length}`));
    while (stage.ahead.length > 0 && runs.length < 8);
    return new Map(runs.map((run) => [run, APPROVED]));
  },
};

async function fence(stage: Stage, title: string): Promise<string> {
  const run = await stage.run(JOURNEY, title, { gate: true });
  await untilAtGate(stage, title);
  const { pid } = await stage.server();
  process.kill(pid, "SIGSTOP");
  let paused: Promise<unknown>;
  try {
    paused = stage.call("run.pause", { run });
    await new Promise((resolve) => setImmediate(resolve));
    openGate(stage, title);
    await stage.moment("the step behind the gate", () => existsSync(join(stage.folder(title), "past")));
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await paused;
  await stage.call("run.resume", { run });
  await untilEnded(stage, run);
  return run;
}

export const control = { pause, cancel, chat, fenced };
