/**
 * `npm run day -- --json`: a day of 500 monitors in fast-forward; ends with one JSON object on stdout (`monitors`, `checks`, `alerts`, `missed`,
 * `duplicates`, …). Progress on stderr. `--monitors <n>` plays with fewer, `--short` over one change of the clocks only. Needs dist/.
 */
import { parseArgs } from "node:util";
import { playDay } from "./day.ts";
import { SHORT_DAY, WHOLE_DAY } from "./plan.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    monitors: { type: "string", default: "500" },
    short: { type: "boolean", default: false },
  },
});
const began = performance.now();
const { problems, transcript, ...counts } = await playDay(
  Number(values.monitors),
  values.short ? SHORT_DAY : WHOLE_DAY,
  (text) => void process.stderr.write(`${text}\n`),
);
if (!values.json) for (const text of transcript) process.stdout.write(`${text}\n\n`);
for (const problem of problems) process.stderr.write(`problem: ${problem}\n`);
const seconds = Math.round((performance.now() - began) / 1_000);
process.stdout.write(`${JSON.stringify({ ...counts, seconds, problems: problems.length })}\n`);
process.exit(problems.length === 0 ? 0 : 1);
