// A channel that hears nothing is told over another channel of its audience, once, and its end too.

import { afterAll, beforeAll, expect, test } from "vitest";

import type { FaultSpec } from "../../adapters/telegram/sim/types.ts";
import { Scope, startStandIn, type Phone, type StandIn } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
let other: StandIn;
let backup: Phone;
beforeAll(async () => {
  other = await startStandIn(scope, { token: "88000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" });
  backup = other.phone(1_002);
  stage = await Stage.open(scope, {
    clock: true,
    profiles: { backup: other.profile() },
    home: { audiences: { operators: ["telegram:default/1001", "telegram:backup/1002", "terminal"] } },
  });
});
afterAll(() => scope.close());

/** How many messages of the backup chat hold the text. */
async function told(text: string): Promise<number> {
  return (await backup.messages()).filter((message) => message.text.includes(text)).length;
}

test.each<[string, FaultSpec]>([
  ["the service answers every poll with 500", { kind: "serverError", status: 500, when: "before" }],
  ["the token is not accepted any more", { kind: "reject", status: 401, description: "Unauthorized" }],
])("%s: told once on the other bot, also over a restart, and its end is told", async (_what, fault) => {
  await stage.standIn.waitFor((state) => state.polling, "a held poll");
  const [deafBefore, hearsBefore] = [await told("has heard nothing"), await told("hears again")];
  await stage.standIn.control.faults.add({ ...fault, method: ["getUpdates", "getMe"], times: "always" });
  // What waits ends the poll that is being held; the next one meets the fault.
  await stage.standIn.phone(6_666).say("hello?");
  await stage.channelWhen(({ error }) => error !== null, "a failed poll");
  await stage.standIn.phone(6_666).say("anybody?");
  const status = await stage.advanceUntil(
    async () => {
      const { channels } = await stage.client.call("channel.status", {});
      return channels.find(({ channel, deafSince }) => channel === "telegram:default" && deafSince !== null);
    },
    "the deaf channel",
    10_000,
  );
  // Noticed within two minutes, of which the guard of a hanging poll takes its share.
  expect((stage.clock?.now() ?? 0) - (status.deafSince ?? 0)).toBeLessThanOrEqual(75_000);
  // Who is not let in is not told what waits.
  if (fault.kind === "serverError")
    await stage.channelWhen(({ pendingUpdates }) => (pendingUpdates ?? 0) > 0, "what waits at the service");
  const alert = await backup.waitForMessage("telegram:default has heard nothing since");
  expect(await told("has heard nothing")).toBe(deafBefore + 1);
  const shown = (await stage.cli(["channel", "status"])).stdout;
  expect(shown).toContain("hears nothing since");

  await stage.killAndRestart();
  await stage.channelWhen(({ error }) => error !== null, "a failed poll after the restart");
  await stage.clock?.advance(300_000);
  expect(await told("has heard nothing")).toBe(deafBefore + 1);

  await stage.standIn.control.faults.clear();
  // A refused token is tried again once a minute of real time; a new adapter reads it at once.
  await stage.server.stop();
  await stage.restart();
  await backup.waitForMessage("telegram:default hears again", alert.id);
  expect(await told("hears again")).toBe(hearsBefore + 1);
  await stage.channelWhen(({ deafSince, error }) => deafSince === null && error === null, "the channel that hears");
});
