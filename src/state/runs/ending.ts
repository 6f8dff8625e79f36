/** The end of a run: one row, one queue row, no claim. */
import type { ErrorRecord } from "../../contracts/errors.ts";
import { next } from "../../contracts/states.ts";
import { queueStory } from "../decisions/settle.ts";
import type { Actor, Tx } from "../tx.ts";
import { closeQueue, letGo, type RunnerEnd } from "./queueing.ts";
import { packError, type RunRow } from "./rows.ts";

type FinalStatus = "completed" | "failed" | "timed_out" | "cancelled";

const EVENT = { completed: "completed", failed: "failed", timed_out: "timedOut", cancelled: "cancelled" } as const;

export interface Ending {
  readonly status: FinalStatus;
  /** Output of the last node of a completed run; undefined = none. */
  readonly output?: unknown;
  readonly error?: ErrorRecord | null | undefined;
  readonly actor: Actor;
  /** What the runner's row says; default `exited`. */
  readonly runner?: RunnerEnd;
}

/** Ends a run and releases its claim. Returns the epoch of the runner that held it, if any. */
export function endRun(tx: Tx, run: RunRow, ending: Ending): string | null {
  run.status = next("run", run.status, EVENT[ending.status]);
  run.paused = 0;
  tx.run(
    "UPDATE runs SET status = ?, paused = 0, final_output = ?, error = ?, updated_at = ?, finished_at = ? WHERE run_no = ?",
    run.status,
    ending.output === undefined ? null : tx.pack(ending.output),
    packError(tx, ending.error),
    tx.now,
    tx.now,
    run.runNo,
  );
  closeQueue(tx, run.runNo);
  const epoch = letGo(tx, run, ending.runner ?? "exited");
  tx.event(run.resourceNo, {
    type: "run.finished",
    actor: ending.actor,
    payload: { status: ending.status, steps: run.steps, error: ending.error ?? null },
  });
  queueStory(tx, run.runNo);
  return epoch;
}
