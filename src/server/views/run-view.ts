/** Run views, computed from domain rows. */
import { ERRORS, type ErrorRecord } from "../../contracts/errors.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { FOLLOW_UP, PAGE } from "../../contracts/limits.ts";
import type { CheckpointSummary, DecisionSummary, RunSummary, RunView } from "../../contracts/protocol/operations.ts";
import { errorRecordSchema, type JsonValue } from "../../contracts/protocol/shared.ts";
import { displayStatus } from "../../contracts/run-status.ts";
import { isTerminalAsked } from "../../state/decisions/access.ts";
import type { DecisionListRow, RunListRow, Store } from "../../state/store.ts";
import type { Access } from "../context.ts";
import { PROGRESS_KEYS, progressViews } from "./progress-view.ts";

/** Outputs in one view together; larger ones are named with their size. */
const OUTPUTS_BYTES = 64 * 1024;

/** Checkpoints that one view shows. */
const CHECKPOINTS = 32;
/** Of a follow-up's text. */
const PROMPT_UNITS = 400;

/** A page of runs, newest first. `before` is the page's cursor: the number of rows already seen from the newest. */
export function runSummaries(
  store: Store,
  limit: number,
  before: number | null,
  now: number,
): { runs: RunSummary[]; more: boolean } {
  const rows = store.read.runs.list({ limit: Math.min(limit + 1, PAGE.rows), before });
  const page = rows.slice(0, limit);
  return { runs: page.map((row) => runSummary(row, now)), more: rows.length > page.length };
}

/** Everything `show` tells about one run. Throws `runNotFound` or `ambiguousId`. */
export function runView(store: Store, ref: string, now: number, access: Access): RunView {
  const row = store.read.runs.get(ref);
  const rows = store.read.decisions.byRun(row.runNo);
  const decisions = decisionSummaries(rows, access);
  const { events, cut } = store.read.runs.events(
    [row.resourceNo, ...rows.map((decision) => decision.resourceNo)],
    PAGE.rows,
  );
  return {
    schema: "holdpoint.run-view.v1",
    run: runSummary(row, now),
    workflowPath: row.workflowPath,
    definitionDigest: row.definitionDigest,
    continuations: row.continuations,
    input: row.input,
    finalOutput: row.finalOutput,
    error: errorOf(row.error),
    outputs: outputsOf(store, row.runNo),
    timeline: events
      // A question is told in the run's chain; the decision's own chain repeats it only for its proof.
      .filter((event) => !(event.type === "decision.requested" && event.resourceNo !== row.resourceNo))
      .map(({ at, index, type, actorType, actorId, payload }) => ({
        at,
        index,
        type,
        actor: `${actorType}:${actorId}`,
        detail: payload,
      })),
    timelineCut: cut,
    decisions,
    effects: store.read.effects.byRun(row.runNo),
    checkpoints: checkpointSummaries(store, row.runNo),
    progress: progressViews(store, row.runNo, now, PROGRESS_KEYS),
    updates: updateCounts(store, row.runNo),
    followUps: store.read.followUps
      .byRun(row.runNo)
      .slice(-FOLLOW_UP.perRun)
      .map((followUp) => ({ ...followUp, prompt: cutToUnits(followUp.prompt, PROMPT_UNITS) })),
    lineage: { restartOf: row.restartOf, restartNumber: row.restartNumber, restartedAs: row.restartedAs },
    processes: store.read.runs
      .runners(row.runNo)
      .filter((runner) => runner.pid !== null)
      .map((runner) => ({
        kind: "runner",
        pid: runner.pid as number,
        startedAt: runner.startedAt,
        endedAt: runner.finishedAt,
        outcome: runner.outcome ?? runner.status,
      })),
    nextStep: nextStep(row, rows, decisions),
  };
}

/** Decisions without the numbers that only views use, and with the command for who sits at the server. */
export function decisionSummaries(rows: readonly DecisionListRow[], access: Access): DecisionSummary[] {
  return rows.map(({ runNo: _run, resourceNo: _resource, sendAgain: _again, ...decision }) => ({
    ...decision,
    decideWith: decideWith(decision, access),
  }));
}

function decideWith(decision: Omit<DecisionSummary, "decideWith">, access: Access): string | null {
  const { audience, choices, fingerprint, policy, status } = decision;
  const { assurance, channels, escalation } = policy;
  const escalatedTo = escalation !== null && escalation.at !== null ? escalation.to : null;
  if (status !== "pending" || !isTerminalAsked(access, { audience, channels, assurance }, escalatedTo)) return null;
  return `holdpoint decide ${fingerprint} ${choices.map(({ id }) => id).join("|")}`;
}

const TERMINAL = new Set<string>(["completed", "failed", "timed_out", "cancelled"]);

/** One run as lists show it. */
export function runSummary(row: RunListRow, now: number): RunSummary {
  return {
    runId: row.runId,
    shortId: row.shortId,
    workflow: row.workflow,
    title: row.title,
    status: displayStatus(row),
    reason: reasonOf(row, now),
    revision: row.revision,
    currentNode: row.currentNode,
    steps: row.steps,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    finishedAt: row.finishedAt,
    wakeAt: row.wakeAt,
  };
}

