/**
 * The queue of resources: one row for each. Asking again changes that row, so a thousand events are one pass. An event is a hint: it
 * carries no command, and the pass looks at everything anew.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { PAGE } from "../../contracts/limits.ts";
import { defineCommand } from "../command.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import type { ResourceRef } from "./resource-rows.ts";

export interface EnqueueInput extends ResourceRef {
  /** Why, in a word: `schedule`, `webhook`, `file`, `child`, `asked` … */
  readonly reason: string;
  /** Not before then; left out = now. An earlier time that stands already is kept. */
  readonly at?: number | undefined;
  /** Somebody wants it now, also when it failed last time and waits for its next try. */
  readonly urgent?: boolean | undefined;
}

export interface Enqueued {
  /** When its next pass is due. */
  readonly availableAt: number;
}

/** Throws `resourceNotFound`. */
export const enqueue = defineCommand("managed.enqueue", (tx: Tx, input: EnqueueInput): Enqueued => {
  const { key, manager, projectPath, ...how } = input;
  const row = tx.get<{ no: number; lane: string }>(
    `SELECT managed_no AS no, lane FROM managed_resources WHERE project_no = (SELECT project_no FROM projects WHERE canonical_path = ?)
       AND manager = ? AND resource_key = ? AND deleted_at IS NULL`,
    projectPath,
    manager,
    key,
  );
  if (row === undefined)
    throw new HoldpointError(
      "resourceNotFound",
      `No resource "${key}" of manager "${manager}" exists in ${projectPath}.`,
    );
  return { availableAt: put(tx, row.no, row.lane, how) };
});

/** Queues a resource; returns when its next pass is due. */
export function put(
  tx: Tx,
  managedNo: number,
  lane: string,
  { at = tx.now, reason, urgent = false }: Pick<EnqueueInput, "at" | "reason" | "urgent">,
): number {
  // A row that failed keeps its pause, unless somebody is in a hurry: events come in storms.
  return (
    tx.get<{ at: number }>(
      `INSERT INTO managed_resource_queue (managed_no, lane, available_at, reason) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (managed_no) DO UPDATE SET
         available_at = CASE WHEN ?5 OR failures = 0 THEN min(available_at, excluded.available_at) ELSE available_at END,
         failures = CASE WHEN ?5 THEN 0 ELSE failures END,
         reason = CASE WHEN ?5 OR (failures = 0 AND excluded.available_at <= available_at) THEN excluded.reason ELSE reason END,
         again = again OR claimed_until IS NOT NULL
       RETURNING available_at AS at`,
      managedNo,
      lane,
      at,
      reason,
      urgent ? 1 : 0,
    ) as { at: number }
  ).at;
}

/**
 * Makes the queue again from the resources: whatever has no row gets one, and its pass works out what to wait for. Works through a
 * page of them; `next` is where to go on, null at the end.
 */
export const rebuild = defineCommand(
  "managed.rebuild",
  (tx: Tx, { after }: { readonly after: number | null }): { readonly queued: number; readonly next: number | null } => {
    const rows = tx.all<{ no: number; lane: string }>(
      `SELECT managed_no AS no, lane FROM managed_resources WHERE managed_no > ? AND deleted_at IS NULL ORDER BY managed_no LIMIT ${PAGE.rows}`,
      after ?? 0,
    );
    let queued = 0;
    for (const { lane, no } of rows) {
      queued += tx.run(
        "INSERT INTO managed_resource_queue (managed_no, lane, available_at, reason) VALUES (?, ?, ?, 'rebuilt') ON CONFLICT DO NOTHING",
        no,
        lane,
        tx.now,
      ).changes;
    }
    return { queued, next: rows.length < PAGE.rows ? null : (rows.at(-1) as { no: number }).no };
  },
);

/** Whether a pass of it goes on. */
export function isClaimed(db: Reader, managedNo: number): boolean {
  return (
    db.get("SELECT 1 FROM managed_resource_queue WHERE managed_no = ? AND claimed_until IS NOT NULL", managedNo) !==
    undefined
  );
}
