// Polling that others disturb, as the chat and the status show it: a second poller (T21), a poll that hangs (T22).

import { afterAll, beforeAll, expect, test } from "vitest";

import { DEAF } from "../../src/contracts/limits.ts";
import { HANG_MS, Scope, startStandIn, type Phone } from "../harness/index.ts";
import { linesOf, Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
let backup: Phone;
beforeAll(async () => {
  const other = await startStandIn(scope, { token: "88000002:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" });
  backup = other.phone(1_002);
  stage = await Stage.open(scope, {
    clock: true,
    profiles: { backup: other.profile() },
    home: { audiences: { operators: ["telegram:default/1001", "telegram:backup/1002"] } },
    // Else each pause after a 409 is 55 s, and a poll that hangs is given up after 45 s of real time.
    env: { HOLDPOINT_TEST_SETTINGS: JSON.stringify({ conflictWaitMs: 200, pollTimeoutMs: 3_000, pollSeconds: 1 }) },
  });
});
afterAll(() => scope.close());

/** Another program with the same token, which polls for as long as `until` takes and confirms nothing. */
async function rivalDuring<T>(until: () => Promise<T>): Promise<T> {
  const { token, url } = stage.standIn;
  const over = new AbortController();
  const polling = (async () => {
    while (!over.signal.aborted)
      await fetch(`${url}/bot${token}/getUpdates?timeout=1`).then((response) => response.text());
  })();
  try {
    return await until();
  } finally {
    over.abort();
    await polling;
  }
}

const told = async (words: string): Promise<number> =>
  (await backup.messages()).filter(({ text }) => text.includes(words)).length;

test("T21: while another program polls, cards go out, it is told once, and what was tapped then counts once afterwards", async () => {
  await stage.standIn.waitFor((state) => state.polling, "a held poll");
  const asked = await rivalDuring(async () => {
    await stage.channelWhen(
      ({ error }) => error?.message.includes("Another program polls") === true,
      "the conflict in the status",
    );
    const card = await stage.ask("Beside a rival");
    await stage.ann.tap(card.card, "Approve");
    await stage.advanceUntil(() => told("has heard nothing").then((count) => count > 0), "the warning", 10_000);
    await stage.clock?.advance(DEAF.afterMs * 3);
    return card;
  });
  await stage.finished(asked.run);
  await stage.advanceUntil(() => told("hears again").then((count) => count > 0), "the end of it", 10_000);
  expect([await told("has heard nothing"), await told("hears again")]).toEqual([1, 1]);
  expect(await stage.copies(asked.title)).toBe(1);
  expect(linesOf(asked.file)).toHaveLength(1);
  expect((await stage.ann.waitForSettled(asked.card)).text).toContain("Approved by Ann");
});

test(
  "T22: a poll that is never answered is given up and begun anew; the status has the last good one",
  async () => {
    const before = await stage.channelWhen(
      ({ error, lastPollAt }) => error === null && lastPollAt !== null,
      "a good poll",
    );
    await stage.standIn.control.faults.add({ kind: "hang", method: "getUpdates", times: "always" });
    await stage.standIn.phone(6_666).say("hello?");
    const asked = await stage.ask("In silence");
    await stage.ann.tap(asked.card, "Approve");
    const deaf = await stage.channelWhen(({ error }) => error !== null, "the poll that was given up");
    expect(deaf.lastPollAt).toBeGreaterThanOrEqual(before.lastPollAt ?? 0);
    await stage.clock?.advance(30_000);
    expect((await stage.channelWhen(() => true, "its status")).lastPollAt).toBe(deaf.lastPollAt);
    await stage.standIn.control.faults.clear();
    await stage.finished(asked.run);
    const heard = await stage.channelWhen(({ error }) => error === null, "a good poll again");
    expect(heard.lastPollAt).toBeGreaterThan(deaf.lastPollAt ?? 0);
    expect(await stage.copies(asked.title)).toBe(1);
    expect(linesOf(asked.file)).toHaveLength(1);
  },
  2 * HANG_MS,
);
