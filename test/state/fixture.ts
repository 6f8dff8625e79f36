/** What the tests of the store share: a real file in a folder of its own, a clock that only tests move, a runner in a few lines. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DefinitionSnapshot } from "../../src/contracts/definition.ts";
import type { StepEntry } from "../../src/contracts/protocol/runner.ts";
import type { JsonValue } from "../../src/contracts/protocol/shared.ts";
import { sha256Hex } from "../../src/state/hash.ts";
import type { Launch } from "../../src/state/runs/claim.ts";
import { openStore, type Store, type StoreOptions } from "../../src/state/store.ts";
import { definitionDigest } from "../../src/workflow/rules/index.ts";
import { afterTest } from "../harness/cleanups.ts";

/** A folder that is removed after the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-state-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export class TestClock {
  at = Date.UTC(2026, 10, 30, 8, 0, 0);
  now(): number {
    return this.at;
  }
  advance(ms: number): void {
    this.at += ms;
  }
}

export interface Opened {
  readonly store: Store;
  readonly clock: TestClock;
  readonly path: string;
}

/** A store on a fresh file, or on `path`. */
export function openTemp(options: Partial<StoreOptions> & { clock?: TestClock } = {}): Opened {
  const clock = options.clock ?? new TestClock();
  const path = options.path ?? join(tempFolder(), "state.sqlite");
  const store = openStore({ ...options, path, clock });
  afterTest(() => store.close());
  return { store, clock, path };
}

/** a → b → c, and `c` goes back to `a` unless its output says stop. */
export const LOOP: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "loop",
  startAt: "a",
  maxSteps: 1_000,
  nodes: {
    a: { type: "compute", timeoutMs: null },
    b: { type: "compute", timeoutMs: null },
    c: { type: "compute", timeoutMs: null },
    end: { type: "compute", timeoutMs: null },
  },
  edges: [
    { from: "a", to: "b" },
    { from: "b", to: "c" },
    { from: "c", switch: { on: "$.go", cases: { again: "a", stop: "end" } } },
  ],
};

/** plan → ask (a person) → act | plan again. */
export const ASKING: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "asking",
  startAt: "plan",
  maxSteps: 10,
  nodes: {
    plan: { type: "compute", timeoutMs: null },
    ask: { type: "humanDecision", timeoutMs: null, choices: ["approve", "replan"] },
    act: { type: "action", timeoutMs: null, effect: { recovery: "manual", type: "act" } },
  },
  edges: [
    { from: "plan", to: "ask" },
    { from: "ask", switch: { on: "$.choice", cases: { approve: "act", replan: "plan" } } },
  ],
};

export const SOURCE = Buffer.from("export default 1;\n");

/** A server that has taken the epoch; returns it. */
export async function takeEpoch(store: Store, serverId = "server-1"): Promise<number> {
  const { epoch } = await store.server.claimEpoch({ serverId, pid: 4_711, startIdentity: "boot-1" });
  return epoch;
}

export async function startRun(
  store: Store,
  definition: DefinitionSnapshot = LOOP,
  input: unknown = { n: 1 },
): Promise<string> {
  const { result } = await store.runs.start({
    workflow: definition.name,
    workflowPath: `/w/${definition.name}.workflow.ts`,
    projectPath: "/w",
    input,
    receipt: null,
  });
  return result.runId;
}

let runners = 0;

/** Claims the next run for a new runner; fails the test when nothing is due. */
export async function claimNext(store: Store, serverEpoch: number): Promise<Launch> {
  runners += 1;
  const launch = await store.runs.claim({ serverEpoch, runnerEpoch: `runner-${runners}` });
  if (launch === null) throw new Error("nothing is due");
  return launch;
}

export function becomeReady(
  store: Store,
  launch: Launch,
  definition: DefinitionSnapshot = LOOP,
): ReturnType<Store["runs"]["ready"]> {
  return store.runs.ready({
    claim: launch.claim,
    childId: `child-${launch.claim.runnerEpoch}`,
    definition,
    definitionDigest: definitionDigest(definition),
    sources: [{ path: `/w/${definition.name}.workflow.ts`, sha256: sha256Hex(SOURCE), content: SOURCE }],
    title: "A title",
  });
}

/** Starts a run and brings it to its first node. */
export async function running(store: Store, epoch: number, definition: DefinitionSnapshot = LOOP): Promise<Launch> {
  await startRun(store, definition);
  const launch = await claimNext(store, epoch);
  await becomeReady(store, launch, definition);
  return launch;
}

/** `count` entries of LOOP from step `first` on. */
export function loopEntries(first: number, count: number): StepEntry[] {
  const nodes = ["a", "b", "c"] as const;
  return Array.from({ length: count }, (_, i) => {
    const step = first + i;
    const nodeId = nodes[step % 3] as string;
    const output: JsonValue = nodeId === "c" ? { go: "again", step } : { step };
    return { step, nodeId, outcome: "ok", output, durationMs: 1, next: nodes[(step + 1) % 3] as string };
  });
}
