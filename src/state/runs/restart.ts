/** `runs.restart`: a new run of the same workflow and input, linked to the one that ended. */
import { createHash } from "node:crypto";
import { canonicalJson, sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { restartRunId } from "../../contracts/ids.ts";
import { RESTART } from "../../contracts/limits.ts";
import { isFinal } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { withReceipt, type Receipted } from "../receipts.ts";
import { bind, bindingOf } from "../sessions/bindings.ts";
import type { Tx } from "../tx.ts";
import { checkRevision, type RunControl } from "./control.ts";
import { parkQueue } from "./queueing.ts";
import { ackOf, lastAttempt, type RunAck, type RunRow, runByNo, runByRef } from "./rows.ts";
import { insertRun } from "./start.ts";

interface Source {
  workflowName: string;
  workflowPath: string;
  projectPath: string;
  /** Packed; what was passed, not what a parser made of it. */
  input: string;
  error: string | null;
  restartNumber: number;
  parentFingerprint: string | null;
}

export interface RestartRun extends RunControl {
  /** The turn of a session's agent that asks for it; a run of that session begins after it. */
  readonly within?: { readonly session: string; readonly turn: string } | undefined;
}

/**
 * The id follows from the run and its revision, so a repeated restart adopts the first. The files are loaded as they are
 * now. Throws `runNotFound`, `ambiguousId`, `revisionConflict`, and `restartRefused` for a run that has not ended, with an
 * action that is not settled, that was restarted before, or that failed exactly as the run it restarts.
 */
export const restart = defineCommand("runs.restart", (tx, input: RestartRun): Receipted<RunAck> => {
  let adopted = false;
  const receipted = withReceipt(tx, input.receipt, () => {
    const run = runByRef(tx, input.run);
    const before = tx.get<{ runNo: number; revision: number }>(
      "SELECT run_no AS runNo, parent_revision AS revision FROM runs WHERE parent_run_no = ? AND lineage_kind = 'restart'",
      run.runNo,
    );
    // The command that restarted a run told its chain, so the revision that a repeated one saw lies before.
    if (before !== undefined && (input.expectedRevision ?? before.revision) === before.revision) {
      adopted = true;
      return ackOf(tx, runByNo(tx, before.runNo));
    }
    checkRevision(tx, run, input.expectedRevision);
    if (before !== undefined)
      throw refused(`Run ${run.runId} was restarted before, as ${runByNo(tx, before.runNo).runId}.`);
    return create(tx, run, input);
  });
  return adopted ? { ...receipted, outcome: "adopted" } : receipted;
});

function create(tx: Tx, run: RunRow, input: RestartRun): RunAck {
  if (!isFinal("run", run.status))
    throw refused(`Run ${run.runId} is ${run.status}; only a run that has ended can be restarted.`);
  refuseUnsettled(tx, run);
  const source = sourceOf(tx, run);
  const fingerprint = fingerprintOf(tx, run, source);
  if (run.status !== "completed" && fingerprint === source.parentFingerprint)
    throw refused(
      `Run ${run.runId} ended exactly as the run that it restarts; another restart would do the same again.`,
    );
  if (source.restartNumber >= RESTART.chain)
    throw refused(`Run ${run.runId} is restart ${source.restartNumber} of its chain; the limit is ${RESTART.chain}.`);
  const revision = tx.revision(run.resourceNo);
  const runId = restartRunId(
    createHash("sha256")
      .update(canonicalJson({ run: run.runId, revision }))
      .digest(),
  );
  const runNo = insertRun(tx, {
    runId,
    workflow: source.workflowName,
    workflowPath: source.workflowPath,
    projectPath: source.projectPath,
    packedInput: source.input,
    actor: input.actor,
  });
  tx.run(
    `UPDATE runs SET parent_run_no = ?, lineage_kind = 'restart', parent_revision = ?, parent_terminal_fingerprint = ?, restart_number = ?
     WHERE run_no = ?`,
    run.runNo,
    revision,
    fingerprint,
    source.restartNumber + 1,
    runNo,
  );
  const before = bindingOf(tx, run.runNo);
  if (before !== undefined) {
    const turn = input.within?.session === before.sessionId ? input.within.turn : null;
    bind(tx, runNo, { session: before.sessionId, turn, mode: before.mode });
    if (turn !== null) parkQueue(tx, runNo, "turn", null);
  }
  tx.event(run.resourceNo, {
    type: "run.restarted",
    actor: input.actor,
    payload: { runId, reason: input.reason ?? null, restartNumber: source.restartNumber + 1 },
  });
  return ackOf(tx, runByNo(tx, runNo));
}

/** What nobody knows of the old run would be done a second time by the new one. */
function refuseUnsettled(tx: Tx, run: RunRow): void {
  const open = tx.get<{ shortId: string; status: string }>(
    `SELECT short_id AS shortId, status FROM effects WHERE run_no = ? AND purpose = 'action' AND status IN ('pending', 'applying', 'ambiguous')
     ORDER BY effect_no LIMIT 1`,
    run.runNo,
  );
  if (open === undefined) return;
  throw new HoldpointError(
    "restartRefused",
    `Effect ${open.shortId} of run ${run.runId} is ${open.status}; it must be settled first.`,
    {
      remedy: `Find out what happened, then run \`holdpoint effect settle ${open.shortId} applied|notApplied\`.`,
      details: { effect: open.shortId, status: open.status },
    },
  );
}

function sourceOf(tx: Tx, run: RunRow): Source {
  return tx.get<Source>(
    `SELECT workflow_name AS workflowName, workflow_path AS workflowPath, canonical_path AS projectPath, coalesce(given_input, input) AS input, error,
       restart_number AS restartNumber, parent_terminal_fingerprint AS parentFingerprint FROM runs JOIN projects USING (project_no) WHERE run_no = ?`,
    run.runNo,
  ) as Source;
}

/** How the run ended: status, node, and the error without what differs from run to run. */
function fingerprintOf(tx: Tx, run: RunRow, source: Source): string {
  const error = source.error === null ? null : (tx.unpack(source.error) as { kind?: string; message?: string });
  return sha256Digest({
    status: run.status,
    nodeId: lastAttempt(tx, run)?.nodeId ?? null,
    kind: error?.kind ?? null,
    message: error?.message?.replaceAll(run.runId, "") ?? null,
  });
}

function refused(message: string): HoldpointError {
  return new HoldpointError("restartRefused", message);
}
