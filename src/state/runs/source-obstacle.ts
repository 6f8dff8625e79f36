/**
 * A waiting run whose approved files are not there any more: it is said before anybody answers, as long as it is so. The run stays
 * parked for what it waits for; the cause stands beside it in its queue row.
 */
import type { SourceFile } from "../../contracts/definition.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import { PAGE } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import { announceSources } from "../decisions/settle.ts";
import { unpackOrNull } from "../reading.ts";
import type { Reader } from "../statements.ts";
import { placeOf, sourcesOf } from "./claim.ts";
import { WAITING } from "./obstructed.ts";
import { packError, runByNo, SERVER_ACTOR } from "./rows.ts";

/** A run that waits for an answer, with what it will be continued from. */
export interface WaitingSources {
  readonly runNo: number;
  readonly runId: string;
  readonly workflowPath: string;
  readonly projectPath: string;
  readonly definitionDigest: string;
  readonly sources: SourceFile[];
  /** What is known to stand in its way. */
  readonly obstacle: ErrorRecord | null;
}

/** Waiting runs after `after`, in order of their number, at most a page. */
export function waitingSources(db: Reader & { unpack(text: string): JsonValue }, after: number): WaitingSources[] {
  const rows = db.all<{ runNo: number; runId: string; definitionDigest: string; error: string | null }>(
    `SELECT r.run_no AS runNo, r.run_id AS runId, r.definition_digest AS definitionDigest, q.error
     FROM runs r JOIN run_queue q USING (run_no) WHERE ${WAITING} AND r.definition_digest IS NOT NULL AND r.run_no > ?
     ORDER BY r.run_no LIMIT ${PAGE.rows}`,
    after,
  );
  return rows.map(({ error, ...row }) => ({
    ...row,
    ...placeOf(db, row.runNo),
    sources: sourcesOf(db, row.runNo),
    obstacle: unpackOrNull(db, error) as unknown as ErrorRecord | null,
  }));
}

/**
 * Notes that a waiting run cannot be continued, or that it can be again (`error` null), and has its cards say so. Does nothing for a
 * run that does not wait any more, or of which the same is known. Returns whether anything changed.
 */
export const noteSources = defineCommand(
  "runs.noteSources",
  (tx, input: { readonly runNo: number; readonly error: ErrorRecord | null }): { changed: boolean } => {
    const { error, runNo } = input;
    const known = tx.get<{ error: string | null }>(
      `SELECT q.error FROM runs r JOIN run_queue q USING (run_no) WHERE ${WAITING} AND r.run_no = ?`,
      runNo,
    );
    if (known === undefined || (known.error === null) === (error === null)) return { changed: false };
    tx.run("UPDATE run_queue SET error = ? WHERE run_no = ?", packError(tx, error), runNo);
    const run = runByNo(tx, runNo);
    tx.event(run.resourceNo, {
      type: error === null ? "run.sourcesBack" : "run.sourcesGone",
      actor: SERVER_ACTOR,
      payload: { error },
    });
    announceSources(tx, runNo);
    return { changed: true };
  },
);
