/** `runs.cancel`: one command ends the run, its attempt, its question, its effects and its claim. */
import { next } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { cancelDecisionOf } from "../decisions/cancel.ts";
import type { Actor, Tx } from "../tx.ts";
import {
  controlFacts,
  controlRun,
  refuseFinal,
  type Controlled,
  type ControlledBy,
  type RunControl,
} from "./control.ts";
import { endRun } from "./ending.ts";
import { Progress } from "./progress.ts";
import { openAttempt, type RunRow } from "./rows.ts";

/** Throws `runState` for a run that has ended already. */
export const cancel = defineCommand("runs.cancel", (tx, input: RunControl): Controlled =>
  controlRun(tx, input, (run) => cancelRun(tx, run, input)),
);

/** Returns the epoch of the runner that must be stopped, or null. Throws `runState`. */
export function cancelRun(tx: Tx, run: RunRow, by: ControlledBy): string | null {
  const { actor } = by;
  refuseFinal(run, "cancelled");
  cancelDecisionOf(tx, run.runNo, by);
  cancelActions(tx, run, actor);
  const open = openAttempt(tx, run);
  if (open !== undefined) {
    const progress = new Progress(tx, run, open, null);
    progress.finish({ outcome: "cancelled" });
    progress.save();
  }
  const payload = { ...controlFacts(by), nodeId: open?.nodeId ?? null };
  tx.event(run.resourceNo, { type: "run.cancelled", actor, payload });
  return endRun(tx, run, { status: "cancelled", actor, runner: "cancelled" });
}

/** Actions that were not begun are cancelled; of those that were, nobody knows, and a person settles them. */
function cancelActions(tx: Tx, run: RunRow, actor: Actor): void {
  const rows = tx.all<{ no: number; id: string; status: string }>(
    "SELECT effect_no AS no, effect_id AS id, status FROM effects WHERE run_no = ? AND purpose = 'action' AND status IN ('pending', 'applying') ORDER BY effect_no",
    run.runNo,
  );
  for (const { no, id, status } of rows) {
    const to = next("effect", status, status === "pending" ? "cancelled" : "uncertain");
    tx.run(
      "UPDATE effects SET status = ?, settled_at = ? WHERE effect_no = ?",
      to,
      to === "cancelled" ? tx.now : null,
      no,
    );
    for (const attempt of tx.all<{ number: number; state: string }>(
      "SELECT attempt_number AS number, state FROM effect_attempts WHERE effect_no = ? AND state IN ('recorded', 'dispatching')",
      no,
    )) {
      tx.run(
        "UPDATE effect_attempts SET state = ?, finished_at = ? WHERE effect_no = ? AND attempt_number = ?",
        next("effectAttempt", attempt.state, attempt.state === "recorded" ? "notSent" : "uncertain"),
        tx.now,
        no,
        attempt.number,
      );
    }
    tx.event(run.resourceNo, {
      type: to === "cancelled" ? "effect.cancelled" : "effect.ambiguous",
      actor,
      payload: { effectId: id },
    });
  }
}
