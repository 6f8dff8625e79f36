/**
 * What an error of SQLite means for a batch: nothing was written and one may try again, or the file can no longer be trusted.
 */
import Database from "better-sqlite3";
import { HoldpointError, isHoldpointError } from "../contracts/errors.ts";

export type FailureClass = "full" | "fatal" | "refused";

/** After these nothing that the connection says can be relied on; the server exits and recovers from disk. */
const FATAL = [
  "SQLITE_IOERR",
  "SQLITE_NOMEM",
  "SQLITE_CORRUPT",
  "SQLITE_NOTADB",
  "SQLITE_CANTOPEN",
  "SQLITE_MISUSE",
  "SQLITE_INTERNAL",
];

/** `full` = FULL; `fatal` = I/O, memory, damage; everything else (BUSY, constraints, our own errors) is `refused`. */
export function failureClass(error: unknown): FailureClass {
  if (!(error instanceof Database.SqliteError)) return "refused";
  if (error.code.startsWith("SQLITE_FULL")) return "full";
  return FATAL.some((code) => error.code.startsWith(code)) ? "fatal" : "refused";
}

/** The error that a promise is rejected with; our own errors and defects of a command's code pass unchanged. */
export function asStoreError(error: unknown): unknown {
  if (isHoldpointError(error) || !(error instanceof Database.SqliteError)) return error;
  const cause = { cause: error };
  const kind = failureClass(error);
  if (kind === "full") {
    const text = `The disk or the page limit is full (${error.code}); nothing of this command was written.`;
    return new HoldpointError("diskFull", text, cause);
  }
  if (kind === "fatal") {
    return new HoldpointError("storageBroken", `SQLite reported ${error.code}: ${error.message}.`, cause);
  }
  const text = `SQLite refused a write (${error.code}: ${error.message}); nothing of this command was written.`;
  return new HoldpointError("notWritten", text, cause);
}

/** The error for the other commands of a batch that could not be committed. */
export function batchError(error: unknown): HoldpointError {
  const shown = asStoreError(error);
  if (isHoldpointError(shown) && (shown.kind === "diskFull" || shown.kind === "storageBroken")) return shown;
  const text = error instanceof Error ? error.message : String(error);
  return new HoldpointError(
    "notWritten",
    `The batch of this command could not be committed (${text}); nothing of it was written.`,
    { cause: error },
  );
}
