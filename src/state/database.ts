/**
 * Opening the database: recognized, made or migrated, then one connection that writes and one that only reads, both with
 * their settings asserted. FULL is set explicitly on each: left alone, SQLite falls back to NORMAL in WAL mode at first use.
 */
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { HoldpointError } from "../contracts/errors.ts";
import { createDatabase } from "./create.ts";
import { SCHEMA, type Schema } from "./migrations/index.ts";
import { migrate } from "./migrations/migrate.ts";
import { recognize } from "./recognize.ts";

export interface OpenedDatabase {
  readonly writer: Database.Database;
  readonly reader: Database.Database;
  /** Path of the backup when the file was migrated. */
  readonly backup: string | null;
  close(): void;
}

export interface OpenOptions {
  readonly now: number;
  /** Product version noted in a fresh file. */
  readonly product?: string;
  /** Another set of versions, for the test of migrations. */
  readonly schema?: Schema;
}

/**
 * Opens `path`, which is made with mode 0600 (its folder with 0700) when missing.
 * Throws `notOurDatabase` for a foreign, newer or altered file, which stays untouched, and `storageBroken` when a setting
 * does not hold or a migration fails.
 */
export function openDatabase(path: string, options: OpenOptions): OpenedDatabase {
  const schema = options.schema ?? SCHEMA;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const version = recognize(path, schema);
  if (version === null) createDatabase(path, schema, options.product ?? "unknown", options.now);
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  const writer = new Database(path);
  try {
    prepareWriter(writer);
    const backup =
      version !== null && version < schema.version ? migrate(writer, path, version, schema, options.now) : null;
    const reader = new Database(path, { readonly: true });
    prepareReader(reader);
    const close = (): void => {
      reader.close();
      writer.close();
    };
    return { writer, reader, backup, close };
  } catch (error) {
    writer.close();
    throw error;
  }
}

function prepareWriter(db: Database.Database): void {
  db.pragma("busy_timeout = 5000");
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = ON");
  // Each command's savepoint copies the pages it changes; on disk that costs more system time than the whole commit.
  db.pragma("temp_store = MEMORY");
  // Kibibytes. A batch changes far less, and behind it is the system's own cache: 16 MB on each connection bought nothing.
  db.pragma("cache_size = -4000");
  db.pragma("wal_autocheckpoint = 1000");
  db.pragma(`journal_size_limit = ${64 * 1_024 * 1_024}`);
  db.prepare("SELECT count(*) FROM schema_meta").get();
  expectPragma(db, "journal_mode", "wal");
  expectPragma(db, "synchronous", 2);
  expectPragma(db, "foreign_keys", 1);
}

function prepareReader(db: Database.Database): void {
  db.pragma("busy_timeout = 5000");
  db.pragma("query_only = ON");
  db.pragma("cache_size = -2000");
  db.pragma("synchronous = FULL");
  db.prepare("SELECT count(*) FROM schema_meta").get();
  expectPragma(db, "query_only", 1);
}

function expectPragma(db: Database.Database, name: string, wanted: string | number): void {
  const seen = db.pragma(name, { simple: true });
  if (seen !== wanted) {
    throw new HoldpointError(
      "storageBroken",
      `SQLite's ${name} is ${String(seen)} after the first statement; ${wanted} is required.`,
    );
  }
}
