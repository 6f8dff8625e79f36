/** Event chains: what they hash, and that alteration and removal are found. */
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/contracts/canonical.ts";
import { type Link, linkText } from "../../src/state/chain.ts";
import type { Store } from "../../src/state/store.ts";
import { loopEntries, openTemp, running, takeEpoch } from "./fixture.ts";

const link: Link = {
  previous: "ab".repeat(32),
  resourceId: "run-1",
  index: 3,
  revision: 7,
  type: "node.finished",
  actor: { type: "runner", id: 'quote " back \\ line\n ü 🙂' },
  payloadDigest: "cd".repeat(32),
  recordedAt: 1_790_000_000_000,
};

describe("the chain", () => {
  it("hashes the canonical JSON of its link", () => {
    expect(linkText(link)).toBe(canonicalJson(link));
    expect(linkText({ ...link, previous: null })).toBe(canonicalJson({ ...link, previous: null }));
  });

  it("holds for runs, with all events of a command under one revision", async () => {
    const { store } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    const before = store.read.runs.get(claim.runId).revision;
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 30) });
    const report = await store.verify();
    expect(report.problems).toEqual([]);
    expect(report.events).toBeGreaterThan(30);
    const { events } = store.read.runs.events([claim.resourceNo], 256);
    expect(events.map((event) => event.index)).toEqual(events.map((_, i) => i));
    expect(new Set(events.slice(-30).map((event) => event.revision))).toEqual(new Set([before + 1]));
    expect(store.read.runs.get(claim.runId).revision).toBe(before + 1);
  });

  const damages: [string, string, RegExp][] = [
    [
      "a payload was altered",
      `UPDATE events SET payload = '{"forged":true}' WHERE resource_no = $no AND event_index = 2`,
      /event 2 has another payload/,
    ],
    [
      "an actor was altered",
      "UPDATE events SET actor_id = 'me' WHERE resource_no = $no AND event_index = 2",
      /event 2 does not fit/,
    ],
    [
      "a time was altered",
      "UPDATE events SET recorded_at = recorded_at + 1 WHERE resource_no = $no AND event_index = 2",
      /event 2 does not fit/,
    ],
    ["an event was removed", "DELETE FROM events WHERE resource_no = $no AND event_index = 2", /event 2 is missing/],
    [
      "the last event was removed",
      "DELETE FROM events WHERE resource_no = $no AND event_index = (SELECT max(event_index) FROM events WHERE resource_no = $no)",
      /is missing/,
    ],
    [
      "the last event was removed and the count corrected",
      `DELETE FROM events WHERE resource_no = $no AND event_index = (SELECT max(event_index) FROM events WHERE resource_no = $no);
       UPDATE resources SET event_count = event_count - 1 WHERE resource_no = $no`,
      /the head does not fit/,
    ],
    ["a stored content was altered", "UPDATE blobs SET content = zeroblob(byte_length)", /is not what its hash says/],
  ];
  it.each(damages)("shows when %s", async (_name, sql, message) => {
    const { store, path } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    await store.runs.advance({ claim, first: 0, entries: loopEntries(0, 3) });
    expect((await store.verify()).problems).toEqual([]);
    damage(path, sql.replaceAll("$no", String(claim.resourceNo)));
    expect((await problems(store)).join("\n")).toMatch(message);
  });

  it("finds a large payload whose content was lost", async () => {
    const { store, path } = openTemp();
    const { claim } = await running(store, await takeEpoch(store));
    const error = { code: "HP404", kind: "nodeFailed", message: "x".repeat(6_000), remedy: "none" };
    await store.runs.park({ claim, reason: "effectAmbiguous", error });
    expect((await store.verify()).problems).toEqual([]);
    damage(path, `DELETE FROM blobs WHERE byte_length > 5000`);
    expect((await problems(store)).join("\n")).toMatch(/lost its payload/);
  });
});

function damage(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

async function problems(store: Store): Promise<readonly string[]> {
  const report = await store.verify();
  return report.problems;
}
