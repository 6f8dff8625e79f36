/**
 * The crash tests: for every point (points.ts) a service of real processes is played through a scenario, dies there, is started
 * again, goes on to its end, and must have kept every invariant (invariants.ts).
 *
 * `npm run crash -- --json` plays all points, `--short` each label and frame once, `--only <text>` those whose name holds the text
 * (`=name` for one). `--baseline` plays the scenarios without faults. `--report <file>` writes the closing object to a file too.
 * Exit code 1 when an invariant was violated or a point not reached.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { ensureBuilt } from "./built.ts";
import { play, type Result } from "./play.ts";
import { allPoints, baselines, shortPoints, unreachable, type Point } from "./points.ts";
import { SCENARIOS, type ScenarioName } from "./scenarios/index.ts";

const { values: options } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    baseline: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    log: { type: "boolean", default: false },
    only: { type: "string" },
    report: { type: "string" },
    // More than processors: a point waits for its processes for a good part of its time.
    lanes: { type: "string", default: "5" },
  },
});

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function chosen(): Point[] {
  const { baseline, only, short } = options;
  const points = baseline ? baselines(Object.keys(SCENARIOS) as ScenarioName[]) : short ? shortPoints() : allPoints();
  if (only === undefined) return points;
  return points.filter(({ name }) => (only.startsWith("=") ? name === only.slice(1) : name.includes(only)));
}

async function playAll(points: readonly Point[]): Promise<Result[]> {
  const cacheDir = mkdtempSync(join(tmpdir(), "hp-crash-"));
  const waiting = [...points];
  const results: Result[] = [];
  const lane = async (): Promise<void> => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      const result = await play(point, cacheDir);
      results.push(result);
      tell(result, results.length, points.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: Number(options.lanes) }, lane));
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
  return results;
}

function tell({ hit, log, point, seconds, violations }: Result, done: number, of: number): void {
  const good = hit && violations.length === 0;
  say(
    `${String(done).padStart(3)}/${of} ${good ? "ok  " : "FAIL"} ${point} (${seconds.toFixed(1)} s)${hit ? "" : " - was not reached"}`,
  );
  for (const { detail, rule } of violations) say(`      ${rule}: ${detail}`);
  if (good) return;
  say(`      again: npm run crash -- --log --only '=${point}'${options.baseline ? " --baseline" : ""}`);
  if (options.log) say(log);
}

ensureBuilt();
const points = chosen();
const started = performance.now();
const results = await playAll(points);
const complete = options.only === undefined && !options.baseline;
const report = {
  points: results.map(({ hit, point, seconds, violations }) => ({
    point,
    ok: hit && violations.length === 0,
    seconds: Math.round(seconds * 100) / 100,
  })),
  total: results.length,
  violations: results.flatMap(({ point, violations }) => violations.map((violation) => ({ point, ...violation }))),
  unhit: [...(complete ? unreachable() : []), ...results.filter(({ hit }) => !hit).map(({ point }) => point)],
};
say(
  `${report.total} points in ${((performance.now() - started) / 1_000).toFixed(0)} s: ${report.violations.length} violations, ${report.unhit.length} not reached`,
);
if (report.total === 0) say("Nothing was played.");
if (options.report !== undefined) writeFileSync(options.report, JSON.stringify(report));
if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(report.violations.length + report.unhit.length + (report.total === 0 ? 1 : 0) === 0 ? 0 : 1);
