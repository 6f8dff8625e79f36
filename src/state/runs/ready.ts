/**
 * `runs.ready`: a runner has loaded the workflow. The first time, its definition and sources become what is approved; later
 * they must be the same. Then the run is put where execution goes on.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { type ErrorRecord, HoldpointError } from "../../contracts/errors.ts";
import type { NodeOutcome, NodeResult, Position } from "../../contracts/protocol/runner.ts";
import type { MountState } from "../../contracts/include.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { isFinal, next } from "../../contracts/states.ts";
import { afterStep, definitionDigest } from "../../workflow/rules/index.ts";
import { defineCommand } from "../command.ts";
import { sha256Hex } from "../hash.ts";
import type { Claim, Tx } from "../tx.ts";
import { sourcesOf } from "./claim.ts";
import { endRun } from "./ending.ts";
import { enterAtStart, marksOf, mountStates, pass } from "./mounts.ts";
import { positionOf, resultsOf, stepsOf, visitsOf } from "./position.ts";
import { Progress } from "./progress.ts";
import { queueOf } from "./queueing.ts";
import { claimedRun, definitionOf, lastAttempt, openOf, type RunRow, runByNo, runnerActor } from "./rows.ts";

interface SourceContent {
  readonly path: string;
  readonly sha256: string;
  readonly content?: Buffer | undefined;
}

export interface RunnerReady {
  readonly claim: Claim;
  readonly childId: string;
  /** Needed at the first start; later the digest is enough. */
  readonly definition?: DefinitionSnapshot | undefined;
  readonly definitionDigest: string;
  /** At the first start as the server read and hashed them itself; later the names and hashes are enough. */
  readonly sources: readonly SourceContent[];
  /** The file itself, where the run was started through a link; it is what is loaded from now on. */
  readonly workflowPath?: string | undefined;
  readonly title: string | null;
  /** The parsed input, at the first start of a workflow that parses it. */
  readonly input?: JsonValue | undefined;
}

export interface ResumeState {
  /** Null when the run ended in this command: nothing is left to execute. */
  readonly position: Position | null;
  readonly status: string;
  readonly visits: Record<string, number>;
  readonly results: NodeResult[];
  readonly steps: [string, NodeOutcome][];
  readonly mounts: MountState[];
}

/**
 * Throws `claimLost`, `protocolRejected` for digests that do not fit their content, and `workflowSourceChanged` when this
 * is not what was approved; the caller parks the run then.
 */
export const ready = defineCommand("runs.ready", (tx, input: RunnerReady): ResumeState => {
  const before = claimedRun(tx, input.claim);
  const digest = input.definition && definitionDigest(input.definition);
  if (digest !== undefined && digest !== input.definitionDigest) {
    throw new HoldpointError(
      "protocolRejected",
      `The runner of ${before.runId} says definition ${input.definitionDigest}; its content has ${digest}.`,
    );
  }
  if (before.definitionDigest === null) approve(tx, before, input);
  else compare(tx, before, input);

  const run = before.definitionDigest === null ? runByNo(tx, before.runNo) : before;
  startQueue(tx, run);
  const runner = nextRunnerStatus(tx, input.claim);
  // The run may end here, which closes the runner's row: it has to be ready before.
  tx.run(
    "UPDATE run_runners SET status = ?, child_id = ?, ready_at = ?, steps_at_ready = ?, revision_at_ready = ? WHERE runner_epoch = ?",
    runner,
    input.childId,
    tx.now,
    run.steps,
    tx.bump(run.resourceNo),
    input.claim.runnerEpoch,
  );
  const ended = place(tx, run, input.claim);
  const status = run.status;
  if (ended) return { position: null, status, visits: {}, results: [], steps: [], mounts: [] };
  return {
    position: positionOf(tx, run),
    status,
    visits: visitsOf(tx, run.runNo),
    results: resultsOf(tx, run.runNo),
    steps: stepsOf(tx, run.runNo),
    mounts: definitionOf(tx, run).includes === undefined ? [] : mountStates(tx, run.runNo),
  };
});

function approve(tx: Tx, run: RunRow, input: RunnerReady): void {
  const { definition, workflowPath } = input;
  if (definition === undefined)
    throw new HoldpointError("protocolRejected", `The runner of ${run.runId} sent no definition, and none is stored.`);
  tx.run(
    "INSERT INTO workflow_definitions (definition_digest, workflow_name, definition, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    input.definitionDigest,
    definition.name,
    tx.pack(definition),
    tx.now,
  );
  for (const source of input.sources) {
    // blob() hashes the content itself, so a wrong hash cannot be stored as an approved one.
    const hash = source.content && tx.blob(source.content);
    if (hash !== source.sha256)
      throw new HoldpointError("protocolRejected", `Source ${source.path} has SHA-256 ${hash}, not ${source.sha256}.`);
    tx.run("INSERT INTO run_sources (run_no, path, sha256) VALUES (?, ?, ?)", run.runNo, source.path, source.sha256);
  }
  tx.run(
    "UPDATE runs SET definition_digest = ?, workflow_name = ?, title = ? WHERE run_no = ?",
    input.definitionDigest,
    definition.name,
    input.title,
    run.runNo,
  );
  if (workflowPath !== undefined) tx.run("UPDATE runs SET workflow_path = ? WHERE run_no = ?", workflowPath, run.runNo);
  // What the workflow's parser made of the input is what the run works with from now on; it is parsed once.
  if (input.input !== undefined)
    tx.run("UPDATE runs SET given_input = input, input = ? WHERE run_no = ?", tx.pack(input.input), run.runNo);
}

