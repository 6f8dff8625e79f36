/** Reads of checkpoints for views. */
import { CONTENT, PAGE } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { type ReadDb, shownValue } from "../reading.ts";
import { CHECKPOINT_COLUMNS, type CheckpointRow } from "./rows.ts";

export interface CheckpointReadRow extends Omit<CheckpointRow, "content" | "answer" | "runNo" | "attemptNo"> {
  /** A large one is named with its size. */
  readonly content: JsonValue;
  readonly answer: JsonValue | null;
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** The newest checkpoints of a run, oldest of them first. */
  byRun: (runNo: number): CheckpointReadRow[] =>
    db
      .all<CheckpointRow>(
        `SELECT ${CHECKPOINT_COLUMNS} FROM interactive_requests WHERE run_no = ? ORDER BY attempt_no DESC LIMIT ${PAGE.rows}`,
        runNo,
      )
      .map(({ runNo: _run, attemptNo: _attempt, ...row }) => ({
        ...row,
        content: shownValue(db, row.content, CONTENT.viewBytes),
        answer: row.answer === null ? null : shownValue(db, row.answer, CONTENT.viewBytes),
      }))
      .reverse(),
});
