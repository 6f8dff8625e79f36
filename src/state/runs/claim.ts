/** `runs.claim`: gives the next due run to a new runner. */
import type { SourceFile } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { next } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { bindingOf } from "../sessions/bindings.ts";
import type { Reader } from "../statements.ts";
import type { Claim, Tx } from "../tx.ts";
import { type AttemptRow, lastAttempt, type RunRow, runByNo, SERVER_ACTOR } from "./rows.ts";

export interface Launch {
  readonly claim: Claim;
  readonly command: "start" | "continue" | "resume";
  readonly workflowPath: string;
  readonly projectPath: string;
  /** What was approved at the first start; null before it. */
  readonly sources: SourceFile[] | null;
  readonly definitionDigest: string | null;
  readonly input: JsonValue;
  /** The last runner stopped giving way: this one goes on step by step, so that it is known where the next one does. */
  readonly stepwise: boolean;
  /** Its agent steps are done by the agent of a Pi session. */
  readonly interactive: boolean;
}

/** Null when nothing is due. Throws `claimLost` when another server epoch owns the database. */
export const claim = defineCommand(
  "runs.claim",
  (tx, input: { serverEpoch: number; runnerEpoch: string }): Launch | null => {
    const epoch = tx.get<{ epoch: number }>("SELECT epoch FROM server_state WHERE id = 1")?.epoch;
    if (epoch !== input.serverEpoch)
      throw new HoldpointError("claimLost", `Server epoch ${input.serverEpoch} is no longer the present one.`);
    const due = tx.get<{ runNo: number; status: string }>(
      `SELECT run_no AS runNo, status FROM run_queue WHERE status = 'queued' AND available_at <= ?
     ORDER BY priority DESC, available_at, run_no LIMIT 1`,
      tx.now,
    );
    if (due === undefined) return null;
    const run = runByNo(tx, due.runNo);
    tx.run(
      "UPDATE run_queue SET status = ?, updated_at = ? WHERE run_no = ?",
      next("queue", due.status, "claimed"),
      tx.now,
      run.runNo,
    );
    const { generation, token } = tx.acquire(run.resourceNo, {
      ownerId: input.runnerEpoch,
      serverEpoch: input.serverEpoch,
    });
    const last = lastAttempt(tx, run);
    const command = commandFor(last);
    tx.run(
      `INSERT INTO run_runners (runner_epoch, run_no, generation, server_epoch, command, status, started_at) VALUES (?, ?, ?, ?, ?, 'starting', ?)`,
      input.runnerEpoch,
      run.runNo,
      generation,
      input.serverEpoch,
      command,
      tx.now,
    );
    tx.event(run.resourceNo, {
      type: "runner.launched",
      actor: SERVER_ACTOR,
      payload: { command, generation, runner: input.runnerEpoch },
    });
    const { runId, resourceNo, runNo, definitionDigest } = run;
    const held: Claim = {
      runId,
      resourceNo,
      runNo,
      generation,
      token,
      runnerEpoch: input.runnerEpoch,
      serverEpoch: input.serverEpoch,
    };
    const stepwise = last !== undefined && ranOutOfTime(tx, last.runnerEpoch);
    const interactive = bindingOf(tx, run.runNo)?.mode === "interactive";
    return { claim: held, command, definitionDigest, stepwise, interactive, ...launchFields(tx, run) };
  },
);

/**
 * `continue` after an answer, `resume` in the middle of a node, `start` for a run that has executed nothing. A last attempt
 * that is completed was answered: every other completed one has a successor in the same command.
 */
function commandFor(last: AttemptRow | undefined): Launch["command"] {
  if (last === undefined) return "start";
  return last.status === "completed" ? "continue" : "resume";
}

function ranOutOfTime(tx: Tx, runnerEpoch: string | null): boolean {
  if (runnerEpoch === null) return false;
  return tx.get("SELECT 1 FROM run_runners WHERE runner_epoch = ? AND status = 'timedOut'", runnerEpoch) !== undefined;
}

function launchFields(tx: Tx, run: RunRow): Pick<Launch, "workflowPath" | "projectPath" | "sources" | "input"> {
  const { input, ...place } = placeAndInput(tx, run.runNo);
  const sources = run.definitionDigest === null ? null : sourcesOf(tx, run.runNo);
  return { ...place, sources, input: tx.unpack(input) };
}

function placeAndInput(db: Reader, runNo: number): { workflowPath: string; projectPath: string; input: string } {
  return db.get(
    `SELECT workflow_path AS workflowPath, canonical_path AS projectPath, input FROM runs JOIN projects USING (project_no) WHERE run_no = ?`,
    runNo,
  ) as { workflowPath: string; projectPath: string; input: string };
}

/** Which file a run executes, and for which project. */
export function placeOf(db: Reader, runNo: number): Pick<Launch, "workflowPath" | "projectPath"> {
  const { projectPath, workflowPath } = placeAndInput(db, runNo);
  return { projectPath, workflowPath };
}

/** The approved files of a run; content is in `blobs` under the same hash. */
export function sourcesOf(db: Reader, runNo: number): SourceFile[] {
  return db.all<SourceFile>("SELECT path, sha256 FROM run_sources WHERE run_no = ? ORDER BY path", runNo);
}
