/** `runs.start`: a new run, queued. Nothing of it has been executed or loaded yet. */
import { makeRunId } from "../../contracts/ids.ts";
import { defineCommand } from "../command.ts";
import { type Receipt, type Receipted, withReceipt } from "../receipts.ts";
import { bind, type Origin } from "../sessions/bindings.ts";
import type { Actor, Tx } from "../tx.ts";
import { parkQueue } from "./queueing.ts";
import { ackOf, type RunAck, runByNo } from "./rows.ts";

export interface StartRun {
  /** Name for people and for the id; the definition's own name replaces it at the first start. */
  readonly workflow: string;
  /** Absolute path of the workflow file. */
  readonly workflowPath: string;
  readonly projectPath: string;
  readonly input: unknown;
  readonly receipt: Receipt | null;
  readonly actor?: Actor;
  /** The session of Pi that it belongs to. */
  readonly origin?: Origin | undefined;
}

/** Throws `sessionBusy`, `idempotencyConflict`. */
export const start = defineCommand("runs.start", (tx, input: StartRun): Receipted<RunAck> =>
  withReceipt(tx, input.receipt, () => {
    const { projectPath, workflow, workflowPath } = input;
    const runNo = insertRun(tx, {
      runId: makeRunId(workflow, tx.now, tx.random),
      workflow,
      workflowPath,
      projectPath,
      packedInput: tx.pack(input.input),
      actor: input.actor ?? { type: "control", id: input.receipt?.clientId ?? "server" },
    });
    if (input.origin !== undefined) {
      bind(tx, runNo, input.origin);
      if (input.origin.turn !== null) parkQueue(tx, runNo, "turn", null);
    }
    return ackOf(tx, runByNo(tx, runNo));
  }),
);

export interface NewRun {
  readonly runId: string;
  readonly workflow: string;
  readonly workflowPath: string;
  readonly projectPath: string;
  readonly packedInput: string;
  readonly actor: Actor;
}

/** A queued run with its first continuation. Returns its number. */
export function insertRun(tx: Tx, run: NewRun): number {
  const { actor, packedInput, projectPath, runId, workflow, workflowPath } = run;
  const resourceNo = tx.resource("run", runId);
  const { lastInsertRowid: runNo } = tx.run(
    `INSERT INTO runs (run_id, short_key, resource_no, project_no, workflow_name, workflow_path, status, input, created_at, updated_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'queued', ?7, ?8, ?8)`,
    runId,
    runId.slice(runId.lastIndexOf("-") + 1),
    resourceNo,
    projectNo(tx, projectPath),
    workflow,
    workflowPath,
    packedInput,
    tx.now,
  );
  tx.run(
    "INSERT INTO run_queue (run_no, status, available_at, updated_at) VALUES (?1, 'queued', ?2, ?2)",
    runNo,
    tx.now,
  );
  tx.run(
    "INSERT INTO run_continuations (run_no, number, cause_type, cause_id, carried_steps, created_at) VALUES (?, 0, 'start', ?, 0, ?)",
    runNo,
    runId,
    tx.now,
  );
  tx.event(resourceNo, { type: "run.queued", actor, payload: { workflow, workflowPath } });
  return runNo;
}

/** The number of a project folder, made when it is new. */
export function projectNo(tx: Tx, path: string): number {
  const found = tx.get<{ no: number }>("SELECT project_no AS no FROM projects WHERE canonical_path = ?", path);
  if (found !== undefined) return found.no;
  return tx.run("INSERT INTO projects (canonical_path, created_at) VALUES (?, ?)", path, tx.now).lastInsertRowid;
}
