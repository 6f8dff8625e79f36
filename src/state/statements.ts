/**
 * Prepared statements of one connection, kept by their SQL text: a command pays for parsing once in the life of the process.
 */
import type Database from "better-sqlite3";

/** What SQLite takes as a bound value here. Booleans are written as 0 and 1 by the caller. */
export type SqlValue = string | number | Buffer | null;

export interface RunResult {
  readonly changes: number;
  readonly lastInsertRowid: number;
}

/** Reading by SQL; rows are plain objects with the column names of the statement. */
export interface Reader {
  get<R>(sql: string, ...params: SqlValue[]): R | undefined;
  all<R>(sql: string, ...params: SqlValue[]): R[];
}

interface Prepared {
  readonly statement: Database.Statement;
  /** Makes a row of the values that the statement gives; the binding's own objects take half as long again. */
  readonly row: (values: unknown[]) => unknown;
  /** The SQL says `?1`, `?2`: better-sqlite3 wants those by name. */
  readonly numbered: boolean;
}

export class Statements implements Reader {
  readonly #db: Database.Database;
  readonly #cache = new Map<string, Prepared>();

  constructor(db: Database.Database) {
    this.#db = db;
  }

  #prepared(sql: string): Prepared {
    let prepared = this.#cache.get(sql);
    if (prepared === undefined) {
      const statement = this.#db.prepare(sql);
      const row = statement.reader
        ? rowOf(
            statement
              .raw(true)
              .columns()
              .map(({ name }) => name),
          )
        : NO_ROW;
      prepared = { statement, row, numbered: /\?[0-9]/.test(sql) };
      this.#cache.set(sql, prepared);
    }
    return prepared;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row
  get<R>(sql: string, ...params: SqlValue[]): R | undefined {
    const { statement, numbered, row } = this.#prepared(sql);
    const values = numbered ? statement.get(byNumber(params)) : statement.get(...params);
    return values === undefined ? undefined : (row(values as unknown[]) as R);
  }

  all<R>(sql: string, ...params: SqlValue[]): R[] {
    const { statement, numbered, row } = this.#prepared(sql);
    const rows = numbered ? statement.all(byNumber(params)) : statement.all(...params);
    return rows.map((values) => row(values as unknown[]) as R);
  }

  run(sql: string, ...params: SqlValue[]): RunResult {
    const { statement, numbered } = this.#prepared(sql);
    const { changes, lastInsertRowid } = numbered ? statement.run(byNumber(params)) : statement.run(...params);
    return { changes, lastInsertRowid: Number(lastInsertRowid) };
  }
}

const NO_ROW = (): never => {
  throw new Error("the statement gives no rows");
};

/**
 * A literal of the columns, compiled once for each statement: V8 builds it in one step, where filling or copying an object costs
 * several times as much. The names come from our own statements and are written as quoted strings.
 */
function rowOf(names: readonly string[]): (values: unknown[]) => object {
  const fields = names.map((name, index) => `${JSON.stringify(name)}: v[${index}]`);
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- nothing from outside is in it
  return new Function("v", `return { ${fields.join(", ")} };`) as (values: unknown[]) => object;
}

function byNumber(params: readonly SqlValue[]): Record<number, SqlValue> {
  const named: Record<number, SqlValue> = {};
  for (let i = 0; i < params.length; i += 1) named[i + 1] = params[i] as SqlValue;
  return named;
}
