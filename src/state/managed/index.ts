/**
 * Managed runs: those that a resource manager asks for by a stable key. Owns `managed_resource_workflows`. Must not: execute or
 * judge a run; it links a request to one run and says what became of it.
 */
import { PAGE } from "../../contracts/limits.ts";
import type { ReadDb } from "../reading.ts";
import { complete } from "./complete.ts";
import { ensure } from "./ensure.ts";
import { managedOf, managedRun, type ManagedRun } from "./rows.ts";

export const commands = { ensure, complete } as const;

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** What became of a request so far, or null for one that was never made. */
  get: (owner: string, requestKey: string): ManagedRun | null => managedRun(db, owner, requestKey) ?? null,
  /** All of an owner, oldest first. */
  byOwner: (owner: string): ManagedRun[] => managedOf(db, owner),
  /** Requests whose run has ended and that were not completed, at most a page. */
  due: (): { requestId: string; owner: string }[] =>
    db.all(
      `SELECT m.request_id AS requestId, m.owner FROM managed_resource_workflows m JOIN runs r USING (run_no)
       WHERE m.status = 'open' AND r.finished_at IS NOT NULL ORDER BY m.run_no LIMIT ${PAGE.rows}`,
    ),
});
