/** Scenarios about the life of the server and the passing of time. */
import Database from "better-sqlite3";

import { ADAPTER } from "../../../src/contracts/limits.ts";
import {
  APPROVED,
  HOLDING,
  JOURNEY,
  openGate,
  runOf,
  untilAsked,
  untilAtGate,
  untilEnded,
  type Scenario,
} from "./scenario.ts";

const DAY_MS = 86_400_000;

/** Stopped as soon as it is ready; then stopped in order with a run waiting and a run working, and started again. */
const stop: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start({ fault: false });
    await stage.stop();
    await stage.start();
    const waiting = await stage.run(JOURNEY, "waiting");
    const working = await stage.run(JOURNEY, "working", { gate: true });
    await untilAsked(stage, waiting);
    await untilAtGate(stage, "working");
    if (await stage.stop()) await stage.start({ fault: false });
    stage.person.awake = true;
    openGate(stage, "working");
    await untilEnded(stage, waiting);
    await untilEnded(stage, working);
    return new Map([
      [waiting, APPROVED],
      [working, APPROVED],
    ]);
  },
};

/** A step that takes longer than its claim lives without renewal. */
const long: Scenario = {
  options: { clock: true },
  async play(stage) {
    await stage.start();
    const run = await stage.run(JOURNEY, "long", { gate: true });
    await untilAtGate(stage, "long");
    for (let round = 0; round < 5; round += 1) {
      await stage.until("a run at work", (world) => runOf(world, run).run.status === "running");
      await stage.advance(10_000);
    }
    openGate(stage, "long");
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

/** A step that does not give way for longer than its limit, but for less than the server waits for a sign of life. */
const held: Scenario = {
  options: { clock: true },
  async play(stage) {
    await stage.start();
    const run = await stage.run(HOLDING, "held");
    await untilAtGate(stage, "held");
    await stage.advance(605_000);
    openGate(stage, "held");
    await untilEnded(stage, run);
    return new Map([[run, { status: "completed", decisions: [], actions: ["note"] }]]);
  },
};

/** A month later the rows that only served against repetition are deleted. */
const retention: Scenario = {
  options: { clock: true },
  forgets: true,
  async play(stage) {
    await stage.start();
    const run = await stage.run(JOURNEY, "retention");
    await untilEnded(stage, run);
    await stage.calm();
    for (let days = 31; inboxRows(stage.home.database) > 0; days = 2) await stage.advance(days * DAY_MS, "jump");
    return new Map([[run, APPROVED]]);
  },
};

function inboxRows(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare("SELECT count(*) FROM channel_inbox").pluck().get() as number;
  } finally {
    db.close();
  }
}

/** The channel hears nothing for minutes, and then it does. */
const deaf: Scenario = {
  options: { clock: true },
  async play(stage) {
    await stage.start();
    const fault = stage.sim.faults.add({
      kind: "serverError",
      status: 500,
      when: "before",
      method: "getUpdates",
      times: "always",
    });
    const isDeaf = async (): Promise<boolean> => {
      const { channels } = await stage.call("channel.status", {});
      return channels.some(({ deafSince }) => deafSince !== null);
    };
    // A server that died of it has to hear nothing for a while by itself.
    for (; !(await isDeaf()); await stage.advance(10_000)) await stage.until("a look", () => true);
    stage.sim.faults.remove(fault);
    while (await isDeaf()) await stage.until("a look", () => true);
    const run = await stage.run(JOURNEY, "deaf");
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

/** An adapter that has nothing to say for longer than its polls last is asked for a sign of life; then the tap comes. */
const unheard: Scenario = {
  options: { clock: true },
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const run = await stage.run(JOURNEY, "unheard");
    await untilAsked(stage, run);
    // Something that was on its way may still have been heard after the first jump.
    for (let jump = 0; jump < 3; jump += 1) {
      await stage.advance(ADAPTER.silentMs + 1_000);
      await stage.until("a look", () => true);
    }
    stage.person.awake = true;
    const isOver = async (): Promise<boolean> =>
      stage
        .until("a look", ({ runs }) => [runs.every((view) => view.run.finishedAt !== null)])
        .then(([over]) => over === true);
    // An adapter that died of it begins anew after a pause by the clock.
    while (!(await isOver())) await stage.advance(1_000);
    return new Map([[run, APPROVED]]);
  },
};

export const lifetime = { unheard, stop, long, held, retention, deaf };
