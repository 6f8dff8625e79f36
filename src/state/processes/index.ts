/**
 * Process groups that runners started for a node (a command, an agent): registered durably before they may act, so that
 * the server can end what a dead runner left and prove it gone before the run is claimed again.
 */
import { sha256Hex } from "../hash.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { defineCommand } from "../command.ts";
import type { ReadDb } from "../reading.ts";
import { claimedRun, openAttempt } from "../runs/rows.ts";
import type { Claim } from "../tx.ts";

export type ProcessKind = "shell" | "agent";

export interface RegisterProcess {
  readonly claim: Claim;
  readonly kind: ProcessKind;
  /** The step and node that it works for; must be those that are being executed. */
  readonly step: number;
  readonly nodeId: string;
  /** Leader of a process group of its own. */
  readonly pid: number;
  /** Tells this process from a later one with the same pid. */
  readonly startIdentity: string;
}

/** Throws `claimLost`, or `protocolRejected` when the node is not the one that is being executed. Repeating it changes nothing. */
const register = defineCommand("processes.register", (tx, input: RegisterProcess): { processId: string } => {
  const { claim, kind, nodeId, pid, startIdentity, step } = input;
  const run = claimedRun(tx, claim);
  const open = openAttempt(tx, run);
  if (open?.status !== "running" || open.nodeId !== nodeId || run.steps !== step) {
    throw new HoldpointError(
      "protocolRejected",
      `A process of step ${step} (${nodeId}) cannot be registered: run ${run.runId} executes step ${run.steps} (${open?.nodeId ?? "nothing"}).`,
    );
  }
  const processId = `p-${sha256Hex(Buffer.from(`${claim.runnerEpoch}\0${pid}\0${startIdentity}`)).slice(0, 32)}`;
  tx.run(
    `INSERT INTO run_processes (process_id, run_no, runner_epoch, attempt_no, kind, pid, start_identity, registered_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    processId,
    run.runNo,
    claim.runnerEpoch,
    open.attemptNo,
    kind,
    pid,
    startIdentity,
    tx.now,
  );
  return { processId };
});

/**
 * The group is gone. Needs no claim: it stays true after the run was taken away. A second report changes nothing.
 * `runnerEpoch` fences it: nobody reports the end of another's process.
 */
const ended = defineCommand(
  "processes.ended",
  (tx, input: { processId: string; runnerEpoch: string; outcome: string }): null => {
    tx.run(
      "UPDATE run_processes SET ended_at = ?, outcome = ? WHERE process_id = ? AND runner_epoch = ? AND ended_at IS NULL",
      tx.now,
      input.outcome,
      input.processId,
      input.runnerEpoch,
    );
    return null;
  },
);

export const commands = { register, ended };

export interface ProcessRow {
  readonly processId: string;
  readonly runNo: number;
  readonly runnerEpoch: string;
  readonly kind: ProcessKind;
  readonly pid: number;
  readonly startIdentity: string;
  readonly registeredAt: number;
  readonly endedAt: number | null;
  readonly outcome: string | null;
}

const ROW = `SELECT process_id AS processId, run_no AS runNo, runner_epoch AS runnerEpoch, kind, pid, start_identity AS startIdentity,
  registered_at AS registeredAt, ended_at AS endedAt, outcome FROM run_processes`;

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** Those whose end nobody has recorded: of one runner, or of all. */
  alive: (runnerEpoch?: string): ProcessRow[] =>
    runnerEpoch === undefined
      ? db.all<ProcessRow>(`${ROW} WHERE ended_at IS NULL`)
      : db.all<ProcessRow>(`${ROW} WHERE ended_at IS NULL AND runner_epoch = ?`, runnerEpoch),
  /** Of one run, oldest first. */
  of: (runNo: number): ProcessRow[] =>
    db.all<ProcessRow>(`${ROW} WHERE run_no = ? ORDER BY registered_at LIMIT 256`, runNo),
});
