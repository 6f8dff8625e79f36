/** Scenarios in which nobody can know: actions and messages whose end got lost. */
import { botMessages } from "../../../adapters/telegram/sim/index.ts";
import type { Stage, World } from "../stage.ts";
import { APPROVED, JOURNEY, openGate, runOf, untilAsked, untilEnded, type Scenario } from "./scenario.ts";

/** Runners die in the middle of actions of each contract; the operator settles the manual ones. */
const effects: Scenario = {
  async play(stage) {
    await stage.start();
    const undone = await stage.run(JOURNEY, "undone", {
      dies: { prepare: "after", inspect: "after", deploy: "before" },
    });
    const done = await stage.run(JOURNEY, "done", { dies: { deploy: "after" } });
    await untilEnded(stage, undone);
    await untilEnded(stage, done);
    return new Map([
      [undone, APPROVED],
      [done, APPROVED],
    ]);
  },
};

/** Cards whose answer got lost: one is in the chat and is confirmed, one is not and is sent again. */
const recover: Scenario = {
  async play(stage) {
    stage.person.patient = true;
    await stage.start();
    stage.sim.faults.add({ kind: "drop", when: "after", how: "rst", method: "sendMessage" });
    const shown = await stage.run(JOURNEY, "shown");
    await untilEnded(stage, shown);
    stage.sim.faults.add({ kind: "drop", when: "before", how: "rst", method: "sendMessage" });
    const lost = await stage.run(JOURNEY, "lost");
    await untilEnded(stage, lost);
    return new Map([
      [shown, APPROVED],
      [lost, APPROVED],
    ]);
  },
};

/** The adapter is killed while the service holds its answer; the card is there, and the tap proves it. */
const adapter: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const fault = stage.sim.faults.add({ kind: "slow", what: "answer", method: "sendMessage" });
    const run = await stage.run(JOURNEY, "adapter");
    await untilAsked(stage, run);
    await killAdapter(stage);
    await stage.until("the doubt", (world) =>
      world.effects.some(({ purpose, status }) => purpose === "delivery" && status !== "applying"),
    );
    stage.sim.faults.remove(fault);
    stage.person.awake = true;
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

/** The card is late: it is sent again, and then both are in the chat. */
const twice: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const fault = stage.sim.faults.add({ kind: "slow", what: "ledger", method: "sendMessage" });
    const run = await stage.run(JOURNEY, "twice");
    await stage.until("a card on its way", (world) => world.ledger.faults.some(({ hits }) => hits > 0));
    await killAdapter(stage);
    await untilAsked(stage, run);
    stage.sim.faults.remove(fault);
    await stage.until("both cards", (world) => cardsIn(world, 1_001) > 1);
    stage.person.awake = true;
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

/** The other person's card arrives when all is over. */
const late: Scenario = {
  options: { destinations: ["telegram:default/1001", "telegram:default/1002"] },
  async play(stage) {
    await stage.start();
    const fault = stage.sim.faults.add({ kind: "slow", what: "ledger", method: "sendMessage", chat: 1_002 });
    const run = await stage.run(JOURNEY, "late");
    await stage.until("the other card on its way", (world) => world.ledger.faults.some(({ hits }) => hits > 0));
    await untilEnded(stage, run);
    stage.sim.faults.remove(fault);
    await stage.until("the other card", (world) => cardsIn(world, 1_002) > 0);
    return new Map([[run, APPROVED]]);
  },
};

async function killAdapter(stage: Stage): Promise<void> {
  const { channels } = await stage.call("channel.status", {});
  const pid = channels[0]?.pid;
  if (pid) process.kill(pid, "SIGKILL");
}

function cardsIn(world: World, chat: number): number {
  return botMessages(world.ledger, chat).length;
}

/** The server is killed with a run waiting, a run working and a card on its way; the fault strikes the server after it. */
const restart: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start({ fault: false });
    const waiting = await stage.run(JOURNEY, "waiting");
    await untilAsked(stage, waiting);
    await stage.until("its delivery", (world) =>
      world.effects.some(({ purpose, status }) => purpose === "delivery" && status === "applied"),
    );
    const working = await stage.run(JOURNEY, "working", { gate: true });
    const fault = stage.sim.faults.add({ kind: "slow", what: "ledger", method: "sendMessage" });
    const sending = await stage.run(JOURNEY, "sending");
    await stage.until("a card on its way", (world) => world.ledger.faults.some(({ hits }) => hits > 0));
    await stage.until("a run at work", (world) => runOf(world, working).run.currentNode === "gate");
    await stage.kill();
    stage.sim.faults.remove(fault);
    openGate(stage, "working");
    await stage.start();
    stage.person.awake = true;
    for (const run of [waiting, working, sending]) await untilEnded(stage, run);
    return new Map([waiting, working, sending].map((run) => [run, APPROVED]));
  },
};

export const doubt = { effects, recover, adapter, twice, late, restart };
