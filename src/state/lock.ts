/**
 * The single-server lock: `BEGIN EXCLUSIVE` on a lock database, held for life. The kernel frees it with the process, so there is
 * no stale lock to judge. It is a SQLite file because that is the one lock that better-sqlite3 gives us on every platform.
 */
import { chmodSync } from "node:fs";
import Database from "better-sqlite3";
import { HoldpointError } from "../contracts/errors.ts";

export interface ServerLock {
  release(): void;
}

/** Takes the lock or throws `serverRunning` at once; nothing is changed when it is held by another. */
export function takeLock(path: string): ServerLock {
  const db = new Database(path, { timeout: 0 });
  try {
    chmodSync(path, 0o600);
    db.pragma("journal_mode = DELETE");
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) {
      throw new HoldpointError(
        "serverRunning",
        "Another Holdpoint server of this home is alive; this one does not start.",
      );
    }
    throw error;
  }
  return { release: () => db.close() };
}
