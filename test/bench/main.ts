/**
 * `npm run bench -- --json`: measures the built service on this machine and ends with one JSON object on stdout. Medians of five
 * rounds; progress, spread and targets on stderr. `--only <part>,…` runs some parts, `--rounds <n>` fewer or more rounds,
 * `--dist <folder>` measures a product that was built elsewhere.
 */
import { rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildChildren } from "../adapters/built.ts";
import type { Bench, Part } from "./bench.ts";
import { type Figures, type Key, KEYS, rounded, summarize, TARGETS } from "./keys.ts";
import { cores, diskFolder, load, watchOthers } from "./machine.ts";
import { actions } from "./parts/actions.ts";
import { answers } from "./parts/answers.ts";
import { continued } from "./parts/continued.ts";
import { floors } from "./parts/floors.ts";
import { fsyncs } from "./parts/fsyncs.ts";
import { adapterMemory, parkedMemory } from "./parts/memory.ts";
import { probes } from "./parts/probes.ts";
import { readiness, recovery } from "./parts/recovery.ts";
import { resources } from "./parts/resources.ts";
import { resumed } from "./parts/resumed.ts";
import { steps } from "./parts/steps.ts";

const PARTS: readonly Part[] = [
  floors,
  steps,
  fsyncs,
  actions,
  answers,
  continued,
  resumed,
  recovery,
  readiness,
  adapterMemory,
  parkedMemory,
  resources,
  probes,
];
const CHILDREN = ["adapter", "floors", "gc", "resources", "seed"].map((name) => `test/bench/children/${name}.ts`);
const root = resolve(import.meta.dirname, "../..");

/** Above this load per processor at the start, or with this share of them taken by others meanwhile, figures mean little. */
const MOST_LOAD = 0.5;
const MOST_OTHERS = 0.1;
/** Rounds that differ more than this from lowest to highest, as a part of the median, say that something disturbed them. */
const MOST_SPREAD = 0.6;

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    only: { type: "string" },
    rounds: { type: "string", default: "5" },
    dist: { type: "string" },
  },
});

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Builds dist/ anew: an old one would be measured, or would not know the database of the new one. */
function build(): string {
  const { status } = spawnSync(process.execPath, [join(root, "test/tools/build.mjs")], { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("dist/ could not be built");
  return join(root, "dist");
}

async function main(): Promise<void> {
  const loadBefore = load();
  const othersShare = watchOthers();
  const dist = resolve(options.dist ?? build());
  const figures: Figures = {};
  const spreads: [Key, number][] = [];
  const disturbances: string[] = [];
  const children = buildChildren(CHILDREN);
  const folder = diskFolder(root);
  const bench: Bench = {
    dist,
    folder,
    children,
    rounds: Number(options.rounds),
    say: (line) => say(`  ${line}`),
    doubt: (why) => void disturbances.push(why),
    report(key, values) {
      const { highest, lowest, median, spread } = summarize(values);
      figures[key] = median;
      if (values.length > 1) spreads.push([key, spread]);
      say(
        `  ${key.padEnd(33)} ${rounded(median)}  (${values.length} rounds: ${rounded(lowest)} to ${rounded(highest)}, spread ${(spread * 100).toFixed(0)} %)`,
      );
    },
  };
  const wanted = options.only?.split(",");
  try {
    for (const part of PARTS) {
      if (wanted !== undefined && !wanted.includes(part.name)) continue;
      const started = performance.now();
      say(`== ${part.name}`);
      await part.run(bench);
      say(`  ${((performance.now() - started) / 1_000).toFixed(1)} s`);
    }
  } finally {
    children.remove();
    rmSync(folder, { recursive: true, force: true });
  }
  conclude(figures, spreads, disturbances, loadBefore, othersShare());
}

/** Says which targets were reached and whether the figures may be believed, and prints the object. */
function conclude(
  figures: Figures,
  spreads: readonly [Key, number][],
  disturbances: readonly string[],
  loadBefore: number,
  others: number,
): void {
  say("== targets");
  for (const key of KEYS) {
    const value = figures[key];
    for (const target of TARGETS[key] ?? []) {
      say(
        `  ${value === undefined ? "NOT MEASURED" : target.met(value, figures) ? "met         " : "NOT MET     "} ${key}: ${target.text}`,
      );
    }
  }
  const doubts = [
    ...KEYS.filter((key) => figures[key] === undefined).map((key) => `${key} was not measured`),
    ...disturbances,
    ...spreads
      .filter(([, spread]) => spread > MOST_SPREAD)
      .map(([key, spread]) => `${key} varies by ${(spread * 100).toFixed(0)} %`),
    ...(loadBefore / cores > MOST_LOAD
      ? [`the load was ${loadBefore.toFixed(2)} before it began, on ${cores} processors`]
      : []),
    ...(others > MOST_OTHERS
      ? [`other processes took ${(others * 100).toFixed(0)} % of the processors meanwhile`]
      : []),
  ];
  for (const doubt of doubts) say(`  doubtful: ${doubt}`);
  const result = Object.fromEntries(
    KEYS.map((key) => [key, figures[key] === undefined ? null : rounded(figures[key])]),
  );
  const object = { ...result, load_1m: rounded(loadBefore), valid: doubts.length === 0 };
  process.stdout.write(`${options.json ? JSON.stringify(object) : JSON.stringify(object, null, 2)}\n`);
}

await main();
