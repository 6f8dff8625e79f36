/**
 * Child process for the tests of a full disk. `work <folder> <pages>` fills a database that may grow by so many pages (0: as
 * far as the disk goes) with batches of three commands until some are refused, works on, and ends like a crash.
 * `again <folder> <batches>` says what a new process finds, repeats every command with its key, and says what is there then.
 */
import { randomBytes } from "node:crypto";
import { rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { isHoldpointError } from "../../src/contracts/errors.ts";
import { openDatabase } from "../../src/state/database.ts";
import { sha256 } from "../../src/state/hash.ts";
import { WriteQueue } from "../../src/state/queue.ts";
import { start } from "../../src/state/runs/start.ts";
import { Statements } from "../../src/state/statements.ts";
import { openStore } from "../../src/state/store.ts";
import { BALLAST, type DiskReply } from "./replies.ts";

/** Bytes of the second command's input, which goes to a row of its own: more than the space that is left. */
const BIG = 150_000;

function reply(line: DiskReply): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Three commands that are in line at the same moment, so that they share a batch. */
async function batch(queue: WriteQueue, number: number, big: boolean): Promise<boolean> {
  const keys = [0, 1, 2].map((place) => `${number}-${place}`);
  const settled = await Promise.allSettled(
    keys.map((key, place) =>
      queue.submit(start, {
        workflow: "full",
        workflowPath: "/full.workflow.ts",
        projectPath: "/",
        input: { key, text: big && place === 1 ? "x".repeat(BIG) + key : "" },
        receipt: {
          clientId: "client",
          idempotencyKey: key,
          operation: "run.start",
          fingerprint: sha256(key),
          serverEpoch: 1,
        },
      }),
    ),
  );
  const outcomes = settled.map((result) => {
    if (result.status === "fulfilled") return result.value.outcome;
    return isHoldpointError(result.reason) ? result.reason.kind : String(result.reason);
  });
  reply({ kind: "batch", keys, outcomes });
  return outcomes.every((outcome) => outcome === "accepted" || outcome === "adopted");
}

function openQueue(path: string): { queue: WriteQueue; db: Database.Database } {
  const { writer } = openDatabase(path, { now: Date.now() });
  const onFatal = (error: unknown): never => {
    reply({ kind: "fatal", error: String(error) });
    process.exit(70);
  };
  return {
    db: writer,
    queue: new WriteQueue({
      db: writer,
      statements: new Statements(writer),
      clock: Date,
      random: randomBytes,
      onFatal,
    }),
  };
}

async function work(path: string, pages: number): Promise<void> {
  const { db, queue } = openQueue(path);
  let number = 0;
  await batch(queue, number, false);
  if (pages > 0) db.pragma(`max_page_count = ${Number(db.pragma("page_count", { simple: true })) + pages}`);
  while (await batch(queue, (number += 1), true));
  // Less fits where more did not.
  await batch(queue, number + 1, false);
  process.kill(process.pid, "SIGKILL");
}

async function again(path: string, batches: number): Promise<void> {
  rmSync(join(path, "..", BALLAST), { force: true });
  await found(path);
  const { db, queue } = openQueue(path);
  for (let number = 0; number < batches; number += 1) await batch(queue, number, number > 0 && number < batches - 1);
  queue.close();
  db.close();
  await found(path);
}

async function found(path: string): Promise<void> {
  const store = openStore({ path, clock: Date });
  const { problems } = await store.verify();
  store.close();
  const db = new Database(path, { readonly: true });
  // Large values stand in blobs; views would only name their size.
  const blob = db.prepare("SELECT content FROM blobs WHERE blob_hash = ?").pluck();
  const textOf = (input: string): string =>
    input.startsWith("@sha256:") ? String(blob.get(Buffer.from(input.slice(8), "hex"))) : input;
  const inputs = db.prepare("SELECT input FROM runs ORDER BY run_no").pluck().all() as string[];
  const keys = inputs.map((input) => (JSON.parse(textOf(input)) as { key: string }).key);
  const count = (table: string): number => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  const rows = Object.fromEntries(
    ["run_queue", "run_continuations", "resources", "events", "server_commands", "blobs"].map((table) => [
      table,
      count(table),
    ]),
  );
  reply({
    kind: "found",
    keys,
    rows,
    problems: [
      ...problems,
      ...(db.pragma("integrity_check") as { integrity_check: string }[]).map((row) => row.integrity_check),
    ],
  });
  db.close();
}

const [what, folder, number] = process.argv.slice(2) as [string, string, string];
await (what === "work" ? work : again)(join(folder, "state.sqlite"), Number(number));
