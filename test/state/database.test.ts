/** Which files are opened, which are refused untouched, and how an older one is brought forward. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/state/database.ts";
import { type Schema, SCHEMA } from "../../src/state/migrations/index.ts";
import { APPLICATION_ID, SCHEMA_V1, SCHEMA_VERSION } from "../../src/state/schema/index.ts";
import { shapeOf } from "../../src/state/shape.ts";
import { openTemp, running, takeEpoch, tempFolder } from "./fixture.ts";

const now = Date.UTC(2026, 10, 30);
const open = (path: string, schema?: Schema): ReturnType<typeof openDatabase> =>
  openDatabase(path, schema === undefined ? { now } : { now, schema });

/** A closed database of ours, changed by `change` through a connection of its own. */
function madeAndChanged(change: (db: Database.Database) => void): string {
  const path = join(tempFolder(), "state.sqlite");
  open(path).close();
  const db = new Database(path);
  change(db);
  db.close();
  return path;
}

function refusedUntouched(path: string, message: RegExp): void {
  const bytes = readFileSync(path);
  const files = readdirSync(dirname(path));
  expect(() => open(path)).toThrow(
    expect.objectContaining({ kind: "notOurDatabase", message: expect.stringMatching(message) as string }),
  );
  expect(readFileSync(path).equals(bytes)).toBe(true);
  expect(readdirSync(dirname(path))).toEqual(files);
}