function compare(tx: Tx, run: RunRow, input: RunnerReady): void {
  const changed = (what: string): never => {
    throw new HoldpointError("workflowSourceChanged", `Run ${run.runId} was approved with other files: ${what}.`);
  };
  const approved = new Map(sourcesOf(tx, run.runNo).map(({ path, sha256 }) => [path, sha256]));
  for (const source of input.sources) {
    const wanted = approved.get(source.path);
    if (wanted === undefined) changed(`${source.path} was not among them`);
    const content = source.content === undefined ? wanted : sha256Hex(source.content);
    if (wanted !== source.sha256 || content !== wanted) changed(`${source.path} differs`);
  }
  if (run.definitionDigest !== input.definitionDigest)
    changed(`the definition is ${input.definitionDigest}, not ${run.definitionDigest}`);
}

function nextRunnerStatus(tx: Tx, claim: Claim): string {
  const runner = tx.get<{ status: string }>("SELECT status FROM run_runners WHERE runner_epoch = ?", claim.runnerEpoch);
  if (runner === undefined)
    throw new HoldpointError("protocolRejected", `Runner ${claim.runnerEpoch} was never launched.`);
  return next("runner", runner.status, "ready");
}

function startQueue(tx: Tx, run: RunRow): void {
  tx.run(
    "UPDATE run_queue SET status = ?, updated_at = ? WHERE run_no = ?",
    next("queue", queueOf(tx, run.runNo).status, "ready"),
    tx.now,
    run.runNo,
  );
  if (run.status === "queued") run.status = next("run", run.status, "started");
}

/** Opens the attempt that is executed next; true when there is none and the run has ended. */
function place(tx: Tx, run: RunRow, claim: Claim): boolean {
  const definition = definitionOf(tx, run);
  const actor = runnerActor(claim);
  const last = lastAttempt(tx, run);
  const open = openOf(last);
  const progress = new Progress(tx, run, open, claim.runnerEpoch);
  if (open?.status === "waiting") {
    // The agent of a session has handed something in, or its step has ended otherwise: the same attempt goes on.
    progress.goOn();
    run.status = next("run", run.status, "continued");
    tx.event(run.resourceNo, {
      type: "run.resumed",
      actor,
      payload: { nodeId: open.nodeId, visit: open.visit, step: run.steps, interrupted: false },
    });
    progress.save();
    return false;
  }
  if (open !== undefined) {
    progress.interrupt();
    tx.event(run.resourceNo, {
      type: "run.resumed",
      actor,
      payload: { nodeId: open.nodeId, visit: open.visit, step: run.steps, interrupted: true },
    });
    progress.save();
    return false;
  }
  if (last === undefined) {
    progress.start(definition.startAt);
    enterAtStart(tx, run, definition, actor);
    tx.event(run.resourceNo, {
      type: "run.started",
      actor,
      payload: { nodeId: definition.startAt, definitionDigest: run.definitionDigest },
    });
    progress.save();
    return false;
  }
  const result = resultOf(tx, run, last.nodeId);
  const marks = marksOf(tx, run, definition);
  const after = afterStep(definition, result, run.steps, marks);
  pass(tx, run, definition, marks, { planned: after.transitions, nextStep: run.steps, actor });
  if (after.kind === "next") {
    progress.start(after.nodeId);
    tx.event(run.resourceNo, {
      type: "run.resumed",
      actor,
      payload: { nodeId: after.nodeId, step: run.steps, interrupted: false },
    });
    progress.save();
    return false;
  }
  progress.save();
  endRun(tx, run, {
    status: after.status,
    output: after.status === "completed" ? result.output : undefined,
    error: after.error,
    actor,
  });
  return isFinal("run", run.status);
}

function resultOf(tx: Tx, run: RunRow, nodeId: string): NodeResult {
  const row = tx.get<{ outcome: NodeOutcome; output: string | null; error: string | null }>(
    "SELECT outcome, output, error FROM run_nodes WHERE run_no = ? AND node_id = ?",
    run.runNo,
    nodeId,
  );
  if (row === undefined)
    throw new HoldpointError("storageBroken", `Run ${run.runId} has lost the result of node "${nodeId}".`);
  return {
    nodeId,
    outcome: row.outcome,
    ...(row.output === null ? {} : { output: tx.unpack(row.output) }),
    ...(row.error === null ? {} : { error: tx.unpack(row.error) as unknown as ErrorRecord }),
  };
}
