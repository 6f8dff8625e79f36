/**
 * `sessions.seen`: what a session reports to be on its tree. A message of ours that is there was delivered, whatever became of our attempts:
 * also one that was cancelled before its evidence came. Only reports of sessions that have a file count, because the rest is lost with Pi.
 */
import { PI } from "../../contracts/config.ts";
import { defineCommand } from "../command.ts";
import { partByReference } from "../effects/part-rows.ts";
import { beginPart, storeReference } from "../effects/parts.ts";
import {
  attemptOf,
  effectById,
  moveAttempt,
  moveEffect,
  recordAttempt,
  type AttemptRow,
  type EffectRow,
} from "../effects/rows.ts";
import { tell } from "../effects/tell.ts";
import type { Tx } from "../tx.ts";
import { goesOn } from "./turns.ts";

export interface Seen {
  readonly messageId: string;
  readonly entryId: string;
}

export interface SeenInput {
  readonly session: string;
  readonly seen: readonly Seen[];
  /** The turn that it is in. */
  readonly turn?: { readonly turnId: string; readonly activeMs: number } | null;
}

/** Returns how many were not known to have been delivered. */
export const seen = defineCommand("sessions.seen", (tx: Tx, input: SeenInput): { proved: number } => {
  let proved = 0;
  if (input.turn) goesOn(tx, input.session, input.turn);
  for (const { entryId, messageId } of input.seen) {
    const effect = effectById(tx, messageId);
    if (effect?.channelId !== PI || effect.place !== input.session || effect.purpose === "settlement") continue;
    // An attempt that is in the adapter's hands has its own outcome; what was refused or delivered is not changed by it.
    if (effect.status !== "pending" && effect.status !== "cancelled") continue;
    if (accept(tx, effect, `${input.session}:${entryId}`)) proved += 1;
  }
  return { proved };
});

function accept(tx: Tx, effect: EffectRow, reference: string): boolean {
  if (partByReference(tx, PI, reference) !== undefined) return false;
  if (effect.status === "cancelled") moveEffect(tx, effect, "proved");
  const number = recordAttempt(tx, effect, "evidence");
  const attempt = attemptOf(tx, effect.effectNo, number) as AttemptRow;
  moveAttempt(tx, attempt, "dispatched");
  beginPart(tx, effect, number, 1, 1);
  storeReference(
    tx,
    effect,
    {
      effectNo: effect.effectNo,
      attempt: number,
      part: 1,
      of: 1,
      channelId: PI,
      state: "dispatching",
      reference: null,
      at: tx.now,
    },
    reference,
  );
  moveAttempt(tx, attempt, "accepted");
  moveEffect(tx, effect, "applied", { error: null });
  tell(tx, effect, "outcome", number, { outcome: "accepted", status: effect.status, evidence: true });
  return true;
}
