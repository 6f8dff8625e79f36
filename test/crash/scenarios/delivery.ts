/** Scenarios about what people see when a channel does not confirm, is silent for a while, or is slow. */
import Database from "better-sqlite3";

import { botMessages, type LedgerMessage } from "../../../adapters/telegram/sim/index.ts";
import { DOUBT, OFFER } from "../../../src/contracts/limits.ts";
import type { Stage, World } from "../stage.ts";
import { APPROVED, JOURNEY, untilAsked, untilEnded, type Scenario } from "./scenario.ts";

const ANN = 1_001;
const BEA = 1_002;

/** Nobody knows whether Ann's card arrived; Bea is asked in her chat, and says yes. */
const asked: Scenario = {
  options: { clock: true, destinations: [`telegram:default/${ANN}`, `telegram:default/${BEA}`] },
  async play(stage) {
    stage.person.awake = false;
    stage.operator.awake = false;
    stage.sim.faults.add({ kind: "drop", when: "after", how: "rst", method: "sendMessage", chat: ANN });
    await stage.start();
    const run = await stage.run(JOURNEY, "asked");
    await stage.until("the doubt", (world) =>
      world.effects.some(({ purpose, status }) => purpose === "delivery" && status === "ambiguous"),
    );
    await stage.advance(DOUBT.askAfterMs);
    const question = await stage.until("the question", (world) => questionIn(world));
    stage.sim.people.tap(BEA, BEA, question.id, "Yes");
    await stage.until("the end of the question", (world) => questionIn(world)?.buttons.length === 0);
    stage.operator.awake = true;
    stage.person.awake = true;
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

function questionIn(world: World): LedgerMessage | undefined {
  return botMessages(world.ledger, BEA).find(({ versions: [first], text }) =>
    (first?.text ?? text).includes("Did a card arrive"),
  );
}

/** The service cannot be reached for a while; the card is offered again, and then both are in the chat. */
const silence: Scenario = {
  options: { clock: true },
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const run = await stage.run(JOURNEY, "silence");
    await untilAsked(stage, run);
    await delivered(stage);
    await stage.sim.server.down();
    await stage.advance(OFFER.silenceMs + 60_000);
    await stage.sim.server.up();
    await stage.until("the card again", (world) => botMessages(world.ledger, ANN).length > 1);
    stage.person.awake = true;
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

/** The database is held while Ann taps: she is told that it is being checked, and then by a message what came of it. */
const slow: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const run = await stage.run(JOURNEY, "slow");
    await untilAsked(stage, run);
    await delivered(stage);
    const world = await stage.until("a moment", (now) => now);
    const other = new Database(stage.home.database);
    try {
      other.exec("BEGIN IMMEDIATE");
      stage.person.awake = true;
      stage.person.act(world);
      await stage.moment("the acknowledgement", () =>
        stage.sim.ledger.state().taps.some(({ answer }) => answer?.text.startsWith("Received") === true),
      );
      other.exec("ROLLBACK");
    } finally {
      other.close();
    }
    await untilEnded(stage, run);
    // Whoever dies with that message in hand leaves the card's edit, which tells the same.
    await stage.until(
      "the verdict as a message",
      ({ ledger }) =>
        stage.hit ||
        botMessages(ledger, ANN).some(({ replyTo, text }) => replyTo !== undefined && text === "Approved."),
    );
    return new Map([[run, APPROVED]]);
  },
};

async function delivered(stage: Stage): Promise<void> {
  await stage.until("a delivery that is confirmed", (world) =>
    world.effects.some(({ purpose, status }) => purpose === "delivery" && status === "applied"),
  );
}

export const delivery = { asked, silence, slow };
