/**
 * Child process: fills the database of a home that no server owns with runs that wait for a decision, by the store's own
 * commands. Arguments: home, JSON of `SeedOptions`. With `delivered`, every card has been sent, and one line for each card with
 * what a tap on its first button carries goes to stdout; else the cards wait for their channel.
 */
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "../../../src/contracts/config.ts";
import { PRESENTATION_SCHEMA } from "../../../src/contracts/decision/presentation.ts";
import { sha256Hex } from "../../../src/contracts/ids.ts";
import { openStore, type Store } from "../../../src/state/store.ts";
import { definitionDigest } from "../../../src/workflow/rules/index.ts";
import { ASK_DEFINITION } from "./ask.ts";

export interface SeedOptions {
  readonly decisions: number;
  /** Spread evenly over so many audiences (`audience0`…), each with a chat of its own. */
  readonly audiences: number;
  readonly delivered: boolean;
  /** Pauses the runs, so that an answer is stored without a runner being launched for it. */
  readonly paused: boolean;
  /** The file of `ASK_WORKFLOW`, if runners are to go on with the runs. */
  readonly workflow?: { readonly workflowPath: string; readonly projectPath: string };
}

export interface Card {
  readonly runId: string;
  readonly token: string;
  readonly place: string;
  readonly reference: string;
}

const LANES = 128;
const CHANNEL = { channelId: "telegram:default", kind: "telegram", profile: "default", adapterEpoch: "seed" };
const REQUEST = {
  presentation: {
    schema: PRESENTATION_SCHEMA,
    summary: "Everything is tested.",
    blocks: [{ kind: "paragraph", text: "The migration takes about two minutes; nobody has to log in again." }],
  },
  choices: { approve: { label: "Release" }, reject: { label: "Do not" } },
};
const digest = definitionDigest(ASK_DEFINITION);
const NOWHERE = { workflowPath: "/seeded.workflow.ts", projectPath: "/" };

async function main(home: string, options: SeedOptions): Promise<void> {
  const config = parseConfig(readFileSync(join(home, "config.json"), "utf8"), "config.json");
  const access = {
    people: config.people,
    audiences: config.audiences,
    profiles: config.telegramProfiles,
    timeZone: "UTC",
    outage: null,
  };
  const store = openStore({ path: join(home, "state.sqlite"), clock: Date });
  const { epoch } = await store.server.claimEpoch({ serverId: "seed", pid: process.pid, startIdentity: "seed" });
  await store.channels.open(CHANNEL);
  const workflow = options.workflow ?? NOWHERE;
  const content = options.workflow === undefined ? Buffer.from("seeded") : readFileSync(workflow.workflowPath);
  const source = { path: workflow.workflowPath, sha256: sha256Hex(content), content };
  const runs = new Map<string, string>();
  let begun = 0;
  const wait = async (number: number, audience: string): Promise<{ decisionId: string; runId: string }> => {
    await store.runs.start({ workflow: "ask", ...workflow, input: { number }, receipt: null });
    const launch = await store.runs.claim({ serverEpoch: epoch, runnerEpoch: `r-${number}` });
    if (launch === null) throw new Error("no run is due");
    const { claim } = launch;
    const ready = { claim, childId: "none", definitionDigest: digest, sources: [source], title: null };
    await store.runs.ready({ ...ready, definition: ASK_DEFINITION });
    const request = { ...REQUEST, audience, title: `Release ${number} to the customers?`, subject: { number } };
    const { decisionId } = await store.decisions.request({ claim, step: 0, nodeId: "ask", request, access });
    return { decisionId, runId: claim.runId };
  };
  const lane = async (): Promise<void> => {
    while (begun < options.decisions) {
      const number = begun;
      begun += 1;
      const { decisionId, runId } = await wait(number, `audience${number % options.audiences}`);
      runs.set(decisionId, runId);
      if (options.paused) {
        await store.runs.pause({
          run: runId,
          expectedRevision: null,
          receipt: null,
          actor: { type: "control", id: "seed" },
        });
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  if (options.delivered) await deliver(store, runs);
  await store.server.release({ epoch });
  store.close();
}

/** Sends every card as an adapter would. One message at a time is on its way in each chat. */
async function deliver(store: Store, runs: ReadonlyMap<string, string>): Promise<void> {
  const mine = { channelId: CHANNEL.channelId, adapterEpoch: CHANNEL.adapterEpoch };
  let message = 0;
  const next = async (): Promise<boolean> => {
    const { perform } = await store.effects.nextAttempt(mine);
    if (perform === null) return false;
    const { attempt, content, destination, effectId } = perform;
    const [token] = Object.values((content?.kind === "card" ? content.tokens : undefined) ?? {});
    const place = destination.split("/")[1] ?? "";
    const decisionId = content?.kind === "card" ? content.card.requestId : "";
    message += 1;
    const reference = `${place}:${message}`;
    await store.effects.dispatch({ ...mine, effectId, attempt, part: 1, of: 1 });
    await store.effects.storePart({ ...mine, effectId, attempt, part: 1, of: 1, reference });
    await store.effects.finishAttempt({ ...mine, effectId, attempt, outcome: "accepted" });
    const card: Card = { runId: runs.get(decisionId) ?? "", token: token as string, place, reference };
    writeSync(1, `${JSON.stringify(card)}\n`);
    return true;
  };
  const lane = async (): Promise<void> => {
    while (await next());
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

await main(process.argv[2] as string, JSON.parse(process.argv[3] as string) as SeedOptions);