describe("a fresh database", () => {
  it("is private, says whose it is, and has its settings on both connections", () => {
    const path = join(tempFolder(), "home", "state.sqlite");
    const opened = open(path);
    const { writer, reader } = opened;
    writer.exec("INSERT INTO projects (canonical_path, created_at) VALUES ('/p', 1)");
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dirname(path)))
      expect([name, statSync(join(dirname(path), name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(writer.pragma("application_id", { simple: true })).toBe(APPLICATION_ID);
    expect(writer.pragma("user_version", { simple: true })).toBe(SCHEMA_VERSION);
    const settings = [
      "journal_mode",
      "synchronous",
      "foreign_keys",
      "busy_timeout",
      "wal_autocheckpoint",
      "journal_size_limit",
    ];
    expect(settings.map((name) => writer.pragma(name, { simple: true }))).toEqual([
      "wal",
      2,
      1,
      5_000,
      1_000,
      67_108_864,
    ]);
    expect(() => reader.exec("DELETE FROM projects")).toThrow(/readonly|read-only/);
    opened.close();
    expect(readdirSync(dirname(path))).toEqual(["state.sqlite"]);
  });

  it("opens again, also over an empty file and the draft of a creation that died", () => {
    const path = join(tempFolder(), "state.sqlite");
    writeFileSync(path, "");
    writeFileSync(`${path}.new`, "half a database");
    open(path).close();
    open(path).close();
    expect(readdirSync(dirname(path))).toEqual(["state.sqlite"]);
  });

  it("has only STRICT tables", () => {
    const opened = open(join(tempFolder(), "state.sqlite"));
    const loose = opened.writer
      .prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite%'",
      )
      .all();
    expect(loose).toEqual([]);
    opened.close();
  });
});

describe("a file that is not ours", () => {
  it("is refused untouched when it is no database", () => {
    const path = join(tempFolder(), "state.sqlite");
    writeFileSync(path, "dear diary\n".repeat(100));
    refusedUntouched(path, /not a SQLite database/);
  });

  it("is refused untouched when it is shorter than a header", () => {
    const path = join(tempFolder(), "state.sqlite");
    writeFileSync(path, "SQLite format 3\0");
    refusedUntouched(path, /not a SQLite database/);
  });

  it("is refused untouched when another program made it", () => {
    const path = join(tempFolder(), "state.sqlite");
    const db = new Database(path);
    db.exec("CREATE TABLE notes (text)");
    db.close();
    refusedUntouched(path, /another program/);
  });

  it("is refused untouched when it is newer", () => {
    refusedUntouched(
      madeAndChanged((db) => db.pragma(`user_version = ${SCHEMA_VERSION + 1}`)),
      /version 2; this Holdpoint knows versions up to 1/,
    );
  });

  it("is refused untouched when it has a version that never was", () => {
    refusedUntouched(
      madeAndChanged((db) => db.pragma("user_version = 0")),
      /version 0, which no release/,
    );
  });

  it.each([
    ["a column was added", "ALTER TABLE runs ADD COLUMN extra TEXT"],
    ["an index was dropped", "DROP INDEX runs_unfinished"],
    ["a trigger was added", "CREATE TRIGGER spy AFTER INSERT ON events BEGIN DELETE FROM blobs; END"],
    ["the schema record was changed", "UPDATE schema_meta SET schema_digest = 'other'"],
  ])("is refused untouched when %s", (_name, sql) => {
    refusedUntouched(
      madeAndChanged((db) => void db.exec(sql)),
      /altered/,
    );
  });
});

/** Version 2 of a future release: one table more and one value carried over. */
const FUTURE: Schema = {
  version: 2,
  ddl: `${SCHEMA_V1}\nCREATE TABLE notes (note_no INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;\n`,
  migrations: [
    {
      from: 1,
      fromShape: shapeOf(SCHEMA_V1),
      apply: (db) => {
        db.exec(
          "CREATE TABLE notes (note_no INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;\nINSERT INTO notes (text) SELECT run_id FROM runs",
        );
      },
    },
  ],
};

describe("an older database of ours", () => {
  it("is brought forward in one transaction, after a backup that stays and can be opened", async () => {
    const { store, path } = openTemp();
    const launch = await running(store, await takeEpoch(store));
    await store.idle();
    store.close();

    const opened = open(path, FUTURE);
    expect(opened.writer.prepare("SELECT text FROM notes").pluck().all()).toEqual([launch.claim.runId]);
    expect(opened.writer.pragma("user_version", { simple: true })).toBe(2);
    const backup = opened.backup as string;
    opened.close();
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    // The backup is a whole version 1, the migrated file a whole version 2.
    const old = openTemp({ path: backup });
    expect(old.store.read.runs.get(launch.claim.runId).steps).toBe(0);
    expect((await old.store.verify()).problems).toEqual([]);
    const again = open(path, FUTURE);
    expect(again.backup).toBeNull();
    again.close();
    refusedUntouched(path, /version 2; this Holdpoint knows/);
  });

  it.each([
    [
      "fails",
      () => {
        throw new Error("no such luck");
      },
      /no such luck/,
    ],
    [
      "leads to another shape",
      (db: Database.Database) => void db.exec("CREATE TABLE notes (other TEXT) STRICT"),
      /do not lead to the shape/,
    ],
  ])("stays as it was when a step %s", (_name, apply, message) => {
    const path = join(tempFolder(), "state.sqlite");
    open(path).close();
    const broken: Schema = { ...FUTURE, migrations: [{ from: 1, fromShape: shapeOf(SCHEMA_V1), apply }] };
    expect(() => open(path, broken)).toThrow(
      expect.objectContaining({ kind: "storageBroken", message: expect.stringMatching(message) as string }),
    );
    const opened = open(path);
    expect(opened.writer.pragma("user_version", { simple: true })).toBe(1);
    expect(opened.writer.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'notes'").pluck().get()).toBe(0);
    opened.close();
  });

  it("is refused when it does not have the shape of its version", () => {
    const path = madeAndChanged((db) => void db.exec("CREATE TABLE mine (x)"));
    const bytes = readFileSync(path);
    expect(() => open(path, FUTURE)).toThrow(expect.objectContaining({ kind: "notOurDatabase" }));
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });
});

it("knows exactly one way to each older version", () => {
  expect(SCHEMA.migrations.map(({ from }) => from)).toEqual(
    Array.from({ length: SCHEMA.version - 1 }, (_, i) => i + 1),
  );
});
