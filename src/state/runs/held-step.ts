/** The step that a runner is at, with the limit for a node that does not give way, and what follows when it has run out. */
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import type { StepEntry } from "../../contracts/protocol/runner.ts";
import { afterStep, holdLimit, shortestHold } from "../../workflow/rules/index.ts";
import { park } from "../effects/reserve.ts";
import {
  actionKey,
  attemptOf,
  effectIdOf,
  effectOf,
  moveAttempt,
  moveEffect,
  type EffectRow,
} from "../effects/rows.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { endRun } from "./ending.ts";
import { asResult, stepPayload } from "./entries.ts";
import { marksOf, pass } from "./mounts.ts";
import { Progress } from "./progress.ts";
import { type Definitions, definitionOf, openAttempt, type AttemptRow, type RunRow, SERVER_ACTOR } from "./rows.ts";

export interface HeldStep {
  readonly nodeId: string;
  readonly step: number;
  /** Milliseconds without a sign of life; null for no limit. */
  readonly limitMs: number | null;
  /** The shortest limit of any node of the workflow. */
  readonly shortestMs: number;
  /** Something of this very node was heard, so that no later step can be the one that is being executed. */
  readonly certain: boolean;
}

/** Null when no node is being executed. */
export function heldStepOf(db: Definitions, run: RunRow): HeldStep | null {
  const open = openAttempt(db, run);
  if (open?.status !== "running") return null;
  const definition = definitionOf(db, run);
  const node = definition.nodes[open.nodeId];
  if (node === undefined) return null;
  const effect = heldEffect(db, run, open, node.effect?.type);
  const begun = effect !== undefined && effect.status !== "pending";
  return {
    nodeId: open.nodeId,
    step: run.steps,
    limitMs: holdLimit(node, begun),
    shortestMs: shortestHold(definition),
    certain: begun || hasProcess(db, run, open),
  };
}

/**
 * The node ran out of time, and its processes are gone. Its step ends as `timed_out`; whether an effect of it happened is
 * known only where a repetition does no harm: otherwise a person says so first, and the run is parked.
 *
 * Returns false when the run is at another step than was thought: then nothing is changed.
 */
export function timeOutStep(tx: Tx, run: RunRow, runnerEpoch: string, held: HeldStep): boolean {
  const open = openAttempt(tx, run);
  if (open?.status !== "running" || open.nodeId !== held.nodeId || run.steps !== held.step) return false;
  const definition = definitionOf(tx, run);
  const { nodeId, step } = held;
  const error = new HoldpointError(
    "nodeTimedOut",
    `Node "${nodeId}" ran longer than its timeout of ${held.limitMs} ms without giving way; its runner was ended.`,
    { details: { node: nodeId, limit: held.limitMs } },
  ).toRecord();
  const effect = heldEffect(tx, run, open, definition.nodes[nodeId]?.effect?.type);
  if (effect?.status === "applying" && !settled(tx, run, effect, error)) return true;

  const durationMs = Math.max(0, tx.now - open.startedAt);
  const entry: StepEntry = { step, nodeId, outcome: "timed_out", error, durationMs, next: null };
  const marks = marksOf(tx, run, definition);
  const after = afterStep(definition, asResult(tx, entry), step + 1, marks);
  const progress = new Progress(tx, run, open, runnerEpoch);
  progress.finish(entry);
  progress.save();
  tx.event(run.resourceNo, {
    type: "node.finished",
    actor: SERVER_ACTOR,
    payload: stepPayload({ ...entry, next: after.kind === "next" ? after.nodeId : null }, open.visit),
  });
  // The next node is opened by the runner that executes it.
  if (after.kind === "next") return true;
  pass(tx, run, definition, marks, { planned: after.transitions, nextStep: run.steps, actor: SERVER_ACTOR });
  endRun(tx, run, { status: after.status, error: after.error, actor: SERVER_ACTOR, runner: "timedOut" });
  return true;
}

/** Whether it is known what became of the effect. */
function settled(tx: Tx, run: RunRow, effect: EffectRow, error: ErrorRecord): boolean {
  const attempt = attemptOf(tx, effect.effectNo, effect.attemptCount);
  const { attemptCount, effectId, effectType, recovery } = effect;
  const outcome = recovery === "idempotent" ? "rejected" : "ambiguous";
  tx.event(run.resourceNo, {
    type: "effect.reported",
    actor: SERVER_ACTOR,
    payload: { effectId, effectType, attempt: attemptCount, outcome, error },
  });
  if (outcome === "rejected") {
    if (attempt?.state === "dispatching" || attempt?.state === "ambiguous") moveAttempt(tx, attempt, "rejected", error);
    moveEffect(tx, effect, "rejected", { error });
    return true;
  }
  if (attempt?.state === "dispatching") moveAttempt(tx, attempt, "uncertain", error);
  moveEffect(tx, effect, "uncertain", { error });
  park(tx, run, effect, "timedOut");
  return false;
}

function heldEffect(db: Reader, run: RunRow, open: AttemptRow, effectType: string | undefined): EffectRow | undefined {
  if (effectType === undefined) return undefined;
  return effectOf(db, run.resourceNo, effectIdOf(actionKey(run.runId, effectType, open.nodeId, open.visit)));
}

function hasProcess(db: Reader, run: RunRow, open: AttemptRow): boolean {
  const sql = "SELECT 1 FROM run_processes WHERE run_no = ? AND attempt_no = ? LIMIT 1";
  return db.get(sql, run.runNo, open.attemptNo) !== undefined;
}
