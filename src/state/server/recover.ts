/**
 * `server.recover`: what earlier servers left behind becomes claimable again. The caller has proved before that their
 * processes are gone, and has started no adapter yet. Actions stay as they are: their next reservation decides by their recovery contract.
 */
import { isFinal, next } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { abandonAttempts } from "../effects/gone.ts";
import { releaseClaims } from "../managed/claim.ts";
import { closeQueue, letGo, queueAgain } from "../runs/queueing.ts";
import { runByNo, SERVER_ACTOR } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import { checkEpoch } from "./epoch.ts";

export interface Recovered {
  readonly runnersOrphaned: number;
  readonly runsRequeued: number;
  readonly attemptsNotSent: number;
  readonly attemptsAmbiguous: number;
}

export const recover = defineCommand("server.recover", (tx, input: { epoch: number }): Recovered => {
  checkEpoch(tx, input.epoch);
  tx.run(
    "UPDATE child_processes SET ended_at = ?, outcome = 'orphaned' WHERE ended_at IS NULL AND server_epoch < ?",
    tx.now,
    input.epoch,
  );
  const runnersOrphaned = orphanRunners(tx, input.epoch);
  const runsRequeued = requeue(tx, input.epoch);
  releaseClaims(tx);
  const { notSent, ambiguous } = abandonAttempts(tx, { channelId: null, adapterEpoch: null });
  const report = { runnersOrphaned, runsRequeued, attemptsNotSent: notSent, attemptsAmbiguous: ambiguous };
  tx.event(tx.resource("server", "server"), {
    type: "server.recovered",
    actor: SERVER_ACTOR,
    payload: { epoch: input.epoch, ...report },
  });
  return report;
});

function orphanRunners(tx: Tx, epoch: number): number {
  const rows = tx.all<{ epoch: string; status: string }>(
    "SELECT runner_epoch AS epoch, status FROM run_runners WHERE status IN ('starting', 'ready') AND server_epoch < ?",
    epoch,
  );
  for (const row of rows) {
    tx.run(
      "UPDATE run_runners SET status = ?, finished_at = ? WHERE runner_epoch = ?",
      next("runner", row.status, "orphaned"),
      tx.now,
      row.epoch,
    );
  }
  return rows.length;
}

/**
 * Runs that were in hand go on, whether their runner had achieved something or not: it was the server that died. The
 * generation of their leases stays, so that the next owner is higher.
 */
function requeue(tx: Tx, epoch: number): number {
  const rows = tx.all<{ runNo: number }>(
    `SELECT run_no AS runNo FROM run_queue JOIN runs USING (run_no) LEFT JOIN leases USING (resource_no)
     WHERE run_queue.status IN ('starting', 'running') AND coalesce(server_epoch, 0) < ? ORDER BY run_no`,
    epoch,
  );
  for (const { runNo } of rows) {
    const run = runByNo(tx, runNo);
    letGo(tx, run, "orphaned");
    if (isFinal("run", run.status)) {
      closeQueue(tx, runNo);
      continue;
    }
    queueAgain(tx, runNo, { priority: run.steps === 0 && run.status === "queued" ? 0 : 1 });
    tx.event(run.resourceNo, {
      type: "run.requeued",
      actor: SERVER_ACTOR,
      payload: { cause: "serverRestarted", epoch },
    });
  }
  tx.run(
    `UPDATE leases SET server_epoch = NULL, owner_id = NULL, token_hash = NULL, acquired_at = NULL, heartbeat_at = NULL, expires_at = NULL
     WHERE owner_id IS NOT NULL AND server_epoch < ?`,
    epoch,
  );
  return rows.length;
}
