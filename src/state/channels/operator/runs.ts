/** Runs in the operator chat: lists, one run, and the run that somebody means. */
import { isHoldpointError } from "../../../contracts/errors.ts";
import { displayStatus, type RunStatus } from "../../../contracts/run-status.ts";
import type { OperatorReply } from "../../../contracts/decision/operator-codes.ts";
import { OPERATOR, PAGE } from "../../../contracts/limits.ts";
import { DECISION_COLUMNS, type DecisionRow } from "../../decisions/rows.ts";
import { endedRuns, listedRun, openRuns, type RunListRow } from "../../runs/reads.ts";
import { runNoOf } from "../../runs/rows.ts";
import type { Tx } from "../../tx.ts";
import type { OperatorAnswer } from "./answer.ts";
import { mayName, type Asker } from "./asker.ts";
import { moreAfter } from "./paging.ts";

export type RunLine = Extract<OperatorReply, { code: "runControlled" }>["run"];

export function lineOf(row: RunListRow): RunLine {
  const { shortId, title, workflow } = row;
  return { run: shortId, workflow, ...(title === null ? {} : { title }), status: displayStatus(row) };
}

export function openCount(tx: Tx): number {
  return tx.get<{ n: number }>("SELECT count(*) AS n FROM runs WHERE finished_at IS NULL")?.n ?? 0;
}

/** Unfinished runs by their status; of more than a page, the newest. */
export function openByStatus(tx: Tx): { status: RunStatus; count: number }[] {
  const counts = new Map<RunStatus, number>();
  for (const row of openRuns(tx, { limit: PAGE.rows, from: 0 })) {
    const status = displayStatus(row);
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts].map(([status, count]) => ({ status, count }));
}

/** Unfinished runs that go on only when somebody does something about them. */
export function stuckRuns(tx: Tx): RunLine[] {
  return openRuns(tx, { limit: PAGE.rows, from: 0 })
    .map(lineOf)
    .filter(({ status }) => status === "parked" || status === "ambiguous");
}

export function listRuns({ tx }: Asker, from: number): OperatorAnswer {
  const open = openRuns(tx, { limit: OPERATOR.pageItems, from });
  const total = openCount(tx);
  const room = Math.min(OPERATOR.endedRuns, OPERATOR.pageItems - open.length);
  const ended = from + open.length < total ? [] : endedRuns(tx, room);
  const items = [...open, ...ended].map(lineOf);
  return { reply: { code: "runList", items, from, total }, ...moreAfter("runs", from + open.length, total) };
}

export function describeRun(asker: Asker, runNo: number): OperatorAnswer {
  const { tx } = asker;
  const row = listedRun(tx, runNo);
  const decision = tx.get<DecisionRow>(
    `SELECT ${DECISION_COLUMNS} FROM human_decisions d WHERE d.run_no = ? AND d.status = 'pending'`,
    runNo,
  );
  const named = decision !== undefined && mayName(asker, decision) ? decision.title : undefined;
  const error = messageOf(row.error) ?? messageOf(row.queueError);
  return {
    reply: {
      code: "runDetail",
      run: lineOf(row),
      ...(row.currentNode === null ? {} : { node: row.currentNode }),
      steps: row.steps,
      createdAt: row.createdAt,
      ...(row.finishedAt === null ? {} : { finishedAt: row.finishedAt }),
      ...(named === undefined ? {} : { decision: named }),
      ...(error === undefined ? {} : { error }),
    },
  };
}

function messageOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : undefined;
}

type Verb = Extract<OperatorReply, { code: "runWanted" }>["verb"];

/**
 * The run that a command names by short id, prefix or full id; without a name, the only one it can mean. Otherwise what to answer.
 */
export function meantRun(tx: Tx, verb: Verb, given: string): number | OperatorReply {
  if (given !== "") return named(tx, given);
  const open = openRuns(tx, { limit: PAGE.rows, from: 0 });
  const fits = open.filter((row) => (verb === "resume" ? canResume(row) : verb === "pause" ? !row.paused : true));
  const [only] = fits;
  if (only !== undefined && fits.length === 1) return only.runNo;
  return { code: "runWanted", verb, runs: fits.slice(0, OPERATOR.candidates).map(lineOf) };
}

function canResume(row: RunListRow): boolean {
  return row.paused || displayStatus(row) === "parked";
}

function named(tx: Tx, given: string): number | OperatorReply {
  try {
    return runNoOf(tx, given);
  } catch (error) {
    if (!isHoldpointError(error)) throw error;
    if (error.kind === "runNotFound") return { code: "runUnknown", given };
    if (error.kind !== "ambiguousId") throw error;
    const candidates = error.details?.["candidates"];
    const runs = Array.isArray(candidates) ? candidates.map(String).slice(0, OPERATOR.candidates) : [];
    return { code: "runSeveral", given, runs };
  }
}
