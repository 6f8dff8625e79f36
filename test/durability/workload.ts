/**
 * Child process: opens the store in the folder that is its argument, works on runs in several lanes at once, and prints one
 * line for each promise the moment it settles. It ends without closing the store, as a process that lost its power.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { isHoldpointError } from "../../src/contracts/errors.ts";
import { sha256Hex } from "../../src/contracts/ids.ts";
import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import { openStore } from "../../src/state/store.ts";
import { definitionDigest } from "../../src/workflow/rules/index.ts";
import type { Reply } from "./replies.ts";

/** Commands of one batch: one of each lane. */
const LANES = 6;
/** Runs that each lane takes from start to end, in five commands. */
const RUNS = 14;
/** Makes pages, so that the log is written back to the database and begun anew while all this goes on. */
const INPUT = "x".repeat(24_000);

const DEFINITION: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "durable",
  startAt: "a",
  maxSteps: 10,
  nodes: Object.fromEntries(["a", "b", "c"].map((id) => [id, { type: "compute", timeoutMs: null }])),
  edges: [
    { from: "a", to: "b" },
    { from: "b", to: "c" },
  ],
};
const SOURCE = { path: "/durable.workflow.ts", sha256: sha256Hex("durable"), content: Buffer.from("durable") };

function reply(line: Reply): void {
  // Straight to the descriptor: a line that waits in a buffer would prove nothing about the order.
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function main(folder: string): Promise<void> {
  const store = openStore({ path: join(folder, "state.sqlite"), clock: Date });
  const { epoch } = await store.server.claimEpoch({ serverId: "durability", pid: process.pid, startIdentity: "test" });
  reply({ kind: "epoch", epoch });

  const lane = async (number: number): Promise<void> => {
    for (let round = 0; round < RUNS; round += 1) {
      const { result } = await store.runs.start({
        workflow: "durable",
        workflowPath: SOURCE.path,
        projectPath: "/",
        input: { number, round, text: round % 2 === 0 ? INPUT : "" },
        receipt: null,
      });
      reply({ kind: "run", runId: result.runId, steps: 0, status: "queued" });
      const launch = await store.runs.claim({ serverEpoch: epoch, runnerEpoch: `r-${number}-${round}` });
      if (launch === null) throw new Error("every lane has started a run before it claims one");
      const { claim } = launch;
      const { runId } = claim;
      const digest = definitionDigest(DEFINITION);
      await store.runs.ready({
        claim,
        childId: "none",
        definition: DEFINITION,
        definitionDigest: digest,
        sources: [SOURCE],
        title: null,
      });
      reply({ kind: "run", runId, steps: 0, status: "running" });
      const step = { outcome: "ok", durationMs: 1 } as const;
      // A command that fails shares the batch; it may cost the others nothing.
      const failing = store.server.heartbeat({ epoch: -1 }).catch((error: unknown) => {
        reply({ kind: "refused", code: isHoldpointError(error) ? error.kind : String(error) });
      });
      await store.runs.advance({
        claim,
        first: 0,
        entries: [
          { ...step, step: 0, nodeId: "a", output: { round }, next: "b" },
          { ...step, step: 1, nodeId: "b", output: { number }, next: "c" },
        ],
      });
      reply({ kind: "run", runId, steps: 2, status: "running" });
      await store.runs.finish({ claim, entry: { ...step, step: 2, nodeId: "c", output: "done", next: null } });
      reply({ kind: "run", runId, steps: 3, status: "completed" });
      await failing;
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  reply({ kind: "end" });
  process.kill(process.pid, "SIGKILL");
}

await main(process.argv[2] as string);
