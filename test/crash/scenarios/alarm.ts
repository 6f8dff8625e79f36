/** Scenarios about alerts. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { visibleMessages } from "../../../adapters/telegram/sim/index.ts";
import { HANG_MS } from "../../harness/index.ts";
import type { Stage } from "../stage.ts";
import { beside } from "./beside.ts";
import type { Scenario } from "./scenario.ts";

const ALARM_CHILD = fileURLToPath(new URL("../children/alarm.ts", import.meta.url));
const HOUR_MS = 3_600_000;
const ANN = 1_001;
/** Pause between two looks; nothing depends on it. */
const LOOK_MS = 25;

/** What Ann's chat shows: first lines. */
export function heads(stage: Stage): string[] {
  return visibleMessages(stage.sim.ledger.state(), ANN).map(({ text }) => text.split("\n")[0] as string);
}

/** Waits until the chat shows it and nothing is queued; where time stands still, it moves on to what waits for its turn. */
export async function untilSent(stage: Stage, what: string, test: () => boolean): Promise<void> {
  for (const deadline = Date.now() + HANG_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
    const { effects } = await stage.call("effect.list", { all: false });
    if (effects.length === 0 && test()) return;
    const now = stage.clock?.now() ?? 0;
    const later = effects.map(({ nextAttemptAt }) => nextAttemptAt ?? 0).filter((at) => at > now);
    if (stage.clock !== null && later.length > 0) await stage.advance(Math.min(...later) - now);
  }
  throw new Error(`stuck: ${what} did not come; the chat shows ${JSON.stringify(heads(stage))}`);
}

/** Reported while no server runs, repaired and over: each shows once. */
const alarm: Scenario = {
  async play(stage) {
    await report(stage, "raise");
    await stage.start({ fault: false });
    await untilSent(stage, "the alert", () => heads(stage).length === 1);
    press(stage, "Repair…");
    await untilSent(stage, "the wish for a repair", () => text(stage).includes("Repair asked"));
    await stage.stop();
    await report(stage, "recover");
    await stage.start({ fault: false });
    await untilSent(stage, "the end", () => heads(stage).length === 2);
    expectHeads(stage, ["\u{1F7E2} shop is down \u00b7 over", "\u{1F7E2} shop is up again"]);
    return new Map();
  },
};

/** Snoozed, told when the snooze is over, and taken. */
const taken: Scenario = {
  options: { clock: true },
  async play(stage) {
    await report(stage, "raise");
    await stage.start();
    await untilSent(stage, "the alert", () => heads(stage).length === 1);
    await stage.call("alert.snooze", { alert: "shop", forMs: HOUR_MS });
    await untilSent(stage, "the snooze", () => text(stage).includes("Snoozed"));
    await stage.advance(HOUR_MS);
    await untilSent(stage, "the end of the snooze", () => heads(stage).length === 2);
    await stage.call("alert.acknowledge", { alert: "shop" });
    press(stage, "Repair…");
    await untilSent(stage, "the acknowledgement", () => /Acknowledged.*\n.*Repair asked/.test(text(stage)));
    expectHeads(stage, ["\u{1F534} shop is down", "\u{1F534} Still: shop is down"]);
    return new Map();
  },
};

function report(stage: Stage, what: string): Promise<string> {
  return beside(stage, ALARM_CHILD, [what, String(stage.clock?.now() ?? Date.now())]);
}

function press(stage: Stage, label: string): void {
  const [card] = visibleMessages(stage.sim.ledger.state(), ANN);
  stage.sim.people.tap(ANN, ANN, card?.id ?? 0, label);
}

function expectHeads(stage: Stage, wanted: readonly string[]): void {
  const seen = JSON.stringify(heads(stage));
  if (seen !== JSON.stringify(wanted)) stage.problems.push(`the chat shows ${seen}`);
}

function text(stage: Stage): string {
  return visibleMessages(stage.sim.ledger.state(), ANN)[0]?.text ?? "";
}

export const alarms = { alarm, taken };
