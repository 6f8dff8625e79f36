/**
 * `updates.publish`: what a running node says about itself. Admitted by the run's token bucket, fenced by the live attempt,
 * numbered without gaps. Updates inform only, so they change neither the run's revision nor its event chain.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { resourceId } from "../../contracts/ids.ts";
import { parseUpdate, type UpdateEnvelope, type UpdateReceipt } from "../../contracts/update.ts";
import { admitUpdate, fullBucket } from "../../workflow/rules/index.ts";
import { defineCommand } from "../command.ts";
import { claimedRun, openAttempt, type RunRow } from "../runs/rows.ts";
import type { Claim, Tx } from "../tx.ts";

export interface PublishInput {
  readonly claim: Claim;
  readonly step: number;
  readonly nodeId: string;
  readonly visit: number;
  readonly envelope: UpdateEnvelope;
  /** Makes a repeated update the same one, such as the id of a tool call. */
  readonly sourceId?: string | undefined;
}

interface Budget {
  updates: number;
  slots: number;
  tokens: number;
  refilledAt: number;
}

/** Throws `claimLost`, and `updateRefused` for an attempt that is over, a wrong form, or when it comes too often. */
export const publish = defineCommand("updates.publish", (tx, input: PublishInput): UpdateReceipt => {
  const run = claimedRun(tx, input.claim);
  const before = input.sourceId === undefined ? undefined : known(tx, run, input.sourceId);
  if (before !== undefined) return before;
  const open = openAttempt(tx, run);
  if (
    open?.status !== "running" ||
    open.nodeId !== input.nodeId ||
    open.visit !== input.visit ||
    run.steps !== input.step
  ) {
    throw new HoldpointError(
      "updateRefused",
      `Node "${input.nodeId}", visit ${input.visit} (step ${input.step}) of run ${run.runId} is over; its updates come too late.`,
    );
  }
  return store(tx, run, open.attemptNo, input.envelope, input.sourceId ?? null);
});

/** Stores an update of an attempt that is known to be the live one. Throws `updateRefused`. */
export function store(
  tx: Tx,
  run: RunRow,
  attemptNo: number,
  given: UpdateEnvelope,
  sourceId: string | null,
): UpdateReceipt {
  const envelope = parseUpdate(given);
  const { key, type } = envelope;
  const budget = budgetOf(tx, run.runNo);
  const isCurrent =
    tx.get(
      "SELECT 1 FROM workflow_updates_current WHERE run_no = ? AND update_type = ? AND update_key = ?",
      run.runNo,
      type,
      key,
    ) !== undefined;
  const bucket = admitUpdate({ tokens: budget.tokens, at: budget.refilledAt }, tx.now, {
    items: budget.slots,
    isCurrent,
  });
  const seq = budget.updates;
  const updateId = resourceId("update", `${run.runId}\0${seq}`);
  tx.run(
    `INSERT INTO workflow_updates (run_no, update_seq, update_id, source_id, attempt_no, run_revision, update_type, update_key, data, recorded_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    run.runNo,
    seq,
    updateId,
    sourceId,
    attemptNo,
    tx.revision(run.resourceNo),
    type,
    key,
    tx.pack(envelope.data),
    tx.now,
  );
  tx.run(
    `INSERT INTO workflow_updates_current (run_no, update_type, update_key, update_seq) VALUES (?, ?, ?, ?)
     ON CONFLICT (run_no, update_type, update_key) DO UPDATE SET update_seq = excluded.update_seq`,
    run.runNo,
    type,
    key,
    seq,
  );
  tx.run(
    `INSERT INTO workflow_update_budgets (run_no, updates, slots, tokens, refilled_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (run_no) DO UPDATE SET updates = excluded.updates, slots = excluded.slots, tokens = excluded.tokens, refilled_at = excluded.refilled_at`,
    run.runNo,
    seq + 1,
    budget.slots + (isCurrent ? 0 : 1),
    bucket.tokens,
    bucket.at,
  );
  return { updateId, seq, at: tx.now, type, key };
}

function budgetOf(tx: Tx, runNo: number): Budget {
  const row = tx.get<Budget>(
    "SELECT updates, slots, tokens, refilled_at AS refilledAt FROM workflow_update_budgets WHERE run_no = ?",
    runNo,
  );
  if (row !== undefined) return row;
  const { at, tokens } = fullBucket(tx.now);
  return { updates: 0, slots: 0, tokens, refilledAt: at };
}

/** The receipt of an update that was stored under this id before. */
export function known(tx: Tx, run: RunRow, sourceId: string): UpdateReceipt | undefined {
  return tx.get<UpdateReceipt>(
    `SELECT update_id AS updateId, update_seq AS seq, recorded_at AS at, update_type AS type, update_key AS "key" FROM workflow_updates
     WHERE run_no = ? AND source_id = ?`,
    run.runNo,
    sourceId,
  );
}
