/**
 * Evidence that a message arrived: somebody tapped or answered it. It settles an attempt in doubt, also before the call that sent it has
 * come to its end.
 */
import type { Tx } from "../tx.ts";
import { hasArrived, partByReference, partsOf, type PartRow } from "./part-rows.ts";
import { storeReference } from "./parts.ts";
import { attemptOf, effectByNo, moveAttempt, moveEffect, type EffectRow } from "./rows.ts";
import { tell } from "./tell.ts";

/**
 * Whether `reference` is the message of this attempt's last part, the one with the buttons. A part in doubt, on its way, or confirmed without
 * its id becomes accepted under the reference. False when the reference is another message's, or nothing of the attempt was sent.
 */
export function prove(tx: Tx, effectNo: number, attemptNumber: number, reference: string): boolean {
  const parts = partsOf(tx, effectNo);
  const part = parts.findLast(({ attempt }) => attempt === attemptNumber);
  if (part === undefined || part.part !== part.of) return false;
  if (part.reference !== null) return part.reference === reference;
  if (part.state !== "dispatching" && part.state !== "ambiguous" && part.state !== "accepted") return false;
  const effect = effectByNo(tx, effectNo);
  if (effect === undefined || partByReference(tx, part.channelId, reference) !== undefined) return false;
  acceptOnEvidence(tx, effect, part, reference);
  return true;
}

/** Stores the reference that evidence gave, and settles attempt and effect if they were in doubt about this part. */
export function acceptOnEvidence(tx: Tx, effect: EffectRow, part: PartRow, reference: string): void {
  storeReference(tx, effect, part, reference);
  tell(tx, effect, "part", part.attempt, { part: part.part, of: part.of, reference, evidence: true });
  const attempt = attemptOf(tx, part.effectNo, part.attempt);
  // An attempt that is still in the adapter's hands is closed by its own outcome; one that a person asked for is not needed any more.
  if (attempt?.state === "ambiguous") moveAttempt(tx, attempt, "accepted");
  const open = effect.status === "ambiguous" || effect.status === "pending";
  if (!open || !hasArrived(tx, effect)) return;
  moveEffect(tx, effect, "applied", { error: null });
  tell(tx, effect, "outcome", part.attempt, { outcome: "accepted", status: effect.status, evidence: true });
}
