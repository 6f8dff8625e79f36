/**
 * Is this file ours? Decided from the bytes of its header and, if they fit, with a connection that only reads, so that a
 * file that is refused stays byte for byte what it was.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { HoldpointError } from "../contracts/errors.ts";
import type { Schema } from "./migrations/index.ts";
import { APPLICATION_ID, SCHEMA_NAME } from "./schema/index.ts";
import { shapeDigest, shapeOf } from "./shape.ts";

const MAGIC = "SQLite format 3\0";

/**
 * The version of the file, or null when there is none yet (missing or empty).
 * Throws `notOurDatabase` for a foreign, newer or altered one.
 */
export function recognize(path: string, schema: Schema): number | null {
  if (!existsSync(path)) return null;
  const stat = statSync(path);
  const refuse = (what: string): never => {
    throw new HoldpointError("notOurDatabase", `${path} ${what}; it was left untouched.`);
  };
  if (!stat.isFile()) refuse("is not a regular file");
  if (stat.size === 0) return null;
  const header = headerOf(path);
  if (header.length < 100 || header.toString("latin1", 0, 16) !== MAGIC) refuse("is not a SQLite database");
  if (header.readUInt32BE(68) !== APPLICATION_ID) refuse("belongs to another program");
  const version = header.readUInt32BE(60);
  if (version > schema.version) refuse(`has version ${version}; this Holdpoint knows versions up to ${schema.version}`);
  const expected =
    version === schema.version
      ? shapeOf(schema.ddl)
      : schema.migrations.find(({ from }) => from === version)?.fromShape;
  if (expected === undefined) refuse(`has version ${version}, which no release of Holdpoint had`);
  const problem = inspect(path, version, expected as string);
  if (problem !== null) refuse(problem);
  return version;
}

function headerOf(path: string): Buffer {
  const fd = openSync(path, "r");
  try {
    const header = Buffer.alloc(100);
    return header.subarray(0, readSync(fd, header, 0, 100, 0));
  } finally {
    closeSync(fd);
  }
}

/** What is wrong with the schema of the file, or null. */
function inspect(path: string, version: number, shape: string): string | null {
  // With a WAL beside it only a read-only connection leaves both as they are. Without one, a connection that may write
  // but does not takes its own WAL away again, which a read-only one cannot.
  const db = new Database(path, { readonly: existsSync(`${path}-wal`) });
  try {
    db.pragma("query_only = ON");
    const seen = shapeDigest(db);
    if (seen !== shape) return "was altered: its tables are not the ones this version makes";
    const meta = db
      .prepare(
        "SELECT schema_name AS name, schema_version AS version, schema_digest AS digest FROM schema_meta WHERE id = 1",
      )
      .get() as { name: string; version: number; digest: string } | undefined;
    if (meta?.name !== SCHEMA_NAME || meta.version !== version || meta.digest !== shape)
      return "was altered: its schema record does not fit";
    return null;
  } catch (error) {
    if (error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code))
      return `is damaged (${error.message})`;
    throw error;
  } finally {
    db.close();
  }
}
