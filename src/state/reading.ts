/**
 * Reading for views: the read-only connection, values unpacked, pages of at most `PAGE.rows` rows (the statements say LIMIT).
 * What is read here is never the basis of a change: commands read for themselves.
 */
import type { JsonValue } from "../contracts/protocol/shared.ts";
import type { Reader, SqlValue, Statements } from "./statements.ts";
import { largeContent, loadBlob, unpackText, unpackValue } from "./values.ts";

export interface ReadDb extends Reader {
  /** The clock port. */
  now(): number;
  unpack(text: string): JsonValue;
  unpackText(text: string): string;
  loadBlob(hex: string): Buffer;
}

/** `assertOutside` throws inside a command: a command that read here would not see its own batch. */
export function readDb(statements: Statements, clock: { now(): number }, assertOutside: () => void): ReadDb {
  const db: Reader = {
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row
    get<R>(sql: string, ...params: SqlValue[]) {
      assertOutside();
      return statements.get<R>(sql, ...params);
    },
    all<R>(sql: string, ...params: SqlValue[]) {
      assertOutside();
      return statements.all<R>(sql, ...params);
    },
  };
  return {
    ...db,
    now: () => clock.now(),
    unpack: (text) => unpackValue(db, text),
    unpackText: (text) => unpackText(db, text),
    loadBlob: (hex) => loadBlob(db, hex),
  };
}

/** A packed column that may be NULL. */
export function unpackOrNull(db: { unpack(text: string): JsonValue }, text: string | null): JsonValue | null {
  return text === null ? null : db.unpack(text);
}

/** A packed column for people: its value, or for one of more than `limit` bytes a note with its size, without reading it. */
export function shownValue(db: Reader & { unpack(text: string): JsonValue }, text: string, limit: number): JsonValue {
  const large = largeContent(db, text, limit);
  return large === null ? db.unpack(text) : `(${large.bytes} bytes, too large for this view)`;
}
