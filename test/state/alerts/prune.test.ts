/** Deleting alerts that are over: what keeps one, and that nothing of it is left. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";

import { previewPrune, pruneFile } from "../../../src/state/maintenance/index.ts";
import { openTemp, tempFolder } from "../fixture.ts";
import { Chat } from "./chat.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

const count = async (chat: Chat): Promise<number> => (await previewPrune(chat.path, chat.clock.at)).alerts;

/** Deletes, and returns how many rows the tables of alerts have then. */
async function prune(chat: Chat): Promise<{ alerts: number; rows: Record<string, number> }> {
  const { clock, path, store } = chat;
  store.close();
  const { alerts } = await pruneFile(path, clock.at, join(tempFolder(), "backup.sqlite"));
  const db = new Database(path, { readonly: true });
  const rowsIn = (table: string): number => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  const tables = ["alerts", "alert_episodes", "alert_digests", "alert_digest_members", "alert_messages"];
  const rows = Object.fromEntries(tables.map((table) => [table, rowsIn(table)]));
  rows["effects"] = db.prepare("SELECT count(*) FROM effects WHERE purpose = 'alert'").pluck().get() as number;
  db.close();
  const again = openTemp({ path });
  expect((await again.store.verify()).problems).toEqual([]);
  return { alerts, rows };
}

describe("prune", () => {
  it("takes an alert that is over with its messages, and leaves one that holds or ended later", async () => {
    const chat = await Chat.open();
    for (const groupKey of ["old", "holds", "late"]) await chat.raise({ groupKey });
    await chat.pass(MINUTE);
    await chat.recover({ groupKey: "old" });
    await chat.pass(DAY);
    expect(await count(chat)).toBe(1);
    await chat.recover({ groupKey: "late" });
    expect(await count(chat)).toBe(1);
    const { alerts, rows } = await prune(chat);
    expect(alerts).toBe(1);
    expect(rows).toMatchObject({ alerts: 2, alert_episodes: 2 });
  });

  it("leaves one whose last message is in doubt", async () => {
    const chat = await Chat.open();
    await chat.raise();
    const perform = await chat.mustNext();
    await chat.dispatch(perform);
    await chat.finish(perform, "ambiguous");
    await chat.recover();
    await chat.pass(DAY);
    expect(await count(chat)).toBe(0);
  });

  it("takes a list when all of it is over, and before that none of those that it names", async () => {
    const chat = await Chat.open();
    const keys = Array.from({ length: 8 }, (_, n) => `m${n}`);
    for (const groupKey of keys) await chat.raise({ groupKey, subject: groupKey });
    await chat.pass(MINUTE);
    for (const groupKey of keys.slice(1)) await chat.recover({ groupKey });
    await chat.pass(DAY);
    expect(await count(chat)).toBe(0);
    await chat.recover({ groupKey: "m0" });
    await chat.pass(DAY);
    expect(await count(chat)).toBe(8);
    expect(await prune(chat)).toEqual({
      alerts: 8,
      rows: {
        alerts: 0,
        alert_episodes: 0,
        alert_digests: 0,
        alert_digest_members: 0,
        alert_messages: 0,
        effects: 0,
      },
    });
  });
});
