/** What a runner needs to go on with a run: position, visits, the latest results and the list of steps. */
import type { NodeOutcome, NodeResult, Position } from "../../contracts/protocol/runner.ts";
import { CONTENT } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { Reader } from "../statements.ts";
import { largeContent } from "../values.ts";
import { openAttempt, type RunRow } from "./rows.ts";

interface Unpacking extends Reader {
  unpack(text: string): JsonValue;
}

/** Visits of each node so far, the open one included. */
export function visitsOf(db: Reader, runNo: number): Record<string, number> {
  const rows = db.all<{ nodeId: string; visits: number }>(
    "SELECT node_id AS nodeId, visits FROM run_nodes WHERE run_no = ?",
    runNo,
  );
  return Object.fromEntries(rows.map(({ nodeId, visits }) => [nodeId, visits]));
}

/** Where execution stands: the open running attempt, or null when none is (waiting, ended, never started). */
export function positionOf(db: Reader, run: RunRow): Position | null {
  const open = openAttempt(db, run);
  if (open === undefined || open.status !== "running") return null;
  const { attemptNumber: attempt, nodeId, visit } = open;
  const position = { nodeId, step: run.steps, visit, interrupted: attempt > 1 };
  return attempt > 2 ? { ...position, attempt } : position;
}

/** The latest result of every node that has finished once; a large output by reference, so that it is read when needed. */
export function resultsOf(db: Unpacking, runNo: number): NodeResult[] {
  const rows = db.all<{ nodeId: string; outcome: NodeOutcome; output: string | null; error: string | null }>(
    "SELECT node_id AS nodeId, outcome, output, error FROM run_nodes WHERE run_no = ? AND outcome IS NOT NULL ORDER BY node_id",
    runNo,
  );
  return rows.map(({ nodeId, outcome, output, error }) => ({
    nodeId,
    outcome,
    ...(output === null ? {} : outputOf(db, output)),
    ...(error === null ? {} : { error: db.unpack(error) as unknown as ErrorRecord }),
  }));
}

function outputOf(db: Unpacking, packed: string): Pick<NodeResult, "output" | "outputRef"> {
  const outputRef = largeContent(db, packed, CONTENT.inlineBytes);
  return outputRef === null ? { output: db.unpack(packed) } : { outputRef };
}

const OUTCOME: Readonly<Record<string, NodeOutcome>> = {
  completed: "ok",
  failed: "failed",
  timed_out: "timed_out",
  cancelled: "cancelled",
};

/** Node and outcome of every step, in order; number n stands at index n. */
export function stepsOf(db: Reader, runNo: number): [string, NodeOutcome][] {
  const rows = db.all<{ nodeId: string; status: string }>(
    "SELECT node_id AS nodeId, status FROM node_attempts WHERE run_no = ? AND step IS NOT NULL ORDER BY attempt_no",
    runNo,
  );
  return rows.map(({ nodeId, status }) => [nodeId, OUTCOME[status] ?? "failed"]);
}
