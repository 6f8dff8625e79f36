// An adapter that is frozen: the server asks it for a sign of life, ends it, starts another, and what waited goes out once.

import { afterAll, beforeAll, expect, test } from "vitest";

import { ADAPTER } from "../../src/contracts/limits.ts";
import { Scope } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope, { clock: true });
});
afterAll(() => scope.close());

test("a frozen adapter is ended and replaced; questions of that time are asked once and answers are heard", async () => {
  const before = await stage.ask("Before the frost");
  const { pid } = await stage.channelWhen((status) => status.pid !== null, "a running adapter");
  if (pid === null) throw new Error("no adapter");
  process.kill(pid, "SIGSTOP");
  const title = stage.unique("During the frost");
  const during = await stage.start("ask", { title, file: stage.file() });
  await stage.waitForRun(during, ({ decisions }) => decisions.length === 1, "its question");
  // A tap of that time waits at Telegram.
  const tapped = await stage.ann.tap(before.card, "Approve");

  await stage.clock?.advance(ADAPTER.silentMs);
  await stage.advanceUntil(async () => {
    const { channels } = await stage.client.call("channel.status", {});
    return channels.find((status) => status.pid !== null && status.pid !== pid && status.error === null);
  }, "another adapter in its place");
  expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);

  await stage.finished(before.run);
  expect(await stage.verdict(tapped.updateId)).toBe("accepted");
  const card = await stage.ann.waitForMessage(title);
  await stage.ann.tap(card.id, "Approve");
  await stage.finished(during);
  expect(await stage.copies(title)).toBe(1);
  const status = (await stage.cli(["server", "status"])).stdout;
  expect(status.replace(/\s+/g, " ")).toMatch(/gave no sign of life/);
  expect(await stage.leaks()).toEqual([]);
});
