/** What follows for a resource when a person has settled one of its effects. */
import type { EffectRow } from "../effects/rows.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { put } from "./enqueue.ts";

interface Owner {
  readonly no: number;
  readonly lane: string;
}

function ownerOf(db: Reader, effect: EffectRow): Owner | undefined {
  return db.get<Owner>(
    `SELECT managed_no AS no, lane FROM managed_resources WHERE deleted_at IS NULL
     AND managed_no = (SELECT managed_no FROM effects WHERE effect_no = ?)`,
    effect.effectNo,
  );
}

/** Whether a resource is left that would go on with it. */
export function ownerLives(db: Reader, effect: EffectRow): boolean {
  return ownerOf(db, effect) !== undefined;
}

export function wakeOwner(tx: Tx, effect: EffectRow): void {
  const owner = ownerOf(tx, effect);
  if (owner !== undefined) put(tx, owner.no, owner.lane, { reason: "effectSettled", urgent: true });
}
