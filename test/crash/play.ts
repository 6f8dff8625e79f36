/** Plays one point, or a chain of points, from start to end, and judges what is left. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { openStore } from "../../src/state/store.ts";
import { leakSearch, logsOf } from "../harness/index.ts";
import { readFacts } from "./facts.ts";
import { violationsOf, type Execution, type Violation } from "./invariants.ts";
import { chainOf, type Point } from "./points.ts";
import { SCENARIOS } from "./scenarios/index.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { Stage } from "./stage.ts";

export interface Result {
  readonly point: Point;
  readonly violations: readonly Violation[];
  /** The points of it that were reached, each as one alone. */
  readonly reached: readonly Point[];
  /** The points of it that were not. */
  readonly ahead: readonly Point[];
  readonly seconds: number;
  /** The log of the server, when something is wrong. */
  readonly log: string;
}

/** Never rejects: whatever goes wrong is a violation. */
export async function play(point: Point, cacheDir: string): Promise<Result> {
  const scenario: Scenario = SCENARIOS[point.scenario];
  const started = performance.now();
  const violations: Violation[] = [];
  let reached: readonly string[] = [];
  let log = "";
  try {
    const stage = await Stage.open(point, cacheDir, scenario.options ?? {});
    try {
      violations.push(...(await judge(stage, scenario)));
    } catch (error) {
      violations.push({
        rule: "noEnd",
        detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    } finally {
      violations.push(...stage.problems.map((detail) => ({ rule: "server", detail })));
      reached = stage.reached;
      if (violations.length > 0) log = logsOf(stage.home);
      await stage.close();
    }
  } catch (error) {
    violations.push({ rule: "stage", detail: String(error) });
  }
  const seconds = (performance.now() - started) / 1_000;
  const each = (was: boolean): Point[] =>
    point.faults.filter((fault) => reached.includes(fault) === was).map((fault) => chainOf(point.scenario, [fault]));
  return { point, violations, reached: each(true), ahead: each(false), seconds, log };
}

async function judge(stage: Stage, scenario: Scenario): Promise<Violation[]> {
  const endings = await scenario.play(stage);
  await stage.calm();
  const leaks = await leakSearch(stage.home, stage.sim.token);
  while (!(await stage.stop())) await stage.calm();
  const { database } = stage.home;
  const facts = readFacts(database);
  return [
    ...violationsOf({
      facts,
      ledger: stage.sim.ledger.state(),
      acts: stage.person.acts,
      executions: executionsOf(stage, facts.runs),
      endings,
      verified: await verify(database),
      inboxKept: scenario.forgets !== true,
      commands: stage.operator.commands,
      needsResume: scenario.needsResume === true,
      runnerDeaths: stage.reached.filter((fault) => fault.startsWith("runner:")).length,
    }),
    ...leaks.map(({ form, where }) => ({ rule: "noLeak", detail: `the token (${form}) is in ${where}` })),
  ];
}

function executionsOf(
  stage: Stage,
  runs: readonly { runId: string; title: string | null }[],
): Map<string, Execution[]> {
  return new Map(
    runs.map(({ runId, title }) => {
      const file = join(stage.folder(title ?? "none"), "actions.jsonl");
      const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
      return [runId, lines.map((line) => JSON.parse(line) as Execution)];
    }),
  );
}

async function verify(path: string): Promise<readonly string[]> {
  const store = openStore({ path, clock: Date });
  try {
    const { events, problems } = await store.verify();
    return events === 0 ? ["there are no events at all"] : problems;
  } finally {
    store.close();
  }
}
