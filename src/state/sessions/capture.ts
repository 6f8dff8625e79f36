/**
 * What a session records of its run (`sessions.capture`). It stands beside the run: no event of its chain, no status depends on it, and what is
 * too much is counted instead of stored.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { PI_CAPTURE } from "../../contracts/limits.ts";
import type { SessionCapture, SessionRecord, StoredRecord } from "../../contracts/pi/session-record.ts";
import { defineCommand } from "../command.ts";
import type { ReadDb } from "../reading.ts";
import type { Tx } from "../tx.ts";
import { runByRef } from "../runs/rows.ts";
import { bindingOf } from "./bindings.ts";

export interface CaptureInput {
  readonly session: string;
  readonly instance: string;
  readonly runId: string;
  /** Number of the first record within its instance; a repeated one changes nothing. */
  readonly first: number;
  readonly records: readonly SessionRecord[];
  /** Entries that were there before the first record of this instance, oldest first; empty with later ones. */
  readonly before?: readonly string[];
  /** Records that the session lost before these. */
  readonly dropped: number;
}

/** `full`: nothing more is kept of this run. Throws `runNotFound`, `submissionRefused` for a run of another session. */
export const capture = defineCommand("sessions.capture", (tx, input: CaptureInput): { full: boolean } => {
  const { instance, records, session } = input;
  const { runNo } = runByRef(tx, input.runId);
  if (bindingOf(tx, runNo)?.sessionId !== session)
    throw new HoldpointError(
      "submissionRefused",
      `Run ${input.runId} is not of this session; nothing is recorded of it.`,
    );
  const kept = tx.get<{ records: number; bytes: number }>(
    "SELECT coalesce(sum(records), 0) AS records, coalesce(sum(bytes), 0) AS bytes FROM session_captures WHERE run_no = ?",
    runNo,
  ) ?? { records: 0, bytes: 0 };
  tx.run(
    "INSERT INTO session_captures (run_no, instance, session_id, started_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT DO NOTHING",
    runNo,
    instance,
    session,
    tx.now,
  );
  const lost = input.dropped + unsent(tx, runNo, input.before ?? []);
  let stored = 0;
  let bytes = 0;
  let dropped = lost;
  for (const [index, { at, data, entryId, kind }] of records.entries()) {
    const text = JSON.stringify(data);
    const size = Buffer.byteLength(text);
    if (kept.records + stored >= PI_CAPTURE.runRecords || kept.bytes + bytes + size > PI_CAPTURE.runBytes) {
      dropped += records.length - index;
      break;
    }
    const { changes } = tx.run(
      "INSERT INTO session_records (run_no, instance, number, at, kind, entry_id, data) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      runNo,
      instance,
      input.first + index,
      at,
      kind,
      entryId,
      text,
    );
    stored += changes;
    if (changes > 0) bytes += size;
  }
  // A frame that was stored before is the same frame: what it lost was counted.
  if (stored > 0 || dropped > lost)
    tx.run(
      "UPDATE session_captures SET records = records + ?, bytes = bytes + ?, dropped = dropped + ?, last_at = ? WHERE run_no = ? AND instance = ?",
      stored,
      bytes,
      dropped,
      tx.now,
      runNo,
      instance,
    );
  return { full: dropped > lost };
});

/** Entries after the last that was recorded: whoever recorded was killed before it could send them. Nobody recorded before: none. */
function unsent(tx: Tx, runNo: number, before: readonly string[]): number {
  if (before.length === 0) return 0;
  const newest = tx.all<{ id: string }>(
    "SELECT entry_id AS id FROM session_records WHERE run_no = ? AND kind = 'entry' ORDER BY record_no DESC LIMIT ?",
    runNo,
    PI_CAPTURE.before,
  );
  const recorded = new Set(newest.map(({ id }) => id));
  const last = before.findLastIndex((id) => recorded.has(id));
  return last < 0 ? 0 : before.length - 1 - last;
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const captureReads = (db: ReadDb) => ({
  /** Who recorded a run, in their order. */
  captures: (runNo: number): SessionCapture[] =>
    db.all<SessionCapture>(
      `SELECT instance, session_id AS sessionId, records, bytes, dropped, started_at AS startedAt, last_at AS lastAt FROM session_captures
       WHERE run_no = ? ORDER BY started_at, instance LIMIT ${PI_CAPTURE.instances}`,
      runNo,
    ),

  /** A page of what was recorded, after `after`, of at most so many records and bytes (one at least). */
  records: (runNo: number, after: number, limit: number): { records: StoredRecord[]; more: boolean } => {
    const rows = db.all<Omit<StoredRecord, "data"> & { readonly data: string }>(
      `SELECT record_no AS no, instance, at, kind, entry_id AS entryId, data FROM session_records
       WHERE run_no = ? AND record_no > ? ORDER BY record_no LIMIT ?`,
      runNo,
      after,
      limit + 1,
    );
    const page: StoredRecord[] = [];
    let bytes = 0;
    for (const row of rows.slice(0, limit)) {
      bytes += Buffer.byteLength(row.data);
      if (page.length > 0 && bytes > PI_CAPTURE.pageBytes) break;
      page.push({ ...row, data: JSON.parse(row.data) as StoredRecord["data"] });
    }
    return { records: page, more: page.length < rows.length };
  },
});
