/**
 * The crash tests: for every point (points.ts) a service of real processes is played through a scenario, dies there, is started
 * again, goes on to its end, and must have kept every invariant (invariants.ts).
 *
 * `npm run crash -- --json` plays all points, `--short` each label and frame once, `--only <text>` those whose name holds the text
 * (`=name` for one, or for one chain). Points are met in chains (chains.ts); whatever a chain did not reach is played again, in the end
 * alone, and after a violation every point of the chain is. `--alone` plays each point alone at once.
 * `--baseline` plays the scenarios without faults. `--report <file>` writes the closing object to a file too.
 * Exit code 1 when an invariant was violated or a point not reached.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { ensureBuilt } from "./built.ts";
import { chainsOf } from "./chains.ts";
import type { Violation } from "./invariants.ts";
import { play, type Result } from "./play.ts";
import { allPoints, baselines, chainOf, shortPoints, unreachable, type Point } from "./points.ts";
import { SCENARIOS, type ScenarioName } from "./scenarios/index.ts";

const { values: options } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    alone: { type: "boolean", default: false },
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
  const [, faults = "", scenario = ""] = /^=(.+)@(.+)$/.exec(only) ?? [];
  if (Object.hasOwn(SCENARIOS, scenario) && !baseline)
    return faults.split(" ").map((fault) => chainOf(scenario as ScenarioName, [fault]));
  return points.filter(({ name }) => (only.startsWith("=") ? name === only.slice(1) : name.includes(only)));
}

/** What became of one point: the play that reached it last. */
interface Outcome {
  readonly ok: boolean;
  readonly seconds: number;
}

class Crash {
  readonly outcomes = new Map<string, Outcome>();
  readonly violations: (Violation & { readonly point: string })[] = [];
  readonly unhit: string[] = [];
  readonly #plays: Point[];
  readonly #total: number;
  readonly #cacheDir = mkdtempSync(join(tmpdir(), "hp-crash-"));
  #playing = 0;
  /** Lanes that have nothing to do while others may still bring something. */
  #idle: (() => void)[] = [];

  constructor(points: readonly Point[]) {
    this.#total = points.length;
    this.#plays = options.alone || options.baseline ? [...points] : chainsOf(points);
  }

  async playAll(lanes: number): Promise<void> {
    try {
      await Promise.all(Array.from({ length: lanes }, () => this.#lane()));
    } finally {
      rmSync(this.#cacheDir, { recursive: true, force: true });
    }
  }

  async #lane(): Promise<void> {
    for (;;) {
      const next = this.#plays.shift();
      if (next === undefined) {
        if (this.#playing === 0) return;
        await new Promise<void>((resolve) => this.#idle.push(resolve));
        continue;
      }
      this.#playing += 1;
      this.#judge(await play(next, this.#cacheDir));
      this.#playing -= 1;
      for (const wake of this.#idle.splice(0)) wake();
    }
  }

  #judge(result: Result): void {
    const { ahead, point, reached, seconds, violations } = result;
    const alone = point.faults.length < 2;
    const ok = violations.length === 0;
    this.violations.push(...violations.map((violation) => ({ point: point.name, ...violation })));
    if (alone) this.outcomes.set(point.name, { ok: ok && ahead.length === 0, seconds });
    else for (const { name } of reached) this.outcomes.set(name, { ok, seconds: seconds / reached.length });
    if (alone) this.unhit.push(...ahead.map(({ name }) => name));
    // Nothing was reached, or something is wrong: each point by itself.
    else if (reached.length === 0 || !ok) this.#plays.unshift(...reached, ...ahead);
    else this.#plays.unshift(...chainsOf(ahead));
    tell(result, this.outcomes.size, this.#total);
  }
}

function tell({ ahead, log, point, reached, seconds, violations }: Result, done: number, of: number): void {
  const alone = point.faults.length < 2;
  const good = violations.length === 0 && !(alone && ahead.length > 0);
  const what = alone ? point.name : `${reached.length} of ${point.faults.length} points of ${point.scenario}`;
  const missed = ahead.length === 0 ? "" : ` - not reached: ${ahead.map(({ faults }) => faults.join(" ")).join(", ")}`;
  say(`${String(done).padStart(4)}/${of} ${good ? "ok  " : "FAIL"} ${what} (${seconds.toFixed(1)} s)${missed}`);
  for (const { detail, rule } of violations) say(`      ${rule}: ${detail}`);
  if (good) return;
  say(`      again: npm run crash -- --log --only '=${point.name}'${options.baseline ? " --baseline" : ""}`);
  if (options.log) say(log);
}

ensureBuilt();
const started = performance.now();
const crash = new Crash(chosen());
await crash.playAll(Number(options.lanes));
const complete = options.only === undefined && !options.baseline;
const report = {
  points: [...crash.outcomes].map(([point, { ok, seconds }]) => ({
    point,
    ok,
    seconds: Math.round(seconds * 100) / 100,
  })),
  total: crash.outcomes.size,
  violations: crash.violations,
  unhit: [...(complete ? unreachable() : []), ...crash.unhit],
};
say(
  `${report.total} points in ${((performance.now() - started) / 1_000).toFixed(0)} s: ${report.violations.length} violations, ${report.unhit.length} not reached`,
);
if (report.total === 0) say("Nothing was played.");
if (options.report !== undefined) writeFileSync(options.report, JSON.stringify(report));
if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(report.violations.length + report.unhit.length + (report.total === 0 ? 1 : 0) === 0 ? 0 : 1);
