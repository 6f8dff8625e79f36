// Commands that write while server and runners are killed at random moments: on no run does a second writer begin before the first one,
// with everything that it started, is gone.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { Stage, isAlive, linesOf, until } from "../e2e/stage.ts";
import { Scope } from "../harness/index.ts";

const ROUNDS = 8;
const TIMES = 2;
/** Seconds between the lines of a command: from shorter than a restart to far longer. */
const PAUSES = ["0.03", "0.1", "0.3"];

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope, { clock: true });
});
afterAll(() => scope.close());

/** Numbers in [0, 1) that a seed repeats. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Writing {
  readonly run: string;
  readonly dir: string;
}
const linesIn = (runs: readonly Writing[]): number =>
  runs.reduce((sum, { dir }) => sum + linesOf(join(dir, "log")).length, 0);
async function finished({ run }: Writing): Promise<boolean> {
  const view = await stage.view(run);
  // Killed again and again without a step in between, a run waits for a person.
  if (view.nextStep?.includes("holdpoint resume") === true) await stage.client.call("run.resume", { run });
  return view.run.finishedAt !== null;
}

test("no two writers ever overlap, whoever is killed when", async () => {
  const seed = Date.now() % 1_000_000;
  const random = randomOf(seed);
  const runs = await Promise.all(
    PAUSES.map(async (pause): Promise<Writing> => {
      const dir = join(stage.home.dir, `writers-${pause}`);
      mkdirSync(dir);
      return { dir, run: await stage.start("counter", { dir, times: TIMES, pause }) };
    }),
  );
  let kills = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const enough = linesIn(runs) + Math.floor(random() * 8);
    const over = await stage.advanceUntil(async () => {
      const ended = (await Promise.all(runs.map(finished))).every(Boolean);
      return ended || linesIn(runs) >= enough ? { ended } : undefined;
    }, `more lines in round ${round} (seed ${seed})`);
    if (over.ended) break;
    const runners = stage
      .rows<{ pid: number }>("SELECT pid FROM child_processes WHERE kind = 'runner' AND ended_at IS NULL ORDER BY pid")
      .filter(({ pid }) => isAlive(pid));
    const victim = runners[Math.floor(random() * runners.length)];
    const choice = random();
    if (choice < 0.7 && victim !== undefined) process.kill(victim.pid, "SIGKILL");
    if (choice > 0.4) await stage.killAndRestart();
    kills += 1;
  }
  expect(kills).toBeGreaterThan(ROUNDS / 2);
  for (const writing of runs) {
    await stage.advanceUntil(() => finished(writing), `the end of ${writing.dir} (seed ${seed})`);
    const { dir, run } = writing;
    const said = `seed ${seed}, ${dir}`;
    const view = await stage.view(run);
    expect([view.run.status, view.finalOutput], said).toEqual(["completed", TIMES]);
    expect(linesOf(join(dir, "overlaps")), said).toEqual([]);
    // Nobody writes a line after the first one of the next.
    const writers = linesOf(join(dir, "log"))
      .map((line) => line.split(" ")[0] as string)
      .filter((writer, index, all) => writer !== all[index - 1]);
    expect(new Set(writers).size, said).toBe(writers.length);
    expect(Number(readFileSync(join(dir, "counter"), "utf8")), said).toBeGreaterThanOrEqual(TIMES);
  }
  await until(
    () => stage.rows("SELECT 1 FROM run_processes WHERE ended_at IS NULL").length === 0,
    "the end of every command",
  );
});
