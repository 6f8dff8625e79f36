/**
 * Child process: answers a decision through the store's own command, with the fault seam of the environment. Arguments: path of
 * the database, decision id. Repeated with the same key, as a caller does that heard no answer.
 */
import { join, dirname } from "node:path";
import { readFileSync } from "node:fs";

import { parseConfig } from "../../../src/contracts/config.ts";
import { faultsOf } from "../../../src/state/faults.ts";
import { openStore } from "../../../src/state/store.ts";

const [path = "", decision = ""] = process.argv.slice(2);
const file = join(dirname(path), "config.json");
const { audiences, people, telegramProfiles, timeZone } = parseConfig(readFileSync(file, "utf8"), file);
const store = openStore({ path, clock: Date, faults: faultsOf(process.env) ?? undefined });
// The audience names Pi by now: an answer from there asks the live configuration.
const named = Object.fromEntries(
  Object.entries(audiences).map(([name, one]) => [name, { ...one, destinations: [...one.destinations, "pi"] }]),
);
const { result } = await store.decisions.answer({
  decision,
  requestDigest: null,
  choice: "approve",
  source: {
    type: "control",
    channel: "pi",
    actorId: "uid:0",
    personId: "ann",
    eventId: "answer-1",
    assurance: "local",
  },
  access: { audiences: named, people, profiles: telegramProfiles, timeZone, outage: null },
  receipt: {
    clientId: "crash",
    idempotencyKey: "answer-1",
    operation: "decision.answer",
    fingerprint: Buffer.alloc(32),
    serverEpoch: 1,
  },
});
store.close();
if (result.status !== "accepted") throw new Error(`the decision is ${result.status}: ${JSON.stringify(result.reply)}`);
