/** What the server shows in a session, and when it has to look after one. */
import { PI } from "../../contracts/config.ts";
import { forChat, type CardModel, type CardState } from "../../contracts/decision/card.ts";
import { PAGE, SESSION } from "../../contracts/limits.ts";
import { cardContent } from "../decisions/card.ts";
import { decisionByNo } from "../decisions/rows.ts";
import { timeLimitAt } from "../interactions/ending.ts";
import {
  openRequestOf,
  requestById,
  stepOf,
  submissionOf,
  type AgentRequestRow,
  type SessionStep,
} from "../interactions/rows.ts";
import type { ReadDb } from "../reading.ts";
import { captureReads } from "./capture.ts";
import { openTurn } from "./turns.ts";
import { unbegun } from "./unbegun.ts";

/** A step of a session with what it asks. */
export interface SessionRequestRow extends Omit<AgentRequestRow, "step"> {
  readonly step: SessionStep;
}

export interface SessionDecisionRow {
  readonly messageId: string | null;
  readonly shownAt: number | null;
  readonly audience: string;
  readonly escalatedTo: string | null;
  readonly card: CardModel;
  readonly state: CardState;
}

export interface SessionTurn {
  readonly turnId: string;
  readonly messageId: string | null;
  readonly startedAt: number;
  /** Its step is out of time, or was cancelled: what the agent still does is for nothing. */
  readonly over: boolean;
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  ...captureReads(db),

  /**
   * The run that a session shows: the one under way, or the last one, until the turn of its last message ended `SESSION.terminalMs` ago, or a
   * person cleared it. `until`: when it leaves by itself.
   */
  shownRun: (session: string, now: number): { runNo: number; until: number | null } | null => {
    const last = db.get<{ runNo: number; open: number | null; endedAt: number | null; cleared: number | null }>(
      `SELECT b.run_no AS runNo, b.open, c.cleared_run_no AS cleared,
         (SELECT t.ended_at FROM effects e JOIN workflow_turns t ON t.effect_no = e.effect_no
          WHERE e.run_no = b.run_no AND e.effect_type = 'message.terminal') AS endedAt
       FROM run_bindings b LEFT JOIN session_terminal_views c ON c.session_id = b.session_id WHERE b.session_id = ? ORDER BY b.run_no DESC LIMIT 1`,
      session,
    );
    if (last === undefined) return null;
    if (last.open === 1) return { runNo: last.runNo, until: null };
    if (last.cleared === last.runNo) return null;
    const until = last.endedAt === null ? null : last.endedAt + SESSION.terminalMs;
    return until !== null && until <= now ? null : { runNo: last.runNo, until };
  },

  /** Whether a run waits for the turn that started it to end. */
  isReserved: (runNo: number): boolean =>
    db.get("SELECT 1 FROM run_bindings WHERE run_no = ? AND reserved_turn IS NOT NULL", runNo) !== undefined,

  /** Sessions with a reserved run. */
  reserved: (): string[] =>
    db
      .all<{ id: string }>(
        `SELECT session_id AS id FROM run_bindings WHERE reserved_turn IS NOT NULL LIMIT ${PAGE.rows}`,
      )
      .map(({ id }) => id),

  /** Whether any run of a session has not ended, or something waits for one. */
  anyOpen: (): boolean =>
    db.get("SELECT 1 FROM run_bindings WHERE open = 1 LIMIT 1") !== undefined ||
    db.get("SELECT 1 FROM effects WHERE status = 'pending' AND channel_id = ? LIMIT 1", PI) !== undefined,

  request: (runNo: number): SessionRequestRow | null => {
    const row = openRequestOf(db, runNo);
    return row === undefined ? null : { ...row, step: stepOf(db, row) };
  },

  /** How a submission stands; null when there is none under this key. */
  submission: (requestId: string, key: string): { status: string; message: string | null; paused: boolean } | null => {
    const row = submissionOf(db, requestId, key);
    if (row === undefined) return null;
    const request = requestById(db, requestId) as AgentRequestRow;
    const paused = db.get("SELECT 1 FROM runs WHERE run_no = ? AND paused = 1", request.runNo) !== undefined;
    return { status: row.status, message: row.message, paused };
  },

  /** What ended without anybody telling if the session is idle now: the open turn, or the message of a step that no turn is known of; else null. */
  unfinished: (session: string): string | null =>
    openTurn(db, session)?.turnId ?? unbegun(db, session)?.messageId ?? null,

  openTurn: (session: string): SessionTurn | null => {
    const turn = openTurn(db, session);
    if (turn === undefined) return null;
    const effect =
      turn.effectNo === null
        ? undefined
        : db.get<{ id: string }>("SELECT effect_id AS id FROM effects WHERE effect_no = ?", turn.effectNo);
    return {
      turnId: turn.turnId,
      messageId: effect?.id ?? null,
      startedAt: turn.startedAt,
      over: isOver(db, turn.requestId),
    };
  },

  /** Decisions of a run, pending ones first, then those that ended last. */
  decisions: (runNo: number, session: string): SessionDecisionRow[] =>
    db
      .all<{ no: number }>(
        `SELECT decision_no AS no FROM human_decisions WHERE run_no = ? ORDER BY status <> 'pending', decision_no DESC LIMIT ${SESSION.decisionsShown}`,
        runNo,
      )
      .map(({ no }) => {
        const decision = decisionByNo(db, no);
        const shown = db.get<{ id: string; at: number | null }>(
          `SELECT e.effect_id AS id, (SELECT p.at FROM effect_parts p WHERE p.effect_no = e.effect_no AND p.reference IS NOT NULL) AS at FROM effects e
           WHERE e.decision_no = ? AND e.purpose = 'delivery' AND e.channel_id = ? AND e.place = ? ORDER BY e.effect_no DESC LIMIT 1`,
          no,
          PI,
          session,
        );
        const content = cardContent(db, decision, {
          tokens: undefined,
          of: undefined,
          repeatOf: null,
          timeZone: undefined,
        });
        if (content.kind !== "card") throw new Error("a decision has a card");
        const { audience, escalatedTo } = decision;
        return {
          messageId: shown?.id ?? null,
          shownAt: shown?.at ?? null,
          audience,
          escalatedTo,
          ...forChat(content.card, content.state),
        };
      }),

  /** Messages that wait for a session. */
  waiting: (session: string): number =>
    db.get<{ n: number }>(
      "SELECT count(*) AS n FROM effects WHERE status IN ('pending', 'applying') AND channel_id = ? AND place = ?",
      PI,
      session,
    )?.n ?? 0,

  /** The step whose time is used up first, of all sessions, and when; null when no turn with a limit is open. */
  nextTimeLimit: (): { requestId: string; at: number } | null => {
    const open = db.all<{ requestId: string }>(
      `SELECT request_id AS requestId FROM workflow_turns WHERE ended_at IS NULL AND request_id IS NOT NULL LIMIT ${PAGE.rows}`,
    );
    const due = open.flatMap(({ requestId }) => {
      const request = requestById(db, requestId);
      const at = request?.status === "pending" ? timeLimitAt(db, request) : null;
      return at === null ? [] : [{ requestId, at }];
    });
    return due.sort((a, b) => a.at - b.at)[0] ?? null;
  },
});

function isOver(db: ReadDb, requestId: string | null): boolean {
  const status = requestId === null ? undefined : requestById(db, requestId)?.status;
  return status === "timed_out" || status === "cancelled";
}
