/**
 * What is done to a whole database file, outside of the server: verify, back up, prune. Runs in a process of its own, so that it
 * costs the server nothing and works when the server does not.
 */
import { existsSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { HoldpointError, isHoldpointError } from "../../contracts/errors.ts";
import type { PruneReport, VerifyFileReport } from "../../contracts/maintenance.ts";
import { SCHEMA } from "../migrations/index.ts";
import { readDb } from "../reading.ts";
import { recognize } from "../recognize.ts";
import { Statements } from "../statements.ts";
import { verifyChains } from "../verify.ts";
import { makeBackup } from "./backup.ts";
import { deleteTrees, prunable } from "./prune.ts";

export { takeLock } from "../lock.ts";

/** SQLite's own checks say more than anybody reads. */
const MOST_PROBLEMS = 100;

/**
 * Checks SQLite's structure, every event chain and every content of a file, also while a server uses it.
 *
 * @throws HoldpointError `notOurDatabase`, or `homeInvalid` when there is no database
 */
export async function verifyFile(path: string): Promise<VerifyFileReport> {
  return reading(path, async (db) => {
    const broken = (db.pragma(`integrity_check(${MOST_PROBLEMS})`) as { integrity_check: string }[])
      .map((row) => row.integrity_check)
      .filter((text) => text !== "ok");
    const dangling = (db.pragma("foreign_key_check") as { table: string; parent: string }[]).map(
      ({ parent, table }) => `A row of ${table} has lost its parent in ${parent}.`,
    );
    const breathe = (): Promise<void> => Promise.resolve();
    const { problems, ...counts } = await verifyChains(
      readDb(new Statements(db), Date, () => {}),
      breathe,
    );
    return { path, ...counts, problems: [...broken, ...dangling, ...problems].slice(0, MOST_PROBLEMS) };
  });
}

/** Copies a database in use to a new file and verifies the copy. Throws `backupFailed`; then there is no file. */
export async function backupFile(path: string, target: string): Promise<VerifyFileReport & { readonly bytes: number }> {
  await reading(path, (db) => {
    try {
      makeBackup(db, target);
    } catch (error) {
      const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
      const why = exists ? "the file exists already" : error instanceof Error ? error.message : String(error);
      throw new HoldpointError("backupFailed", `No copy was made at ${target}: ${why}.`, { cause: error });
    }
    return Promise.resolve();
  });
  const report = await verifyFile(target);
  return { ...report, bytes: statSync(target).size };
}

/** What would be deleted: trees of runs that all ended before `before` and that nothing needs any more. */
export function previewPrune(path: string, before: number): Promise<PruneReport> {
  return reading(path, (db) => Promise.resolve(prunable(db, before)));
}

/**
 * Deletes what the preview names, in one transaction: all or nothing. No server may use the file; a verified backup comes first.
 *
 * @throws HoldpointError `backupFailed`, `storageBroken`; then nothing was deleted
 */
export async function pruneFile(path: string, before: number, backup: string): Promise<PruneReport> {
  const { problems } = await backupFile(path, backup);
  if (problems.length > 0)
    throw new HoldpointError(
      "storageBroken",
      `The database has ${problems.length} problems, the first: ${problems[0]} Nothing was deleted.`,
    );
  const db = new Database(path);
  try {
    db.pragma("synchronous = FULL");
    return deleteTrees(db, before);
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldpointError("storageBroken", `Nothing was deleted: ${why}.`, { cause: error });
  } finally {
    db.close();
  }
}

async function reading<T>(path: string, use: (db: Database.Database) => Promise<T>): Promise<T> {
  const version = recognize(path, SCHEMA);
  if (version === null)
    throw new HoldpointError("homeInvalid", `There is no database at ${path}.`, {
      remedy: "Check the path; the database of a home is made when its server first starts.",
    });
  if (version !== SCHEMA.version)
    throw new HoldpointError(
      "notOurDatabase",
      `${path} has the older version ${version}; a server that opens it brings it to version ${SCHEMA.version}.`,
    );
  // As when it is recognized: a connection that only reads leaves a WAL as it is, another one takes its own away again.
  const db = new Database(path, { readonly: existsSync(`${path}-wal`) });
  try {
    db.pragma("busy_timeout = 5000");
    return await use(db);
  } finally {
    db.close();
  }
}
