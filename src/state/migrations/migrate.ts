/** Brings an older database of ours to the present version: a verified backup first, then every step in one transaction. */
import type Database from "better-sqlite3";
import { HoldpointError } from "../../contracts/errors.ts";
import { makeBackup } from "../maintenance/backup.ts";
import { shapeDigest, shapeOf } from "../shape.ts";
import type { Schema } from "./index.ts";

/**
 * Migrates `db` (open for writing, shape already checked) from `version`. Returns the path of the backup, which stays.
 * Any failure leaves the database as it was.
 */
export function migrate(db: Database.Database, path: string, version: number, schema: Schema, now: number): string {
  const backup = `${path}.v${version}-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, "")}.backup`;
  backUp(db, backup);
  db.pragma("foreign_keys = OFF");
  try {
    db.exec("BEGIN IMMEDIATE");
    for (const step of schema.migrations.filter(({ from }) => from >= version)) step.apply(db);
    const shape = shapeDigest(db);
    if (shape !== shapeOf(schema.ddl))
      throw new Error(`the steps from version ${version} do not lead to the shape of version ${schema.version}`);
    if ((db.pragma("foreign_key_check") as unknown[]).length > 0) throw new Error("a row lost its parent");
    db.prepare("UPDATE schema_meta SET schema_version = ?, schema_digest = ?, updated_at = ?").run(
      schema.version,
      shape,
      now,
    );
    db.pragma(`user_version = ${schema.version}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    const text = error instanceof Error ? error.message : String(error);
    throw new HoldpointError(
      "storageBroken",
      `Migrating ${path} from version ${version} to ${schema.version} failed: ${text}. It was left as it was.`,
      {
        cause: error,
        remedy: `Start the version of Holdpoint that made it, and report this. A copy stands in ${backup}.`,
      },
    );
  } finally {
    db.pragma("foreign_keys = ON");
  }
  return backup;
}

/** A copy that is proved, or a refusal to go on. */
function backUp(db: Database.Database, backup: string): void {
  try {
    makeBackup(db, backup);
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    const text = error instanceof Error ? error.message : String(error);
    throw new HoldpointError(
      "storageBroken",
      exists
        ? `The backup ${backup} exists already; nothing was migrated.`
        : `The backup before a migration could not be made (${text}); nothing was migrated.`,
      { cause: error },
    );
  }
}
