/** The one status of a run that people see, wherever they look. */
import { z } from "zod";
import { isFinal } from "./states.ts";

export const runStatusSchema = z.enum([
  "queued",
  "running",
  "waiting",
  "paused",
  "parked",
  "ambiguous",
  "completed",
  "failed",
  "timed_out",
  "cancelled",
]);
export type RunStatus = z.infer<typeof runStatusSchema>;

/** What the status is made of. */
export interface RunStatusFacts {
  readonly status: string;
  readonly paused: boolean;
  /** Actions of the run that a person must settle. */
  readonly ambiguousEffects: number;
  readonly pendingDecision: string | null;
  readonly pendingCheckpoint: string | null;
  /** The Pi session whose agent it waits for. */
  readonly pendingSession: string | null;
  /** That agent is in a turn of the step. */
  readonly inTurn: boolean;
  /** When a sleeping run goes on. */
  readonly wakeAt: number | null;
  readonly queueStatus: string;
  /** `turn`: it is reserved, and begins by itself. */
  readonly parkReason: string | null;
}

/**
 * Terminal, ambiguous, paused, waiting, running, parked, queued, in this order. (CONTRACTS 3.4 has no `parked`: there such a run
 * looks like one that goes on by itself.)
 */
export function displayStatus(run: RunStatusFacts): RunStatus {
  if (isFinal("run", run.status)) return run.status as RunStatus;
  if (run.ambiguousEffects > 0) return "ambiguous";
  if (run.paused) return "paused";
  if (run.inTurn) return "running";
  if (run.pendingSession !== null) return "waiting";
  if (run.pendingDecision !== null || run.pendingCheckpoint !== null || run.wakeAt !== null) return "waiting";
  if (run.queueStatus === "starting" || run.queueStatus === "running") return "running";
  return run.queueStatus === "parked" && run.parkReason !== "turn" ? "parked" : "queued";
}
