/**
 * Migrations: every released version of the schema has a number and the digest of its shape, and one step to the next.
 * They only go forward, all in one transaction, after a verified backup (`migrate.ts`).
 */
import type Database from "better-sqlite3";
import { SCHEMA_V1, SCHEMA_VERSION } from "../schema/index.ts";

interface Migration {
  /** Leads from this version to the next. */
  readonly from: number;
  /** Shape of the version it leaves; a file with another shape was altered and is refused. */
  readonly fromShape: string;
  readonly apply: (db: Database.Database) => void;
}

/** The versions that this build knows. */
export interface Schema {
  readonly version: number;
  /** DDL of a fresh database of `version`. */
  readonly ddl: string;
  /** One per older version, in order. */
  readonly migrations: readonly Migration[];
}

export const SCHEMA: Schema = { version: SCHEMA_VERSION, ddl: SCHEMA_V1, migrations: [] };
