/**
 * What kill -9 cannot show: that a promise is kept when the power goes. A process is traced system call by system call; the
 * order of its syncs and replies is judged, and the disk is rebuilt as it would be found after a power loss at each point.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../../src/state/store.ts";
import { buildChildren, type Built } from "../adapters/built.ts";
import { Disk, layOut } from "./disk.ts";
import { repliesIn, type Reply } from "./replies.ts";
import { readTrace, straceArgs, straceProblem, type TraceEvent } from "./trace.ts";

const problem = straceProblem();
if (problem !== null) process.stderr.write(`\n*** The durability tests were SKIPPED: ${problem}.\n\n`);

const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-durability-")));
const wal = join(folder, "home", "state.sqlite-wal");
let built: Built;
let events: TraceEvent[];

describe.skipIf(problem !== null)(
  `a store that loses its power${problem === null ? "" : ` (SKIPPED: ${problem})`}`,
  () => {
    beforeAll(() => {
      built = buildChildren(["test/durability/workload.ts"]);
      const home = join(folder, "home");
      mkdirSync(home, { mode: 0o700 });
      const trace = join(folder, "trace");
      const child = [process.execPath, built.path("test/durability/workload.ts"), home];
      const { stdout, stderr } = spawnSync("strace", [...straceArgs(trace), ...child], { encoding: "utf8" });
      if (!stdout.includes('"kind":"end"')) throw new Error(`the workload did not reach its end: ${stderr}`);
      events = readTrace(trace, home);
      if (repliesOf(events).length !== repliesIn(stdout).length) throw new Error("the trace has not all that was said");
    }, 60_000);
    afterAll(() => {
      built.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    it("does many things at once: commands share batches, one in each batch or so fails, the log is begun anew on the way", () => {
      const replies = repliesOf(events);
      const groups = batchesOf(events).filter(({ replies }) => replies > 0);
      expect(groups.length).toBeGreaterThanOrEqual(40);
      expect(replies.length).toBeGreaterThan(groups.length * 3);
      expect(replies.filter(({ kind }) => kind === "refused").length).toBeGreaterThanOrEqual(40);
      const walStarts = events.filter((event) => event.kind === "write" && event.path === wal && event.offset === 0);
      expect(walStarts.length).toBeGreaterThanOrEqual(2);
    });

    it("syncs the log between the last write of a batch and its first reply, for every batch", () => {
      expect(unsyncedReplies(events)).toEqual([]);
    });

    it("would be caught if it left out the sync of a single batch", () => {
      const needed = batchesOf(events).filter(({ replies }) => replies > 0);
      for (const { syncs } of needed) expect(unsyncedReplies(without(syncs))).not.toEqual([]);
    });

    it("holds every acknowledged write when the power goes after any sync, and nothing but the synced is left", async () => {
      const seen = await judgeEverySync(events, () => false);
      expect(seen.images).toBeGreaterThanOrEqual(40);
      expect(seen.promises).toBeGreaterThanOrEqual(200);
      expect(seen.broken).toEqual([]);
    });

    it("holds them when any part of what was not yet synced is left too, torn at any sector", async () => {
      for (const seed of [1, 2]) {
        const seen = await judgeEverySync(events, dice(seed));
        expect(seen.broken).toEqual([]);
      }
    });

    it("would be seen to lose writes if a sync of the log were only pretended", async () => {
      const last = batchesOf(events).findLast(({ replies }) => replies > 0);
      const seen = await judgeEverySync(without(last?.syncs ?? []), () => false);
      expect(seen.broken).not.toEqual([]);
    });
  },
);

function repliesOf(trace: readonly TraceEvent[]): Reply[] {
  return trace.flatMap((event) => (event.kind === "reply" ? repliesIn<Reply>(event.text) : []));
}

/** The trace as it would be if the syncs at these places had not happened. */
function without(places: readonly number[]): TraceEvent[] {
  return events.filter((_, at) => !places.includes(at));
}

interface Batch {
  /** Where the log is synced after its last write: once, and once more before it is written back to the database. */
  syncs: number[];
  /** What was said between its last write and the next. */
  replies: number;
}

