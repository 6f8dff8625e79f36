/** Child processes of the server: registered durably before they may act, so that a later server can prove they are gone. */
import { defineCommand } from "../command.ts";
import type { ReadDb } from "../reading.ts";

/** `command`: a group that the probing child started for a monitor. */
export type ChildKind = "runner" | "adapter" | "resource" | "probes" | "command";

export interface RegisterChild {
  readonly childId: string;
  readonly kind: ChildKind;
  /** Run id, channel id, monitor, or manager and key. */
  readonly name: string;
  readonly pid: number;
  /** Tells this process from a later one with the same pid. */
  readonly startIdentity: string;
  readonly epoch: number;
}

const register = defineCommand("children.register", (tx, input: RegisterChild): null => {
  tx.run(
    "INSERT INTO child_processes (child_id, kind, name, server_epoch, pid, start_identity, started_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    input.childId,
    input.kind,
    input.name,
    input.epoch,
    input.pid,
    input.startIdentity,
    tx.now,
  );
  return null;
});

/** `diagnostic`: the end of its stderr, or null. A second report of the same end changes nothing. */
const ended = defineCommand(
  "children.ended",
  (tx, input: { childId: string; outcome: string; diagnostic: string | null }): null => {
    tx.run(
      "UPDATE child_processes SET ended_at = ?, outcome = ?, diagnostic = ? WHERE child_id = ? AND ended_at IS NULL",
      tx.now,
      input.outcome,
      input.diagnostic === null ? null : tx.packText(input.diagnostic),
      input.childId,
    );
    return null;
  },
);

export const commands = { register, ended };

export interface ChildRow {
  readonly childId: string;
  readonly kind: ChildKind;
  readonly name: string;
  readonly epoch: number;
  readonly pid: number;
  readonly startIdentity: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly outcome: string | null;
  readonly diagnostic: string | null;
}

const ROW = `SELECT child_id AS childId, kind, name, server_epoch AS epoch, pid, start_identity AS startIdentity, started_at AS startedAt,
  ended_at AS endedAt, outcome, diagnostic FROM child_processes`;

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => {
  const rows = (sql: string, ...params: (string | number)[]): ChildRow[] =>
    db
      .all<ChildRow>(sql, ...params)
      .map((row) => ({ ...row, diagnostic: row.diagnostic === null ? null : db.unpackText(row.diagnostic) }));
  return {
    /** Those whose end nobody has recorded, of every epoch. */
    alive: (): ChildRow[] => rows(`${ROW} WHERE ended_at IS NULL ORDER BY started_at LIMIT 256`),
    /** The last ones that did not end well, newest first. */
    crashes: (limit: number): ChildRow[] =>
      rows(
        `${ROW} WHERE ended_at IS NOT NULL AND outcome NOT IN ('exited', 'stopped', 'orphaned') ORDER BY ended_at DESC LIMIT ?`,
        Math.min(limit, 256),
      ),
    /** Every child that worked on a run or channel, newest first. */
    of: (name: string): ChildRow[] => rows(`${ROW} WHERE name = ? ORDER BY started_at DESC LIMIT 256`, name),
  };
};
