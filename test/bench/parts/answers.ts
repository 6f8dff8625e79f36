/** Answers while 5,000 decisions wait: from the first tap on the adapter's pipe to the last verdict that is on disk. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AdapterControl } from "../adapter-control.ts";
import { type Bench, type Part, seed } from "../bench.ts";
import type { Card } from "../children/seed.ts";
import { Ledger, makeHome, processorMs, Server } from "../service.ts";

const WAITING = 5_000;
const ANSWERS = 500;
const CHATS = 20;
/** Taps without a verdict at one time: what a batch of the store takes. */
const WINDOW = 256;
/** Rounds before the first that counts: until V8 has compiled what an answer runs through, which takes about 1,500 of them. */
const WARM_UP = 4;

export const answers: Part = {
  name: "answers",
  keys: ["answers_per_s"],
  async run(bench: Bench) {
    const home = join(bench.folder, "answers");
    mkdirSync(home, { mode: 0o700 });
    makeHome(home, CHATS);
    const decisions = WAITING + (bench.rounds + WARM_UP) * ANSWERS;
    // Paused runs: the answer, its continuation and its settlements are stored, and no runner takes the processors away.
    const lines = await seed(bench, home, { decisions, audiences: CHATS, delivered: true, paused: true });
    const cards = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Card);
    if (cards.length !== decisions) throw new Error(`${cards.length} of ${decisions} cards were sent`);
    bench.say(`${decisions} decisions wait`);
    const control = await AdapterControl.listen(bench.folder);
    const ledger = new Ledger(home);
    const server = await Server.start(home, { ...bench, ...control.options(bench) });
    await control.hear("ready");
    control.tell({ type: "hold" });
    const rates: number[] = [];
    let before = 0;
    for (let round = -WARM_UP; round < bench.rounds; round += 1) {
      if (round === 0) before = processorMs(server.pid);
      const taken = cards.splice(0, ANSWERS).map(({ place, reference, token }) => ({ place, reference, token }));
      control.tell({ type: "tap", cards: taken, window: WINDOW });
      const { ms, verdicts } = await control.hear("tapped");
      if (verdicts["accepted"] !== ANSWERS)
        throw new Error(`not every answer was accepted: ${JSON.stringify(verdicts)}`);
      if (round >= 0) rates.push((ANSWERS * 1_000) / ms);
    }
    const used = (processorMs(server.pid) - before) / (bench.rounds * ANSWERS);
    bench.say(`${(used * 1_000).toFixed(0)} us of the server's processor time for an answer`);
    const answered = (bench.rounds + WARM_UP) * ANSWERS;
    for (const [what, sql] of CHECKS) {
      const count = ledger.number(sql);
      if (count !== answered) throw new Error(`${count} ${what} for ${answered} answers`);
    }
    const waiting = ledger.number("SELECT count(*) FROM human_decisions WHERE status = 'pending'");
    if (waiting !== WAITING) throw new Error(`${waiting} decisions wait, not ${WAITING}`);
    bench.report("answers_per_s", rates);
    ledger.close();
    await server.kill();
    control.close();
  },
};

/** An answer that left out any of these would be measured for less than it is. */
const CHECKS = [
  ["resolutions", "SELECT count(*) FROM human_decision_resolutions WHERE provenance = 'human'"],
  ["votes", "SELECT count(*) FROM decision_votes"],
  ["continuations", "SELECT count(*) FROM run_continuations WHERE cause_type = 'decision'"],
  [
    "settlements",
    `SELECT count(DISTINCT decision_no) FROM effects e JOIN human_decisions d USING (decision_no)
     WHERE purpose = 'settlement' AND d.status = 'accepted' AND e.created_at >= (SELECT resolved_at FROM human_decision_resolutions r WHERE r.decision_no = d.decision_no)`,
  ],
  ["updates", "SELECT count(*) FROM channel_inbox"],
] as const;
