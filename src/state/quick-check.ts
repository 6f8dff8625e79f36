/** SQLite's own quick check of a database, over a connection that only reads; beside a running server as well. */
import Database from "better-sqlite3";
import { SCHEMA } from "./migrations/index.ts";
import { recognize } from "./recognize.ts";

/** What is wrong with the file, at most ten lines; null when there is none yet. Throws `notOurDatabase` for one that is not ours. */
export function quickCheck(path: string): string[] | null {
  // No file: only whether the binding of SQLite loads on this Node.
  if (path === ":memory:") new Database(path).close();
  if (recognize(path, SCHEMA) === null) return null;
  const db = new Database(path, { readonly: true });
  try {
    db.pragma("busy_timeout = 5000");
    const rows = db.pragma("quick_check(10)") as { quick_check: string }[];
    return rows.map(({ quick_check: line }) => line).filter((line) => line !== "ok");
  } finally {
    db.close();
  }
}
