/** What a scenario is, and the words that several of them use. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { RunView } from "../../../src/client/index.ts";
import type { Ending } from "../invariants.ts";
import type { Stage, StageOptions, World } from "../stage.ts";

export interface Scenario {
  readonly options?: StageOptions;
  /** Plays until nothing is left for a scenario to do; returns how each run must end. */
  play(stage: Stage): Promise<ReadonlyMap<string, Ending>>;
  /** Inbox rows are deleted on the way. */
  readonly forgets?: true;
  /** Something is put right by a person on the way, who then resumes the run. */
  readonly needsResume?: true;
}

export const JOURNEY = fileURLToPath(new URL("../workflows/journey.workflow.ts", import.meta.url));
export const STUDY = fileURLToPath(new URL("../workflows/study.workflow.ts", import.meta.url));
export const AGENTS = fileURLToPath(new URL("../workflows/agents.workflow.ts", import.meta.url));
export const HOLDING = fileURLToPath(new URL("../workflows/holding.workflow.ts", import.meta.url));
export const BROKEN = fileURLToPath(new URL("../workflows/broken.workflow.ts", import.meta.url));

/** The story of a journey that Ann approves. */
export const APPROVED: Ending = {
  status: "completed",
  decisions: ["approve human"],
  actions: ["prepare", "inspect", "deploy"],
};

/** The story of a study. */
export const STUDIED: Ending = { status: "completed", decisions: [], actions: ["measure"] };

export function runOf(world: World, runId: string): RunView {
  const view = world.runs.find(({ run }) => run.runId === runId);
  if (view === undefined) throw new Error(`the stage does not know run ${runId}`);
  return view;
}

export async function untilEnded(stage: Stage, runId: string): Promise<void> {
  await stage.until(`the end of ${runId}`, (world) => runOf(world, runId).run.finishedAt !== null);
}

/** The decision of a run waits, and its card can be seen, whatever the database knows of it. */
export async function untilAsked(stage: Stage, runId: string): Promise<void> {
  await stage.until(`a card of ${runId}`, (world) => {
    const pending = runOf(world, runId).decisions.find(({ status }) => status === "pending");
    return (
      pending !== undefined &&
      world.ledger.chats.some(({ messages }) => messages.some((message) => message.text.includes(pending.fingerprint)))
    );
  });
}

/** The runner of this run waits at its gate. */
export async function untilAtGate(stage: Stage, title: string): Promise<void> {
  const marker = join(stage.folder(title), "at-gate");
  await stage.until(`${title} at its gate`, () => existsSync(marker));
}

export function openGate(stage: Stage, title: string): void {
  writeFileSync(join(stage.folder(title), "gate"), "");
}

/** The checkpoint at which a run waits, once it does. */
export function checkpointOf(stage: Stage, run: string): Promise<string> {
  return stage.until(
    "the checkpoint",
    (world) => runOf(world, run).checkpoints.find(({ status }) => status === "pending")?.requestId,
  );
}

export async function answerCheckpoint(stage: Stage, run: string): Promise<void> {
  await stage.call("checkpoint.answer", { request: await checkpointOf(stage, run), answer: { looks: "good" } });
}
