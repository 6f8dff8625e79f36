/**
 * Sources: what came in from outside and was taken, so that nothing counts twice, and where schedules stand. Owns `source_receipts` and
 * `source_schedules`. Must not: judge a request (the server does before) or keep anything of its body.
 */
import { isHoldpointError } from "../../contracts/errors.ts";
import { defineCommand } from "../command.ts";
import { enqueue } from "../managed/enqueue.ts";
import type { ReadDb } from "../reading.ts";
import type { Tx } from "../tx.ts";

/** The resource that is worth a look. */
export interface Woken {
  readonly projectPath: string;
  readonly manager: string;
  readonly key: string;
}

export interface ReceiveInput {
  readonly source: string;
  /** The sender's id of the request; a second request with it is the same one. */
  readonly receiptId: string;
  readonly bodyDigest: string;
  readonly wakes: Woken;
}

/** `nobody`: there is no such resource; the request is taken all the same. */
export type Received = "woken" | "nobody" | "duplicate";

/** A request that was judged genuine: remembered and passed on in one command. */
const receive = defineCommand("sources.receive", (tx, input: ReceiveInput): Received => {
  const { bodyDigest, receiptId, source, wakes } = input;
  const { changes } = tx.run(
    "INSERT INTO source_receipts (source, receipt_id, body_digest, received_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    source,
    receiptId,
    bodyDigest,
    tx.now,
  );
  return changes === 0 ? "duplicate" : wakeOne(tx, wakes, "webhook");
});

export interface PlannedSchedule {
  readonly source: string;
  /** Of its rhythm: one that has changed begins anew. */
  readonly digest: string;
  readonly nextAt: number;
}

/** The schedules of the configuration; those that stand already keep what they wait for. */
const plan = defineCommand("sources.plan", (tx, input: { schedules: readonly PlannedSchedule[] }): null => {
  const names = JSON.stringify(input.schedules.map(({ source }) => source));
  tx.run("DELETE FROM source_schedules WHERE source NOT IN (SELECT value FROM json_each(?))", names);
  for (const { digest, nextAt, source } of input.schedules)
    tx.run(
      `INSERT INTO source_schedules (source, definition_digest, next_at) VALUES (?1, ?2, ?3)
       ON CONFLICT (source) DO UPDATE SET definition_digest = ?2, next_at = ?3 WHERE definition_digest <> ?2`,
      source,
      digest,
      nextAt,
    );
  return null;
});

export interface FireInput {
  readonly source: string;
  /** The occurrence: it wakes once, whoever asks how often. */
  readonly due: number;
  readonly nextAt: number;
  /** Occurrences after `due` that went by unseen. */
  readonly missed: number;
  readonly wakes: Woken;
}

const fire = defineCommand("sources.fire", (tx, input: FireInput): Received => {
  const { due, missed, nextAt, source, wakes } = input;
  const { changes } = tx.run(
    "UPDATE source_schedules SET next_at = ?, last_at = ?, missed = missed + ? WHERE source = ? AND next_at = ?",
    nextAt,
    tx.now,
    missed,
    source,
    due,
  );
  return changes === 0 ? "duplicate" : wakeOne(tx, wakes, "schedule");
});

/** Something may have changed where a source looks. */
const changed = defineCommand("sources.changed", (tx, input: { wakes: Woken; reason: string }): Received =>
  wakeOne(tx, input.wakes, input.reason),
);

/** Requests from before this time may come again; their senders gave up long ago. */
const sweep = defineCommand("sources.sweep", (tx, input: { before: number }): { deleted: number } => ({
  deleted: tx.run("DELETE FROM source_receipts WHERE received_at < ?", input.before).changes,
}));

function wakeOne(tx: Tx, wakes: Woken, reason: string): Received {
  try {
    enqueue.run(tx, { ...wakes, reason });
    return "woken";
  } catch (error) {
    // It looks for the resource before it writes anything.
    if (isHoldpointError(error) && error.kind === "resourceNotFound") return "nobody";
    throw error;
  }
}

export const commands = { receive, plan, fire, changed, sweep } as const;

export interface ScheduleRow {
  readonly source: string;
  readonly nextAt: number;
  readonly lastAt: number | null;
  readonly missed: number;
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  schedules: (): ScheduleRow[] =>
    db.all(
      "SELECT source, next_at AS nextAt, last_at AS lastAt, missed FROM source_schedules ORDER BY next_at LIMIT 256",
    ),
  receipts: (source: string): number =>
    db.get<{ n: number }>("SELECT count(*) AS n FROM source_receipts WHERE source = ?", source)?.n ?? 0,
});
