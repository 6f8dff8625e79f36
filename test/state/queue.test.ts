/** The rules of the write queue, one by one, on a real file. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { HoldpointError } from "../../src/contracts/errors.ts";
import type { Command } from "../../src/state/command.ts";
import { openDatabase } from "../../src/state/database.ts";
import { WriteQueue, type QueuePorts } from "../../src/state/queue.ts";
import { Statements } from "../../src/state/statements.ts";
import type { Tx } from "../../src/state/tx.ts";
import { afterTest } from "../harness/cleanups.ts";
import { tempFolder, TestClock } from "./fixture.ts";

function openQueue(ports: Partial<QueuePorts> = {}): {
  queue: WriteQueue;
  db: Database.Database;
  rows: () => string[];
  path: string;
} {
  const clock = new TestClock();
  const path = join(tempFolder(), "state.sqlite");
  const opened = openDatabase(path, { now: clock.now() });
  const db = opened.writer;
  const queue = new WriteQueue({
    db,
    statements: new Statements(db),
    clock,
    random: (size) => Buffer.alloc(size),
    ...ports,
  });
  afterTest(() => opened.close());
  // Through a connection of its own: what it sees is committed.
  const rows = (): string[] => {
    const other = new Database(path, { readonly: true });
    try {
      return other.prepare("SELECT canonical_path FROM projects ORDER BY project_no").pluck().all() as string[];
    } finally {
      other.close();
    }
  };
  return { queue, db, rows, path };
}

const command = <O>(run: (tx: Tx) => O, label = "test.command"): Command<null, O> => ({ label, run: (tx) => run(tx) });
const insert = (tx: Tx, name: string): void => {
  tx.run("INSERT INTO projects (canonical_path, created_at) VALUES (?, ?)", name, tx.now);
};
const add = (name: string): Command<null, string> =>
  command((tx) => {
    insert(tx, name);
    return name;
  });
const outcomes = async (promises: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(promises)).map((one) =>
    one.status === "fulfilled" ? "ok" : one.reason instanceof HoldpointError ? one.reason.kind : String(one.reason),
  );

describe("the write queue", () => {
  it("resolves with the command's value after it is on disk for everybody", async () => {
    const { queue, rows } = openQueue();
    const done = queue.submit(add("one"), null);
    expect(rows()).toEqual([]);
    expect(await done).toBe("one");
    expect(rows()).toEqual(["one"]);
  });

  it("runs what waits in order of arrival inside one transaction", async () => {
    const seen: string[][] = [];
    const { queue, rows } = openQueue({
      faults: { before: () => undefined, after: (labels) => void seen.push([...labels]) },
    });
    const names = ["a", "b", "c"];
    await Promise.all(names.map((name) => queue.submit({ ...add(name), label: `test.${name}` }, null)));
    expect(rows()).toEqual(names);
    expect(seen).toEqual([["test.a", "test.b", "test.c"]]);
  });

  it("never takes more than 256 commands into one batch, and stops a batch after 10 ms of work", async () => {
    const sizes: number[] = [];
    const faults = { before: (labels: readonly string[]) => void sizes.push(labels.length), after: () => undefined };
    const { queue } = openQueue({ faults, elapsed: () => 0 });
    await Promise.all(Array.from({ length: 300 }, (_, i) => queue.submit(add(`p${i}`), null)));
    expect(sizes).toEqual([256, 44]);

    sizes.length = 0;
    let time = 0;
    const slow = openQueue({ faults, elapsed: () => (time += 6) });
    await Promise.all(["a", "b", "c"].map((name) => slow.queue.submit(add(name), null)));
    expect(sizes).toEqual([2, 1]);
    expect(slow.rows()).toEqual(["a", "b", "c"]);
  });

  it("rolls back a command that throws, and only that one", async () => {
    const { queue, rows } = openQueue();
    const failing = command((tx) => {
      insert(tx, "half");
      throw new RangeError("no");
    });
    const [first, second, third] = [
      queue.submit(add("first"), null),
      queue.submit(failing, null),
      queue.submit(add("third"), null),
    ];
    await expect(second).rejects.toThrow(RangeError);
    expect(await Promise.all([first, third])).toEqual(["first", "third"]);
    expect(rows()).toEqual(["first", "third"]);
  });

  it("rejects a refused constraint as not written, without touching its neighbours", async () => {
    const { queue, rows } = openQueue();
    expect(
      await outcomes([
        queue.submit(add("same"), null),
        queue.submit(add("same"), null),
        queue.submit(add("other"), null),
      ]),
    ).toEqual(["ok", "notWritten", "ok"]);
    expect(rows()).toEqual(["same", "other"]);
  });

  it.each([
    ["ROLLBACK", (db: Database.Database) => void db.exec("ROLLBACK")],
    ["COMMIT and BEGIN", (db: Database.Database) => void db.exec("COMMIT; BEGIN")],
    [
      "a trigger that rolls back",
      (db: Database.Database) => {
        try {
          db.exec("UPDATE projects SET created_at = -1");
        } catch {
          // The command swallows the error: the queue must see by itself that the transaction is gone.
        }
      },
    ],
  ])("reports no success of a batch whose transaction a command ended by %s", async (_name, end) => {
    const { queue, db, rows } = openQueue();
    await queue.submit(add("before"), null);
    db.exec(
      "CREATE TEMP TRIGGER gone BEFORE UPDATE ON projects WHEN NEW.created_at = -1 BEGIN SELECT RAISE(ROLLBACK, 'gone'); END",
    );
    const results = await outcomes([
      queue.submit(add("first"), null),
      queue.submit(
        command(() => end(db)),
        null,
      ),
      queue.submit(add("third"), null),
    ]);
    // The third was not in that batch any more; it had one of its own.
    expect(results).toEqual(["notWritten", "notWritten", "ok"]);
    expect(rows()).toContain("third");
    expect(db.inTransaction).toBe(false);
    expect(await queue.submit(add("later"), null)).toBe("later");
  });

  it("loses nothing and halves nothing when the second of three commands finds the disk full", async () => {
    const { queue, db, rows } = openQueue();
    await queue.submit(add("before"), null);
    const pages = db.pragma("page_count", { simple: true }) as number;
    db.pragma(`max_page_count = ${pages + 4}`);
    const huge = command((tx) => {
      insert(tx, "half");
      tx.blob(Buffer.alloc(1_000_000, 7));
      return null;
    });
    const results = await outcomes([
      queue.submit(add("first"), null),
      queue.submit(huge, null),
      queue.submit(add("third"), null),
    ]);
    expect(results[1]).toBe("diskFull");
    const told = ["first", "huge", "third"].filter((_, i) => results[i] === "ok");
    expect(rows()).toEqual(["before", ...told]);
    expect(results[2]).toBe("ok");
    db.pragma(`max_page_count = ${pages + 10_000}`);
    expect(await outcomes([queue.submit(huge, null)])).toEqual(["ok"]);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  });

  it("rejects the whole batch when it cannot begin, and goes on afterwards", async () => {
    const { queue, db, rows, path } = openQueue();
    db.pragma("busy_timeout = 0");
    const other = new Database(path);
    other.exec("BEGIN IMMEDIATE");
    expect(await outcomes([queue.submit(add("a"), null), queue.submit(add("b"), null)])).toEqual([
      "notWritten",
      "notWritten",
    ]);
    other.exec("ROLLBACK");
    other.close();
    expect(await queue.submit(add("c"), null)).toBe("c");
    expect(rows()).toEqual(["c"]);
  });

  it("shuts down and tells the server when the file is damaged", async () => {
    const seen: unknown[] = [];
    const { queue, rows } = openQueue({ onFatal: (error) => void seen.push(error) });
    const broken = command(() => {
      throw new Database.SqliteError("disk I/O error", "SQLITE_IOERR_WRITE");
    });
    const results = await outcomes([
      queue.submit(add("first"), null),
      queue.submit(broken, null),
      queue.submit(add("third"), null),
    ]);
    expect(results).toEqual(["storageBroken", "storageBroken", "storageBroken"]);
    expect(seen).toHaveLength(1);
    expect(rows()).toEqual([]);
    expect(await outcomes([queue.submit(add("late"), null)])).toEqual(["storageBroken"]);
  });

  it("throws when the store is called inside a command", async () => {
    const { queue, rows } = openQueue();
    const nested = command(() => queue.submit(add("inner"), null) as unknown);
    await expect(queue.submit(nested, null)).rejects.toMatchObject({ kind: "storeMisuse" });
    expect(rows()).toEqual([]);
    const idle = command(() => queue.idle() as unknown);
    await expect(queue.submit(idle, null)).rejects.toMatchObject({ kind: "storeMisuse" });
  });

  it("refuses a command that returns a promise and undoes what it had written", async () => {
    const { queue, rows } = openQueue();
    const promising = command(async (tx) => {
      insert(tx, "half");
      await Promise.resolve();
      throw new Error("nobody hears this");
    });
    await expect(queue.submit(promising, null)).rejects.toMatchObject({ kind: "storeMisuse" });
    expect(rows()).toEqual([]);
  });

  it("is idle only when the callers of the last batch have had their turn", async () => {
    const { queue, rows } = openQueue();
    const chain = queue.submit(add("one"), null).then(() => queue.submit(add("two"), null));
    await queue.idle();
    expect(rows()).toEqual(["one", "two"]);
    await chain;
    await queue.idle();
  });

  it("rejects what waits when it is closed", async () => {
    const { queue } = openQueue();
    const waiting = outcomes([queue.submit(add("never"), null)]);
    queue.close();
    expect(await waiting).toEqual(["storeMisuse"]);
    expect(await outcomes([queue.submit(add("late"), null)])).toEqual(["storeMisuse"]);
  });
});
