/**
 * A fresh database file. It is made beside its place and moved there when it is complete, so that a crash leaves either
 * nothing or a whole file of ours.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import type { Schema } from "./migrations/index.ts";
import { APPLICATION_ID, SCHEMA_NAME } from "./schema/index.ts";
import { shapeDigest } from "./shape.ts";

/** Makes the file `path` with mode 0600. `product` is the version that is noted in it. */
export function createDatabase(path: string, schema: Schema, product: string, now: number): void {
  const draft = `${path}.new`;
  for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(draft + suffix, { force: true });
  closeSync(openSync(draft, "wx", 0o600));
  const db = new Database(draft);
  try {
    // Still in rollback-journal mode: application id and version are in the file's header, not in a WAL beside it.
    db.pragma("synchronous = FULL");
    db.transaction(() => {
      db.exec(schema.ddl);
      db.prepare(
        "INSERT INTO schema_meta (id, schema_name, schema_version, schema_digest, product_version, created_at, updated_at) VALUES (1, ?, ?, ?, ?, ?, ?)",
      ).run(SCHEMA_NAME, schema.version, shapeDigest(db), product, now, now);
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${schema.version}`);
    }).immediate();
  } finally {
    db.close();
  }
  renameSync(draft, path);
  const folder = openSync(dirname(path), "r");
  fsyncSync(folder);
  closeSync(folder);
}
