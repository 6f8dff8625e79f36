/**
 * What becomes of attempts whose adapter is gone: only the exact attempt that was in its hands is in doubt, never what waits behind.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { PI } from "../../contracts/config.ts";
import { defineCommand } from "../command.ts";
import type { Tx } from "../tx.ts";
import { afterAdapter, again, ambiguous, closeParts, isInDoubt } from "./attempt-outcome.ts";
import { hasArrived } from "./part-rows.ts";
import { attemptOf, EFFECT_COLUMNS, moveAttempt, moveEffect, type EffectRow } from "./rows.ts";
import { tell } from "./tell.ts";

export interface Abandoned {
  readonly notSent: number;
  readonly ambiguous: number;
}

/** An adapter died or was stopped: `recorded` attempts of this epoch were provably not sent, `dispatching` ones are in doubt. */
export const adapterGone = defineCommand(
  "effects.adapterGone",
  (tx: Tx, input: { channelId: string; adapterEpoch: string }): Abandoned => abandonAttempts(tx, input),
);

/** The rule of `adapterGone` for all message attempts that fit; null = any channel, any adapter epoch. */
export function abandonAttempts(
  tx: Tx,
  which: { readonly channelId: string | null; readonly adapterEpoch: string | null },
): Abandoned {
  const effects = tx.all<EffectRow>(
    `SELECT ${EFFECT_COLUMNS} FROM effects e INDEXED BY effects_applying JOIN effect_attempts a ON a.effect_no = e.effect_no AND a.attempt_number = e.attempt_count
     WHERE e.status = 'applying' AND e.channel_id IS NOT NULL AND (?1 IS NULL OR e.channel_id = ?1) AND (?2 IS NULL OR a.owner_id = ?2) ORDER BY e.effect_no`,
    which.channelId,
    which.adapterEpoch,
  );
  const count = { notSent: 0, ambiguous: 0 };
  for (const effect of effects) {
    const found = abandon(tx, effect);
    if (found === "notSent" || found === "ambiguous") count[found] += 1;
  }
  return count;
}

function abandon(tx: Tx, effect: EffectRow): string {
  const attempt = attemptOf(tx, effect.effectNo, effect.attemptCount);
  if (attempt === undefined) throw new Error(`effect ${effect.effectId} is applying without an attempt`);
  const error = new HoldpointError(
    "adapterGone",
    `The adapter of ${effect.channelId} ended during this attempt.`,
  ).toRecord();
  // In a session a message is looked for before it is sent: repeating it does no harm, so nothing is in doubt.
  const harmless = effect.channelId === PI;
  if (!harmless && isInDoubt(tx, { effect, attempt })) {
    ambiguous(tx, { effect, attempt }, error);
  } else if (attempt.state === "dispatching" && hasArrived(tx, effect)) {
    moveAttempt(tx, attempt, "accepted");
    moveEffect(tx, effect, "applied", { error: null });
  } else {
    if (harmless) closeParts(tx, effect, attempt.attempt, "notSent");
    moveAttempt(tx, attempt, "notSent", error);
    if (harmless) again(tx, effect, { nextAttemptAt: tx.now, error: null });
    else afterAdapter(tx, effect);
  }
  tell(
    tx,
    effect,
    "outcome",
    attempt.attempt,
    { outcome: attempt.state, status: effect.status },
    { type: "server", id: "recovery" },
  );
  return attempt.state;
}
