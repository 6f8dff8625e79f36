/**
 * Steps of a run inside one command: attempts are finished and opened in memory, so that each step costs one INSERT and
 * every counter is written once, whatever the number of steps.
 */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { NodeOutcome } from "../../contracts/protocol/runner.ts";
import type { ContentRef } from "../../contracts/protocol/shared.ts";
import { next } from "../../contracts/states.ts";
import type { Tx } from "../tx.ts";
import { type AttemptRow, packError, type RunRow } from "./rows.ts";

/** How an attempt ended. `output` undefined = none. */
export interface StepResult {
  readonly outcome: NodeOutcome;
  readonly output?: unknown;
  /** Content that stands for the output and was stored before. */
  readonly outputRef?: ContentRef | undefined;
  readonly error?: ErrorRecord | null | undefined;
  readonly durationMs?: number | undefined;
  readonly settings?: { readonly scopeId: string; readonly changeNumber: number } | undefined;
}

/** A node's row. */
export interface NodeState {
  visits: number;
  attempts: number;
  outcome: string | null;
  output: string | null;
  error: string | null;
  /** Whether it is in the table. */
  stored: boolean;
}

const ATTEMPT_EVENT = { ok: "finished", failed: "failed", timed_out: "timedOut", cancelled: "cancelled" } as const;
/** The attempt's state for each outcome, from running: looked up once instead of once per step. */
const FROM_RUNNING = new Map(
  Object.entries(ATTEMPT_EVENT).map(([outcome, event]) => [outcome, next("nodeAttempt", "running", event)]),
);

