/** A copy of a database while it is in use: complete, readable by its owner only, and proved before anybody relies on it. */
import { chmodSync, closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { shapeDigest } from "../shape.ts";

/**
 * Writes what is committed now to a new file, mode 0600, and proves that the copy is whole and of the same shape. Throws when it
 * cannot; then no file is left. A file that exists already is never touched.
 */
export function makeBackup(db: Database.Database, target: string): void {
  // The file must never be readable by others, so it exists with its mode before SQLite fills it.
  closeSync(openSync(target, "wx", 0o600));
  try {
    db.prepare("VACUUM INTO ?").run(target);
    chmodSync(target, 0o600);
    const copy = new Database(target, { readonly: true });
    try {
      const check = copy.pragma("integrity_check", { simple: true });
      if (check !== "ok" || shapeDigest(copy) !== shapeDigest(db))
        throw new Error(`integrity check says ${String(check)}`);
    } finally {
      copy.close();
    }
    for (const place of [target, dirname(target)]) {
      const fd = openSync(place, "r");
      fsyncSync(fd);
      closeSync(fd);
    }
  } catch (error) {
    rmSync(target, { force: true });
    throw error;
  }
}
