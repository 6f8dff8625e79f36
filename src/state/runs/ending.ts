/** The end of a run: one row, one queue row, no claim. */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { ContentRef } from "../../contracts/protocol/shared.ts";
import { next } from "../../contracts/states.ts";
import { endReportsOf } from "../alerts/run-ended.ts";
import { cancelCheckpointOf } from "../checkpoints/cancel.ts";
import { queueStory } from "../decisions/settle.ts";
import { cancelPending } from "../effects/rows.ts";
import { cancelRequestOf } from "../interactions/ending.ts";
import { unbind } from "../sessions/bindings.ts";
import { queueEnding } from "../sessions/messages.ts";
import { cancelTimerOf } from "../timers/cancel.ts";
import type { Actor, Tx } from "../tx.ts";
import { closeQueue, letGo, type RunnerEnd } from "./queueing.ts";
import { packError, type RunRow } from "./rows.ts";

type FinalStatus = "completed" | "failed" | "timed_out" | "cancelled";

const EVENT = { completed: "completed", failed: "failed", timed_out: "timedOut", cancelled: "cancelled" } as const;

export interface Ending {
  readonly status: FinalStatus;
  /** Output of the last node of a completed run; undefined = none. */
  readonly output?: unknown;
  /** Content that stands for the output and was stored before. */
  readonly outputRef?: ContentRef | undefined;
  readonly error?: ErrorRecord | null | undefined;
  readonly actor: Actor;
  /** What the runner's row says; default `exited`. */
  readonly runner?: RunnerEnd;
}

/** Ends a run, writes its row as it is in hand, and releases its claim. Returns the epoch of the runner that held it, if any. */
export function endRun(tx: Tx, run: RunRow, ending: Ending): string | null {
  run.status = next("run", run.status, EVENT[ending.status]);
  run.paused = 0;
  tx.run(
    `UPDATE runs SET status = ?, paused = 0, steps = ?, attempt_no = ?, continuations = ?, final_output = ?, error = ?, updated_at = ?, finished_at = ?
     WHERE run_no = ?`,
    run.status,
    run.steps,
    run.attemptNo,
    run.continuations,
    ending.output === undefined && ending.outputRef === undefined
      ? null
      : tx.packEither(ending.output, ending.outputRef),
    packError(tx, ending.error),
    tx.now,
    tx.now,
    run.runNo,
  );
  cancelCheckpointOf(tx, run.runNo);
  cancelRequestOf(tx, run.runNo);
  cancelTimerOf(tx, run.runNo);
  // Somebody took the run back: what it had not told yet is no news any more.
  if (ending.status === "cancelled") cancelPending(tx, "run_no = ? AND purpose = 'notification'", run.runNo);
  closeQueue(tx, run.runNo);
  const epoch = letGo(tx, run, ending.runner ?? "exited");
  tx.event(run.resourceNo, {
    type: "run.finished",
    actor: ending.actor,
    payload: { status: ending.status, steps: run.steps, error: ending.error ?? null },
  });
  queueStory(tx, run.runNo);
  queueEnding(tx, run);
  unbind(tx, run.runNo);
  endReportsOf(tx, run.runId);
  return epoch;
}