/** Stretches of the trace that begin with writes into the log. */
function batchesOf(trace: readonly TraceEvent[]): Batch[] {
  const batches: Batch[] = [];
  let writing = false;
  trace.forEach((event, at) => {
    const isWrite = event.kind === "write" && event.path === wal;
    if (isWrite && !writing) batches.push({ syncs: [], replies: 0 });
    writing = isWrite;
    const batch = batches.at(-1);
    if (batch === undefined) return;
    if (event.kind === "sync" && event.path === wal) batch.syncs.push(at);
    if (event.kind === "reply") batch.replies += 1;
  });
  return batches;
}

/** Replies that were given while something in the log was not yet on disk. */
function unsyncedReplies(trace: readonly TraceEvent[]): string[] {
  const found: string[] = [];
  // Nothing may be said before there is a log that is synced.
  let synced = false;
  for (const event of trace) {
    if (event.kind === "write" && event.path === wal) synced = false;
    else if (event.kind === "sync" && event.path === wal) synced = true;
    else if (event.kind === "reply" && !synced) found.push(event.text);
  }
  return found;
}

interface Judgement {
  images: number;
  /** Facts that were looked up in some image. */
  promises: number;
  broken: string[];
}

/**
 * Lets the power go just before each sync that follows a reply, and at the end: what was said until then must be there.
 * `lucky` as in `Disk.afterPowerLoss`.
 */
async function judgeEverySync(trace: readonly TraceEvent[], lucky: () => boolean): Promise<Judgement> {
  const seen: Judgement = { images: 0, promises: 0, broken: [] };
  const disk = new Disk();
  const promised = new Map<string, Extract<Reply, { kind: "run" }>>();
  let epoch = 0;
  let news = false;
  const judge = async (): Promise<void> => {
    news = false;
    seen.images += 1;
    const image = join(folder, `image-${seen.images}`);
    layOut(disk.afterPowerLoss(lucky), image);
    try {
      await judgeImage(join(image, "state.sqlite"), epoch, promised, seen);
    } catch (error) {
      seen.broken.push(String(error));
    } finally {
      rmSync(image, { recursive: true });
    }
  };
  for (const event of trace) {
    if (event.kind === "sync" && news) await judge();
    disk.apply(event);
    if (event.kind !== "reply") continue;
    news = true;
    for (const reply of repliesIn<Reply>(event.text)) {
      if (reply.kind === "run") promised.set(reply.runId, reply);
      if (reply.kind === "epoch") epoch = reply.epoch;
    }
  }
  await judge();
  return seen;
}

const ORDER = ["queued", "running", "completed"];

async function judgeImage(
  path: string,
  epoch: number,
  promised: ReadonlyMap<string, Extract<Reply, { kind: "run" }>>,
  seen: Judgement,
): Promise<void> {
  const store = openStore({ path, clock: Date });
  try {
    const { problems } = await store.verify();
    seen.broken.push(...problems);
    if (store.read.server.state()?.epoch !== epoch) seen.broken.push(`epoch ${epoch} is lost`);
    for (const { runId, status, steps } of promised.values()) {
      seen.promises += 1;
      const run = store.read.runs.get(runId);
      const attempts = store.read.runs.attempts(run.runNo).filter(({ step }) => step !== null);
      if (run.steps < steps || attempts.length !== run.steps || ORDER.indexOf(run.status) < ORDER.indexOf(status)) {
        seen.broken.push(`run ${runId} was ${status} with ${steps} steps; it is ${run.status} with ${run.steps}`);
      }
    }
  } finally {
    store.close();
  }
  const db = new Database(path, { readonly: true });
  const integrity = db.pragma("integrity_check", { simple: true });
  db.close();
  if (integrity !== "ok") seen.broken.push(String(integrity));
}

/** A coin that falls the same way in every run of the test (xorshift32; Marsaglia, "Xorshift RNGs", 2003). */
function dice(seed: number): () => boolean {
  let state = seed * 2_654_435_761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state & 1) === 1;
  };
}
