/**
 * `runs.advance`: a frame of finished steps. One claim check, one revision, one INSERT and one event per step; all of the
 * frame is stored or none of it.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { ADVANCE } from "../../contracts/limits.ts";
import type { NodeResult, Position, StepEntry } from "../../contracts/protocol/runner.ts";
import { afterStep } from "../../workflow/rules/index.ts";
import { defineCommand } from "../command.ts";
import type { Claim, Tx } from "../tx.ts";
import { positionOf, visitsOf } from "./position.ts";
import { Progress } from "./progress.ts";
import { type AttemptRow, claimedRun, definitionOf, openAttempt, type RunRow, runnerActor } from "./rows.ts";

export interface Advance {
  readonly claim: Claim;
  readonly first: number;
  readonly entries: readonly StepEntry[];
}

/** Why a frame was refused: the sender drops everything from `from` on and continues at `position`. */
export interface Rewind {
  readonly from: number;
  /** `gap`: not the next step; `node`: not the open node; `route`: another node follows; `maxSteps`: the run must end. */
  readonly reason: "gap" | "node" | "route" | "maxSteps";
  readonly position: Position;
  readonly visits: Record<string, number>;
}

export type Advanced =
  | { readonly through: number; readonly rewind?: undefined }
  | { readonly through?: undefined; readonly rewind: Rewind };

/** Throws `claimLost`, and `protocolRejected` when nothing of the run is being executed. */
export const advance = defineCommand("runs.advance", (tx, input: Advance): Advanced => {
  const { claim, entries } = input;
  const run = claimedRun(tx, claim);
  const definition = definitionOf(tx, run);
  const open = openAttempt(tx, run);
  if (open?.status !== "running")
    throw new HoldpointError("protocolRejected", `Run ${run.runId} is not executing a node (${run.status}).`);
  if (entries.length === 0 || entries.length > ADVANCE.entriesPerFrame) {
    throw new HoldpointError(
      "protocolRejected",
      `A frame has ${entries.length} steps; 1 to ${ADVANCE.entriesPerFrame} are allowed.`,
    );
  }
  const reason = input.first === run.steps ? problemOf(definition, run, open, entries) : "gap";
  if (reason !== null) return { rewind: rewindOf(tx, run, reason) };

  const actor = runnerActor(claim);
  const progress = new Progress(tx, run, open, claim.runnerEpoch);
  for (const entry of entries) {
    const done = progress.finish(entry);
    progress.start(entry.next as string);
    tx.event(run.resourceNo, { type: "node.finished", actor, payload: stepPayload(entry, done.visit) });
  }
  progress.save();
  return { through: run.steps - 1 };
});

/** What the event of a step says; the output itself is in the attempt's row. */
export function stepPayload(entry: StepEntry, visit: number): object {
  const { step, nodeId, outcome, next, durationMs } = entry;
  const payload = { durationMs, next, nodeId, outcome, step, visit };
  return entry.error === undefined
    ? payload
    : { ...payload, error: { code: entry.error.code, message: entry.error.message.slice(0, 500) } };
}

/** The result of an entry as routing looks at it. */
export function asResult(entry: StepEntry): NodeResult {
  return {
    nodeId: entry.nodeId,
    outcome: entry.outcome,
    ...(entry.output === undefined ? {} : { output: entry.output }),
    ...(entry.error === undefined ? {} : { error: entry.error }),
  };
}

/** Every step is judged before the first is stored: the server recomputes the route of each. */
function problemOf(
  definition: DefinitionSnapshot,
  run: RunRow,
  open: AttemptRow,
  entries: readonly StepEntry[],
): Rewind["reason"] | null {
  let nodeId = open.nodeId;
  let step = run.steps;
  for (const entry of entries) {
    if (entry.step !== step) return "gap";
    if (entry.nodeId !== nodeId) return "node";
    step += 1;
    const after = afterStep(definition, asResult(entry), step);
    if (after.kind !== "next") return after.error?.kind === "maxSteps" ? "maxSteps" : "route";
    if (after.nodeId !== entry.next) return "route";
    nodeId = after.nodeId;
  }
  return null;
}

function rewindOf(tx: Tx, run: RunRow, reason: Rewind["reason"]): Rewind {
  return { from: run.steps, reason, position: positionOf(tx, run) as Position, visits: visitsOf(tx, run.runNo) };
}