const INSERT = `INSERT INTO node_attempts (run_no, attempt_no, node_id, visit, attempt_number, status, step, output, error, runner_epoch,
  started_at, finished_at, duration_ms, settings_scope, settings_change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const INSERT_NODE =
  "INSERT INTO run_nodes (run_no, node_id, visits, attempts, outcome, output, error) VALUES (?, ?, ?, ?, ?, ?, ?)";
const UPDATE_NODE =
  "UPDATE run_nodes SET visits = ?, attempts = ?, outcome = ?, output = ?, error = ? WHERE run_no = ? AND node_id = ?";

export class Progress {
  readonly #tx: Tx;
  readonly #run: RunRow;
  readonly #runnerEpoch: string | null;
  readonly #nodes = new Map<string, NodeState>();
  #open: AttemptRow | undefined;
  /** The open attempt is not a row yet. */
  #fresh = false;

  constructor(tx: Tx, run: RunRow, open: AttemptRow | undefined, runnerEpoch: string | null) {
    this.#tx = tx;
    this.#run = run;
    this.#open = open;
    this.#runnerEpoch = runnerEpoch;
  }

  get open(): AttemptRow | undefined {
    return this.#open;
  }

  /** Takes over the row of a node that was read with another. */
  know(nodeId: string, node: NodeState): void {
    this.#nodes.set(nodeId, node);
  }

  /** Ends the open attempt as the run's next step and returns it. `nodeOutcome` overrides what the node's result says. */
  finish(result: StepResult): AttemptRow {
    const tx = this.#tx;
    const run = this.#run;
    const open = this.#open;
    if (open === undefined) throw new Error(`run ${run.runId} has no open attempt`);
    const status =
      open.status === "running"
        ? (FROM_RUNNING.get(result.outcome) as string)
        : next("nodeAttempt", open.status, ATTEMPT_EVENT[result.outcome]);
    const { durationMs: duration = null, outputRef, settings } = result;
    const output =
      result.output === undefined && outputRef === undefined ? null : tx.packEither(result.output, outputRef);
    const error = packError(tx, result.error);
    const scope = settings?.scopeId ?? null;
    const change = settings?.changeNumber ?? null;
    if (this.#fresh) {
      this.#insert(open, status, run.steps, output, error, tx.now, duration, scope, change);
    } else {
      tx.run(
        `UPDATE node_attempts SET status = ?, step = ?, output = ?, error = ?, finished_at = ?, duration_ms = ?, settings_scope = ?, settings_change = ?
         WHERE run_no = ? AND attempt_no = ?`,
        status,
        run.steps,
        output,
        error,
        tx.now,
        duration,
        scope,
        change,
        run.runNo,
        open.attemptNo,
      );
    }
    const node = this.#node(open.nodeId);
    node.outcome = result.outcome;
    node.output = output;
    node.error = error;
    run.steps += 1;
    this.#open = undefined;
    this.#fresh = false;
    return open;
  }

  /** Opens the first attempt of a new visit of a node. */
  start(nodeId: string): void {
    const node = this.#node(nodeId);
    node.visits += 1;
    node.attempts += 1;
    this.#opened(nodeId, node.visits, 1);
  }

  /** Marks the open attempt interrupted and opens another one of the same visit. */
  interrupt(): void {
    const open = this.#open;
    if (open === undefined) throw new Error(`run ${this.#run.runId} has no open attempt`);
    this.#tx.run(
      "UPDATE node_attempts SET status = ?, finished_at = ? WHERE run_no = ? AND attempt_no = ?",
      next("nodeAttempt", open.status, "interrupted"),
      this.#tx.now,
      this.#run.runNo,
      open.attemptNo,
    );
    this.#node(open.nodeId).attempts += 1;
    this.#opened(open.nodeId, open.visit, open.attemptNumber + 1);
  }

  /** The open attempt waited and goes on with this runner. */
  goOn(): void {
    const open = this.#open;
    if (open === undefined) throw new Error(`run ${this.#run.runId} has no open attempt`);
    this.#tx.run(
      "UPDATE node_attempts SET status = ?, runner_epoch = ? WHERE run_no = ? AND attempt_no = ?",
      next("nodeAttempt", open.status, "goesOn"),
      this.#runnerEpoch,
      this.#run.runNo,
      open.attemptNo,
    );
  }

  /** Writes the open attempt, the nodes' counters and the run's position. */
  save(): void {
    this.saveNodes();
    savePosition(this.#tx, this.#run);
  }

  /** The same without the run's row, for a command that ends the run and writes its row then. */
  saveNodes(): void {
    const tx = this.#tx;
    const run = this.#run;
    if (this.#fresh && this.#open !== undefined)
      this.#insert(this.#open, "running", null, null, null, null, null, null, null);
    this.#fresh = false;
    for (const [nodeId, { attempts, error, outcome, output, stored, visits }] of this.#nodes) {
      if (stored) tx.run(UPDATE_NODE, visits, attempts, outcome, output, error, run.runNo, nodeId);
      else tx.run(INSERT_NODE, run.runNo, nodeId, visits, attempts, outcome, output, error);
    }
    this.#nodes.clear();
  }

  #opened(nodeId: string, visit: number, attemptNumber: number): void {
    const attemptNo = (this.#run.attemptNo ?? 0) + 1;
    this.#run.attemptNo = attemptNo;
    this.#open = {
      attemptNo,
      nodeId,
      visit,
      attemptNumber,
      status: "running",
      runnerEpoch: this.#runnerEpoch,
      startedAt: this.#tx.now,
    };
    this.#fresh = true;
  }

  #insert(
    attempt: AttemptRow,
    status: string,
    step: number | null,
    output: string | null,
    error: string | null,
    finishedAt: number | null,
    duration: number | null,
    settingsScope: string | null,
    settingsChange: number | null,
  ): void {
    const tx = this.#tx;
    const { attemptNo, nodeId, visit, attemptNumber } = attempt;
    tx.run(
      INSERT,
      this.#run.runNo,
      attemptNo,
      nodeId,
      visit,
      attemptNumber,
      status,
      step,
      output,
      error,
      this.#runnerEpoch,
      tx.now,
      finishedAt,
      duration,
      settingsScope,
      settingsChange,
    );
  }

  #node(nodeId: string): NodeState {
    let node = this.#nodes.get(nodeId);
    if (node === undefined) {
      const row = this.#tx.get<Omit<NodeState, "stored">>(
        "SELECT visits, attempts, outcome, output, error FROM run_nodes WHERE run_no = ? AND node_id = ?",
        this.#run.runNo,
        nodeId,
      );
      node =
        row === undefined
          ? { visits: 0, attempts: 0, outcome: null, output: null, error: null, stored: false }
          : { ...row, stored: true };
      this.#nodes.set(nodeId, node);
    }
    return node;
  }
}

function savePosition(tx: Tx, run: RunRow): void {
  tx.run(
    "UPDATE runs SET status = ?, steps = ?, attempt_no = ?, continuations = ?, updated_at = ? WHERE run_no = ?",
    run.status,
    run.steps,
    run.attemptNo,
    run.continuations,
    tx.now,
    run.runNo,
  );
}
