/** `timers.fire`: the time has come; the run goes on, once. */
import { next } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { runByNo, SERVER_ACTOR } from "../runs/rows.ts";
import { continueFrom } from "../runs/waiting.ts";
import { timerById } from "./rows.ts";

/** `early`: the clock says that it is not time yet. `over`: it was fired before, or its run has ended. */
export interface Fired {
  readonly kind: "fired" | "early" | "over";
}

/** Decided by the clock inside the command, whoever calls. A paused run stays parked, with its sleep behind it. */
export const fire = defineCommand("timers.fire", (tx, input: { readonly timerId: string }): Fired => {
  const row = timerById(tx, input.timerId);
  if (row?.status !== "pending") return { kind: "over" };
  if (row.wakeAt > tx.now) return { kind: "early" };
  const { nodeId, runNo, timerId, visit, wakeAt: dueAt } = row;
  tx.run(
    "UPDATE run_timers SET status = ?, settled_at = ? WHERE timer_id = ?",
    next("timer", row.status, "fired"),
    tx.now,
    timerId,
  );
  tx.event(runByNo(tx, runNo).resourceNo, {
    type: "timer.fired",
    actor: SERVER_ACTOR,
    payload: { timerId, nodeId, visit, dueAt, lateMs: tx.now - dueAt },
  });
  const output = { dueAt, wokeAt: tx.now };
  continueFrom(tx, runNo, { cause: { type: "timer", id: timerId }, output, actor: SERVER_ACTOR });
  return { kind: "fired" };
});
