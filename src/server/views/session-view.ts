/** What a Pi session is shown: its run, the step that waits for its agent, its decisions. Computed from domain rows. */
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { FOLLOW_UP, SESSION } from "../../contracts/limits.ts";
import { PI } from "../../contracts/config.ts";
import type { SessionDecision, SessionRequest, SessionView } from "../../contracts/pi/session-view.ts";
import type { SessionDecisionRow, Store } from "../../state/store.ts";
import type { Access } from "../context.ts";
import { PROGRESS_KEYS, progressViews } from "./progress-view.ts";
import { runSummary } from "./run-view.ts";

/** Of a follow-up's text. */
const PROMPT_UNITS = 400;

/** A view without its number and time, and when it changes by itself. */
export interface ShownSession {
  readonly view: Omit<SessionView, "number" | "at">;
  readonly until: number | null;
}

export function sessionView(
  store: Store,
  session: string,
  { access, now }: { readonly access: Access; readonly now: number },
): ShownSession {
  const { read } = store;
  const shown = read.sessions.shownRun(session, now);
  return {
    view: {
      schema: "holdpoint.session-view.v1",
      sessionId: session,
      run: shown === null ? null : runOf(store, shown.runNo, now),
      request: shown === null ? null : requestOf(store, shown.runNo),
      decisions:
        shown === null
          ? []
          : read.sessions.decisions(shown.runNo, session).map((decision) => decisionOf(decision, access)),
      openTurn: read.sessions.openTurn(session),
      waiting: read.sessions.waiting(session),
    },
    until: shown?.until ?? null,
  };
}

function runOf(store: Store, runNo: number, now: number): SessionView["run"] {
  const { read } = store;
  const row = read.runs.byNo(runNo);
  const nodes = read.runs.nodeWindow(runNo, SESSION.nodesShown);
  return {
    summary: runSummary(row, now),
    paused: row.paused,
    reserved: read.sessions.isReserved(runNo),
    // Estimates change with every moment; the extension counts on by itself.
    progress: progressViews(store, runNo, row.updatedAt, PROGRESS_KEYS),
    nextCheckAt: read.updates.nextCheckAt(runNo),
    followUps: read.followUps
      .byRun(runNo)
      .slice(-FOLLOW_UP.perRun)
      .map((followUp) => ({ ...followUp, prompt: cutToUnits(followUp.prompt, PROMPT_UNITS) })),
    nodes: nodes.nodes,
    firstNode: nodes.first,
    nodesTotal: nodes.total,
  };
}

function requestOf(store: Store, runNo: number): SessionRequest | null {
  const row = store.read.sessions.request(runNo);
  if (row === null) return null;
  const { allowedTools, contract, statusDetail, timeoutMs } = row.step;
  const run = store.read.runs.byNo(runNo);
  return {
    requestId: row.requestId,
    runId: run.runId,
    nodeId: row.nodeId,
    contract,
    allowedTools: allowedTools === null ? null : [...allowedTools],
    statusDetail,
    status: row.status === "validating" ? "validating" : "pending",
    paused: run.paused,
    reminders: row.unproductive,
    timeoutMs,
    activeMs: row.activeMs,
  };
}

function decisionOf(row: SessionDecisionRow, access: Access): SessionDecision {
  const { audience, card, escalatedTo, messageId, shownAt, state } = row;
  const pending = state.status.kind === "pending";
  const refusedBecause = pending ? refusal(access, [audience, escalatedTo]) : null;
  return {
    messageId,
    decisionId: card.requestId,
    fingerprint: card.fingerprint,
    requestDigest: card.requestDigest,
    answerable: pending && refusedBecause === null,
    refusedBecause,
    shownAt,
    card,
    state,
  };
}

/** Only what holds for everybody here; who the person is, is judged with the answer. */
function refusal({ audiences }: Access, names: readonly (string | null)[]): string | null {
  const asked = names.flatMap((name) =>
    name !== null && Object.hasOwn(audiences, name) ? [audiences[name] as Access["audiences"][string]] : [],
  );
  if (asked.some(({ assurance, destinations }) => assurance !== "remote" && destinations.includes(PI))) return null;
  return asked.some(({ assurance }) => assurance === "remote")
    ? "Its audience takes answers from another device only."
    : 'Its audience does not name "pi" among its destinations.';
}
