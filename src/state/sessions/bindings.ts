/** Which session a run belongs to. A session has at most one run that has not ended. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";

/** Where a run was started from. */
export interface Origin {
  readonly session: string;
  /** The turn of the session's agent that started it: it begins after that turn. Null = at once. */
  readonly turn: string | null;
  /** `headless`: its agent steps are done by agents of their own. */
  readonly mode: "interactive" | "headless";
}

export interface Binding {
  readonly runNo: number;
  readonly sessionId: string;
  readonly mode: "interactive" | "headless";
  readonly reservedTurn: string | null;
}

const COLUMNS = "run_no AS runNo, session_id AS sessionId, mode, reserved_turn AS reservedTurn";

export function bindingOf(db: Reader, runNo: number): Binding | undefined {
  return db.get<Binding>(`SELECT ${COLUMNS} FROM run_bindings WHERE run_no = ?`, runNo);
}

/** The run of a session that has not ended. */
export function openRunOf(db: Reader, session: string): Binding | undefined {
  return db.get<Binding>(`SELECT ${COLUMNS} FROM run_bindings WHERE session_id = ? AND open = 1`, session);
}

/** Binds a new run. Throws `sessionBusy` when the session has a run that has not ended. */
export function bind(tx: Tx, runNo: number, { mode, session, turn }: Origin): void {
  const busy = openRunOf(tx, session);
  if (busy !== undefined) {
    const run = tx.get<{ runId: string }>("SELECT run_id AS runId FROM runs WHERE run_no = ?", busy.runNo);
    throw new HoldpointError("sessionBusy", `Session ${session} has run ${run?.runId}, which has not ended.`, {
      details: { session, runId: run?.runId ?? null },
    });
  }
  tx.run(
    "INSERT INTO run_bindings (run_no, session_id, mode, reserved_turn, open, created_at) VALUES (?, ?, ?, ?, 1, ?)",
    runNo,
    session,
    mode,
    turn,
    tx.now,
  );
}

/** The run has ended; its session may have another one. */
export function unbind(tx: Tx, runNo: number): void {
  tx.run("UPDATE run_bindings SET open = NULL, reserved_turn = NULL WHERE run_no = ?", runNo);
}
