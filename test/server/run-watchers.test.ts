/** Watched runs whose view cannot be computed. */
import { expect, test } from "vitest";
import type { JsonValue } from "../../src/contracts/protocol/shared.ts";
import { HoldpointError } from "../../src/contracts/errors.ts";
import type { Log } from "../../src/server/ports.ts";
import { systemClock } from "../../src/server/system/clock.ts";
import { RunWatchers } from "../../src/server/views/run-watchers.ts";
import type { Store } from "../../src/state/store.ts";

const ACCESS = { people: {}, audiences: {}, profiles: {}, timeZone: "UTC", outage: null };
const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test("who watches a run that cannot be shown is told why, and the watch ends", () => {
  const get = (): never => {
    throw new HoldpointError("storageBroken", "A page of the database is damaged.");
  };
  const watchers = new RunWatchers({ read: { runs: { get } } } as unknown as Store, systemClock, silent, () => ACCESS);
  const sent: [string, JsonValue][] = [];
  watchers.watch("7k3f", (payload, event = "run") => sent.push([event, payload]) > 0);
  expect(sent).toMatchObject([
    ["unavailable", { kind: "storageBroken", message: "A page of the database is damaged." }],
  ]);
});
