/**
 * `runs.advance`: a frame of finished steps. One claim check, one revision, one INSERT and one event per step; all of the
 * frame is stored or none of it.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { type ErrorRecord, HoldpointError, isHoldpointError } from "../../contracts/errors.ts";
import { ADVANCE } from "../../contracts/limits.ts";
import type { Position, StepEntry } from "../../contracts/protocol/runner.ts";
import { afterStep, applyTransitions, type MountMarks, type PlannedTransition } from "../../workflow/rules/index.ts";
import { defineCommand } from "../command.ts";
import { type ReportInput, reportFor } from "../effects/report.ts";
import { type ReserveInput, type ReserveResult, reserveFor } from "../effects/reserve.ts";
import type { Claim, Tx } from "../tx.ts";
import { asResult, isStaleRoute, refuseAnswers, stepPayload } from "./entries.ts";
import { marksOf, pass, sameTransitions } from "./mounts.ts";
import { positionOf, visitsOf } from "./position.ts";
import { Progress } from "./progress.ts";
import { type AttemptRow, claimedRun, definitionOf, openAttempt, type RunRow, runnerActor } from "./rows.ts";

export interface Advance {
  readonly claim: Claim;
  readonly first: number;
  readonly entries: readonly StepEntry[];
  /** What is said of the effect of the first step, which is an action; its result or error is the step's. */
  readonly settle?:
    | { readonly effectId: string; readonly attempt: number; readonly outcome: "applied" | "rejected" }
    | undefined;
  /** The effect of the node after the last step. */
  readonly reserve?: Omit<ReserveInput, "claim" | "step"> | undefined;
}

/** Why a frame was refused: the sender drops everything from `from` on and continues at `position`. */
export interface Rewind {
  readonly from: number;
  /**
   * `gap`: not the next step; `node`: not the open node; `route`: another node follows; `maxSteps`: the run must end;
   * `settings`: a settings route that was made with other settings than the present ones.
   */
  readonly reason: "gap" | "node" | "route" | "maxSteps" | "settings";
  readonly position: Position;
  readonly visits: Record<string, number>;
}

export type Advanced =
  | { readonly through: number; readonly reserved?: ReserveResult | Refused | undefined; readonly rewind?: undefined }
  | { readonly through?: undefined; readonly rewind: Rewind };

/** The steps are stored, and the reservation behind them was refused. */
export interface Refused {
  readonly refused: ErrorRecord;
}

/**
 * A settlement is stored whatever becomes of the steps behind it: it happened. A reservation is made only when all steps before it are
 * stored. Throws `claimLost`, and `protocolRejected` when nothing of the run is being executed or the settlement fits no open attempt.
 */
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
  const actor = runnerActor(claim);
  if (input.settle !== undefined) reportFor(tx, run, { claim, ...input.settle, ...resultOf(entries[0] as StepEntry) });
  const judged = input.first === run.steps ? judge(tx, definition, run, open, entries) : "gap";
  if (judged === "settings") {
    const { nodeId } = open;
    tx.event(run.resourceNo, { type: "settings.routeRetried", actor, payload: { nodeId, step: run.steps } });
  }
  if (typeof judged === "string") return { rewind: rewindOf(tx, run, judged) };

  const progress = new Progress(tx, run, open, claim.runnerEpoch);
  let { marks } = judged;
  for (const [index, entry] of entries.entries()) {
    const done = progress.finish(entry);
    progress.start(entry.next as string);
    tx.event(run.resourceNo, { type: "node.finished", actor, payload: stepPayload(entry, done.visit) });
    const planned = judged.transitions[index];
    if (planned !== undefined)
      marks = pass(tx, run, definition, marks, {
        planned,
        proposed: entry.transitions,
        nextStep: entry.step + 1,
        actor,
      });
  }
  progress.save();
  const through = run.steps - 1;
  if (input.reserve === undefined) return { through };
  return { through, reserved: reserved(tx, run, progress.open, { claim, step: run.steps, ...input.reserve }) };
});

/** What the step of an action says of its effect. */
function resultOf({
  error,
  outcome,
  output,
  outputRef,
}: StepEntry): Pick<ReportInput, "result" | "resultRef" | "error"> {
  return outcome === "ok" ? { result: output, resultRef: outputRef } : { error };
}

/** A refusal wrote nothing, so that the steps stand. */
function reserved(tx: Tx, run: RunRow, open: AttemptRow | undefined, input: ReserveInput): ReserveResult | Refused {
  try {
    return reserveFor(tx, run, open, input);
  } catch (error) {
    if (!isHoldpointError(error) || !REFUSALS.has(error.kind)) throw error;
    return { refused: error.toRecord() };
  }
}

const REFUSALS: ReadonlySet<string> = new Set(["protocolRejected", "effectConflict"]);

interface Judged {
  /** Where the run was in its mounts before the first entry. */
  readonly marks: MountMarks;
  /** By entry: the mounts left and entered after it; undefined for none. */
  readonly transitions: readonly (readonly PlannedTransition[] | undefined)[];
}

/** Every step is judged before the first is stored: the server recomputes the route of each. Text = why it is refused. */
function judge(
  tx: Tx,
  definition: DefinitionSnapshot,
  run: RunRow,
  open: AttemptRow,
  entries: readonly StepEntry[],
): Rewind["reason"] | Judged {
  let nodeId = open.nodeId;
  let step = run.steps;
  const before = marksOf(tx, run, definition);
  let marks = before;
  const transitions: (readonly PlannedTransition[] | undefined)[] = [];
  for (const entry of entries) {
    if (entry.step !== step) return "gap";
    if (entry.nodeId !== nodeId) return "node";
    refuseAnswers(definition, run, entry);
    if (isStaleRoute(tx, definition, entry)) return "settings";
    step += 1;
    const after = afterStep(definition, asResult(tx, entry), step, marks);
    if (after.kind !== "next") return after.error?.kind === "maxSteps" ? "maxSteps" : "route";
    if (after.nodeId !== entry.next || !sameTransitions(after.transitions, entry.transitions)) return "route";
    marks = applyTransitions(marks, after.transitions, step);
    transitions.push(after.transitions);
    nodeId = after.nodeId;
  }
  return { marks: before, transitions };
}

function rewindOf(tx: Tx, run: RunRow, reason: Rewind["reason"]): Rewind {
  return { from: run.steps, reason, position: positionOf(tx, run) as Position, visits: visitsOf(tx, run.runNo) };
}
