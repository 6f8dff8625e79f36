/** Rules for all code of the store that a reader cannot keep in mind: forbidden SQL, labels, fault points. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { type Command, defineCommand, LABELS } from "../../src/state/command.ts";
import { faultSeam, parseFault } from "../../src/state/faults.ts";
import { SCHEMA_V1 } from "../../src/state/schema/index.ts";
import { openTemp, running, startRun, takeEpoch } from "./fixture.ts";

const folder = fileURLToPath(new URL("../../src/state", import.meta.url));
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const sourceOf = (name: string): string => readFileSync(join(folder, name), "utf8");

describe("the code of the store", () => {
  it("has no SQL that ends or defers a transaction behind the queue's back", () => {
    expect(files.length).toBeGreaterThan(20);
    const forbidden = /\bOR\s+ROLLBACK\b|RAISE\s*\(\s*ROLLBACK|DEFERRABLE|INITIALLY\s+DEFERRED|defer_foreign_keys/i;
    const found = files.filter((name) => forbidden.test(sourceOf(name)));
    expect(found).toEqual([]);
    expect("INSERT OR ROLLBACK INTO x").toMatch(forbidden);
  });

  it("begins and ends transactions only in the queue, creation, migration, pruning and the lock", () => {
    const allowed = ["queue.ts", "create.ts", "migrations/migrate.ts", "lock.ts", "maintenance/prune.ts"];
    const found = files.filter((name) =>
      /["'`](BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b|\.transaction\(/.test(sourceOf(name)),
    );
    expect(found.filter((name) => !allowed.includes(name))).toEqual([]);
    expect(found).toContain("queue.ts");
  });

  it("checks a row without lists that SQLite would put into a temporary table for every statement", () => {
    const db = new Database(":memory:");
    db.exec(SCHEMA_V1);
    const checked = ["effects", "runs", "node_attempts", "human_decision_resolutions", "human_decision_submissions"];
    for (const table of checked) {
      const ops = db.prepare<[], { opcode: string }>(`EXPLAIN INSERT INTO ${table} DEFAULT VALUES`).all();
      expect(ops.length, table).toBeGreaterThan(20);
      expect(
        ops.filter(({ opcode }) => opcode === "OpenEphemeral"),
        table,
      ).toEqual([]);
    }
    expect(SCHEMA_V1).not.toMatch(/IN \([^)]*,[^)]*,/);
    // So that the word this looks for is the one that SQLite uses.
    const list = "EXPLAIN SELECT * FROM effects WHERE status IN ('pending', 'applying', 'applied')";
    const ops = db.prepare<[], { opcode: string }>(list).all();
    expect(ops.some(({ opcode }) => opcode === "OpenEphemeral")).toBe(true);
    db.close();
  });

  it("gives every command a label of its own, and the store every command", async () => {
    const defined = files.flatMap((name) =>
      [...sourceOf(name).matchAll(/defineCommand(?:<[^(]*>)?\(\s*"([^"]+)"/g)].map((match) => match[1] as string),
    );
    expect(new Set(defined).size).toBe(defined.length);
    expect(defined.filter((label) => !LABELS.has(label))).toEqual([]);
    expect([...LABELS].filter((label) => !defined.includes(label))).toEqual([]);
    const { store } = openTemp();
    const methods = Object.entries(store).flatMap(([namespace, part]) =>
      typeof part === "object" && part !== null && namespace !== "read"
        ? Object.keys(part).map((name) => `${namespace}.${name}`)
        : [],
    );
    // The operator's recovery of a message keeps the name people know it by.
    expect(methods.map((name) => (name === "effects.recover" ? "channels.recover" : name)).sort()).toEqual(
      [...LABELS].sort(),
    );
  });

  it("refuses a label that is taken or has another form", () => {
    expect(() => defineCommand("server.heartbeat", () => null)).toThrow(/used twice/);
    expect(() => defineCommand("nonsense", () => null)).toThrow(/form/);
    expect(LABELS.has("nonsense")).toBe(false);
  });
});

describe("a fault point", () => {
  it("is read from its text, and refused when it names nothing", () => {
    expect(parseFault("runs.advance:before")).toEqual({
      label: "runs.advance",
      when: "before",
      count: 1,
      batch: false,
      text: "runs.advance:before",
    });
    expect(parseFault("runs.advance:after:3+batch")).toEqual({
      label: "runs.advance",
      when: "after",
      count: 3,
      batch: true,
      text: "runs.advance:after:3+batch",
    });
    for (const text of ["runs.advance", "runs.advance:during", "runs.advance:after:0", "runs.nothing:after", ""]) {
      expect(() => parseFault(text)).toThrow(expect.objectContaining({ kind: "usage" }));
    }
  });

  it("fires at the given occurrence, before or after the commit", async () => {
    for (const when of ["before", "after"] as const) {
      let kills = 0;
      const { store } = openTemp({
        faults: faultSeam([parseFault(`runs.start:${when}:2`)], () => (kills += 1)),
      });
      await startRun(store);
      expect(kills).toBe(0);
      await startRun(store);
      expect(kills).toBe(1);
      await startRun(store);
      expect(kills).toBe(1);
    }
  });

  it("may be one of several, each with a count of its own", async () => {
    const struck: string[] = [];
    const points = ["runs.start:after:2", "runs.start:before", "server.heartbeat:before"].map((text) =>
      parseFault(text),
    );
    const { store } = openTemp({ faults: faultSeam(points, ({ text }) => struck.push(text)) });
    await startRun(store);
    await startRun(store);
    await startRun(store);
    expect(struck).toEqual(["runs.start:before", "runs.start:after:2"]);
  });

  it("is hit with three other commands in the batch, of which one throws", async () => {
    const batches: { labels: readonly string[]; total: number }[] = [];
    const point = faultSeam([parseFault("runs.start:before+batch")], () => undefined);
    let noise: readonly { command: Command<unknown, unknown> }[] = [];
    const { store } = openTemp({
      faults: {
        ...point,
        noise: (labels) => {
          const added = point.noise?.(labels) ?? [];
          if (added.length > 0) noise = added;
          return added;
        },
        before: (labels) => void batches.push({ labels, total: labels.length }),
      },
    });
    const epoch = await takeEpoch(store);
    const { claim } = await running(store, epoch);
    expect(noise.map(({ command }) => command.label)).toEqual([
      "server.heartbeat",
      "server.heartbeat",
      "server.heartbeat",
    ]);
    // The noise itself does not count as a hit of its label.
    expect(batches.map(({ labels }) => labels)).toEqual([
      ["server.claimEpoch"],
      ["runs.start"],
      ["runs.claim"],
      ["runs.ready"],
    ]);
    expect(store.read.runs.get(claim.runId).status).toBe("running");
    expect((await store.verify()).problems).toEqual([]);
  });
});
