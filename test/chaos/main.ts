/**
 * `npm run chaos`: 500 decisions and 2,000 alerts over sixteen chats while the stand-in drops, delays, refuses and garbles, and server and adapter are
 * killed; then everything is judged (invariants.ts). `--seed <n>` repeats the order of faults, `--short` plays little, `--keep <folder>` leaves the home and the ledger there, `--json` ends with one
 * object on stdout: `decisions`, `alerts`, `kills`, `faults`, `conflicts`, `violations`. Exit code 1 when something was violated.
 */
import { parseArgs } from "node:util";

import { ensureBuilt } from "../crash/built.ts";
import { playChaos } from "./play.ts";
import { SHORT, WHOLE } from "./plan.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    keep: { type: "string" },
    short: { type: "boolean", default: false },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
  },
});

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

ensureBuilt();
const began = performance.now();
const seed = Number(values.seed);
say(`seed ${seed}`);
const { violations, ...counts } = await playChaos(seed, values.short ? SHORT : WHOLE, say, values.keep ?? null);
for (const { detail, rule } of violations.slice(0, 100)) say(`${rule}: ${detail}`);
const seconds = Math.round((performance.now() - began) / 1_000);
say(
  `${counts.decisions} decisions and ${counts.alerts} alerts, ${counts.kills} kills, ${counts.faults} faults in ${seconds} s: ${violations.length} violations`,
);
if (violations.length > 0) say(`again: npm run chaos -- --seed ${seed}${values.short ? " --short" : ""}`);
if (values.json) process.stdout.write(`${JSON.stringify({ ...counts, seconds, violations })}\n`);
process.exit(violations.length === 0 ? 0 : 1);
