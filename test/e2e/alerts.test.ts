// Alerts over the stand-in: what the chats show, how fast, and what people press (T23).

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import type { LedgerMessage } from "../../adapters/telegram/sim/index.ts";
import { Scope, type Phone } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const GROUP = -1_000_800;
const SERVICES = 100;
const MINUTE = 60_000;

const scope = new Scope();
let stage: Stage;
let ann: Phone;
beforeAll(async () => {
  stage = await Stage.open(scope, {
    clock: true,
    standIn: { chats: [{ id: GROUP, type: "supergroup", title: "Ops" }] },
    home: { audiences: { ops: [`telegram:default/${GROUP}`] } },
  });
  ann = stage.standIn.phone(1_001, GROUP);
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

/** What people see in the group, oldest first. */
async function shown(): Promise<LedgerMessage[]> {
  return [...(await ann.messages())].filter(({ from }) => from === "bot");
}

/** Lets time pass until nothing waits for its turn. */
async function settle(): Promise<void> {
  await stage.advanceUntil(
    async () => (await stage.client.call("effect.list", { all: false })).effects.length === 0,
    "everything to be sent",
    2_000,
  );
}

test("a hundred failures in one group are one list of all, taken by one tap, within twenty messages a minute", async () => {
  const run = await stage.start("storm", { title: "Watch", audience: "ops", services: SERVICES });
  await stage.waitForRun(run, (view) => view.run.status === "waiting", "its checkpoint");
  await settle();
  const list = (await shown()).find(({ text }) => text.includes("alerts at once"));
  for (let n = 1; n <= SERVICES; n += 1) expect(list?.text).toMatch(new RegExp(`service-${n} is down`));
  expect((await shown()).length).toBeLessThanOrEqual(6);
  await ann.tap(list?.id ?? 0, "Acknowledge all");
  await stage.advanceUntil(async () => {
    const { alerts } = await stage.client.call("alert.list", { all: false });
    return alerts.every(({ acknowledgedAt }) => acknowledgedAt !== null);
  }, "the tap to count for all");
  await settle();
  expect((await shown()).find(({ id }) => id === list?.id)?.text.match(/\u2713/g)).toHaveLength(SERVICES);
  // The server dies; nothing is told twice.
  await stage.killAndRestart();
  await stage.client.call("checkpoint.answer", { request: run, answer: null });
  await stage.finished(run);
  await settle();
  const messages = await shown();
  expect(messages.filter(({ text }) => text.includes("alerts at once"))).toEqual([]);
  expect(messages.at(-1)?.text).toContain(`All ${SERVICES} alerts are over`);
  expect(messages.at(-1)?.replyTo).toBe(list?.id);
  expect(messages.flatMap(({ buttons }) => buttons.flat())).toEqual([]);
  const sent = stage.rows<{ at: number }>(
    "SELECT dispatched_at AS at FROM effect_attempts WHERE dispatched_at IS NOT NULL",
  );
  for (const { at } of sent)
    expect(sent.filter((other) => other.at >= at && other.at < at + MINUTE).length).toBeLessThanOrEqual(20);
});
