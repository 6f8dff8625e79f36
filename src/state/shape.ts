/**
 * The shape of a database: the digest over its DDL as SQLite keeps it. A file is ours only if its shape is exactly the one
 * that a fresh database of its version has.
 */
import Database from "better-sqlite3";
import { canonicalJson } from "../contracts/canonical.ts";
import { sha256Hex } from "./hash.ts";

/** Hex digest over every table, index, trigger and view, without SQLite's own. */
export function shapeDigest(db: Database.Database): string {
  const rows = db
    .prepare(
      "SELECT type, name, tbl_name AS tbl, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name",
    )
    .all();
  return sha256Hex(canonicalJson(rows));
}

/** The shape that a DDL text makes, found with a fresh database in memory. */
export function shapeOf(ddl: string): string {
  const db = new Database(":memory:");
  try {
    db.exec(ddl);
    return shapeDigest(db);
  } finally {
    db.close();
  }
}
