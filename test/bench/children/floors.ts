/**
 * Child process: what this machine and this store can do at best. Raw commits of one row with a sync each, and runs of pure
 * steps by direct calls of the store's commands: the same rows and chain as in the service, without runner, pipe or protocol.
 * Prints one JSON object. Arguments: folder, rounds.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { sha256Hex } from "../../../src/contracts/ids.ts";
import { ADVANCE } from "../../../src/contracts/limits.ts";
import { openStore, type Store } from "../../../src/state/store.ts";
import { definitionDigest } from "../../../src/workflow/rules/index.ts";
import { lastEntry, STEPS_DEFINITION, stepEntries } from "./steps.ts";

export interface Floors {
  readonly commits: number[];
  readonly steps100: number[];
  readonly steps10000: number[];
}

const COMMIT_MS = 500;
/** Runs of 100 steps in one round: a single one is too short to be timed. */
const SHORT_RUNS = 20;

/** Commits per second: one row of about 250 bytes each, WAL, synchronous = FULL. */
function commitFloor(db: Database.Database): number {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const insert = db.prepare("INSERT INTO row (body) VALUES (?)");
  const commit = db.prepare("COMMIT");
  const started = performance.now();
  let count = 0;
  while (performance.now() - started < COMMIT_MS) {
    begin.run();
    insert.run(`{"count":${count},"text":"${"x".repeat(220)}"}`);
    commit.run();
    count += 1;
  }
  return (count / (performance.now() - started)) * 1_000;
}

function rawDatabase(path: string): Database.Database {
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE row (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT");
  return db;
}

const SOURCE = { path: "/steps.workflow.ts", sha256: sha256Hex("steps"), content: Buffer.from("steps") };
let launches = 0;

/** Milliseconds from the commit of the run's start to the commit of its end. */
async function runSteps(store: Store, serverEpoch: number, steps: number): Promise<number> {
  await store.runs.start({
    workflow: "steps",
    workflowPath: SOURCE.path,
    projectPath: "/",
    input: { steps },
    receipt: null,
  });
  launches += 1;
  const launch = await store.runs.claim({ serverEpoch, runnerEpoch: `r-${launches}` });
  if (launch === null) throw new Error("no run is due");
  const { claim } = launch;
  const entries = stepEntries(steps);
  const digest = definitionDigest(STEPS_DEFINITION);
  await store.runs.ready({
    claim,
    childId: "none",
    definition: STEPS_DEFINITION,
    definitionDigest: digest,
    sources: [SOURCE],
    title: null,
  });
  const started = performance.now();
  // As far ahead of the acknowledgements as a runner may be.
  const ahead = ADVANCE.unackedSteps / ADVANCE.entriesPerFrame;
  const flying: Promise<unknown>[] = [];
  for (let first = 0; first < entries.length; first += ADVANCE.entriesPerFrame) {
    if (flying.length === ahead) await flying.shift();
    flying.push(store.runs.advance({ claim, first, entries: entries.slice(first, first + ADVANCE.entriesPerFrame) }));
  }
  await Promise.all(flying);
  await store.runs.finish({ claim, entry: lastEntry(steps) });
  return performance.now() - started;
}

async function main(folder: string, rounds: number): Promise<void> {
  const db = rawDatabase(join(folder, "floor.sqlite"));
  const store = openStore({ path: join(folder, "state.sqlite"), clock: Date });
  const { epoch } = await store.server.claimEpoch({ serverId: "bench", pid: process.pid, startIdentity: "bench" });
  const floors: Floors = { commits: [], steps100: [], steps10000: [] };
  // The first round warms the code and is not counted.
  for (let round = -1; round < rounds; round += 1) {
    const commits = commitFloor(db);
    let ms = 0;
    for (let run = 0; run < SHORT_RUNS; run += 1) ms += await runSteps(store, epoch, 100);
    const long = await runSteps(store, epoch, 10_000);
    if (round < 0) continue;
    floors.commits.push(commits);
    floors.steps100.push((SHORT_RUNS * 100 * 1_000) / ms);
    floors.steps10000.push((10_000 * 1_000) / long);
  }
  const { problems } = await store.verify();
  if (problems.length > 0) throw new Error(problems.join("; "));
  store.close();
  process.stdout.write(`${JSON.stringify(floors)}\n`);
}

await main(process.argv[2] as string, Number(process.argv[3]));