function reasonOf(row: RunListRow, now: number): string | null {
  if (TERMINAL.has(row.status)) return errorOf(row.error)?.message ?? null;
  if (row.ambiguousEffects > 0) return "nobody knows whether an action took effect";
  const obstacle = row.queueStatus === "parked" ? errorOf(row.queueError) : null;
  const but = obstacle === null ? "" : `; an answer is kept, but the run will wait then: ${obstacle.message}`;
  if (row.pendingDecision !== null) return `waits for decision ${row.pendingDecision}${but}`;
  if (row.pendingCheckpoint !== null) {
    const what = row.checkpointSummary === null ? "" : `: ${row.checkpointSummary}`;
    return `waits for the answer to checkpoint ${row.pendingCheckpoint}${what}${but}`;
  }
  if (row.pendingSession !== null) return row.inTurn ? null : `waits for the agent of Pi session ${row.pendingSession}`;
  if (row.queueStatus === "parked" && row.parkReason === "turn")
    return "begins when the turn that started it has ended";
  if (row.wakeAt !== null) {
    const stuck = obstacle === null ? "" : `; when it wakes, it cannot go on: ${obstacle.message}`;
    return `sleeps${row.sleepReason === null ? "" : `: ${row.sleepReason}`}${stuck}`;
  }
  if (row.queueStatus === "parked" && row.parkReason !== "paused")
    return errorOf(row.queueError)?.message ?? row.parkReason;
  if (row.queueStatus === "queued")
    return row.availableAt > now
      ? `starts again in ${Math.ceil((row.availableAt - now) / 1_000)} s`
      : "waits for a slot";
  return null;
}

/** The command that lets a stuck run go on; null when it can advance by itself or has ended. */
function nextStep(
  row: RunListRow,
  rows: readonly DecisionListRow[],
  decisions: readonly DecisionSummary[],
): string | null {
  if (TERMINAL.has(row.status)) return null;
  if (row.ambiguousEffects > 0)
    return "holdpoint effect list, then holdpoint effect settle <id> applied|notApplied|retry";
  if (row.paused) return `holdpoint resume ${row.shortId}`;
  const error = errorOf(row.queueError);
  const waits = row.pendingDecision !== null || row.pendingCheckpoint !== null || row.wakeAt !== null;
  if (waits && error !== null) return error.remedy.replaceAll("<run>", row.shortId);
  if (row.pendingDecision !== null)
    return rows.flatMap(({ sendAgain }) => sendAgain)[0] ?? decisions.find(isAskedHereOnly)?.decideWith ?? null;
  if (row.pendingCheckpoint !== null) return `holdpoint answer ${row.pendingCheckpoint} <json|text>`;
  if (row.pendingSession !== null) return `pi --session-id ${row.pendingSession}`;
  if (row.wakeAt !== null || row.queueStatus !== "parked" || row.parkReason === "turn") return null;
  const kind = error?.kind;
  const remedy = kind !== undefined && Object.hasOwn(ERRORS, kind) ? ERRORS[kind as keyof typeof ERRORS].remedy : null;
  return remedy?.replaceAll("<run>", row.shortId) ?? `holdpoint resume ${row.shortId}`;
}

/** No chat and no session shows it. */
function isAskedHereOnly({ decideWith, destinations }: DecisionSummary): boolean {
  return decideWith !== null && destinations.length === 0;
}

/** The newest checkpoints, as far as their contents together fit a view. */
function checkpointSummaries(store: Store, runNo: number): CheckpointSummary[] {
  const rows = store.read.checkpoints.byRun(runNo).slice(-CHECKPOINTS);
  let room = OUTPUTS_BYTES;
  return rows
    .reverse()
    .map((row) => {
      const size = JSON.stringify([row.content, row.answer]).length;
      room -= size;
      return room >= 0 ? row : { ...row, content: `(${size} characters, too large for this view)`, answer: null };
    })
    .reverse();
}

function updateCounts(store: Store, runNo: number): RunView["updates"] {
  const { current, updates } = store.read.updates.counts(runNo);
  return { published: updates, current };
}

function outputsOf(store: Store, runNo: number): Record<string, JsonValue> {
  const outputs: Record<string, JsonValue> = {};
  let bytes = 0;
  for (const node of store.read.runs.nodes(runNo)) {
    if (node.output === undefined) continue;
    const size = JSON.stringify(node.output).length;
    bytes += size;
    outputs[node.nodeId] = bytes > OUTPUTS_BYTES ? `(${size} characters, too large for this view)` : node.output;
  }
  return outputs;
}

function errorOf(value: JsonValue | null): ErrorRecord | null {
  if (value === null) return null;
  const parsed = errorRecordSchema.safeParse(value);
  // An error text of an unknown shape must never break a list.
  return parsed.success
    ? parsed.data
    : {
        code: "HP999",
        kind: "internal",
        message: typeof value === "string" ? value : JSON.stringify(value),
        remedy: "",
      };
}
