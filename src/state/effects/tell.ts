/**
 * What the event chain tells about a message. A card's delivery is told step by step, because people ask where it is; of edits and
 * replies only the end of each attempt is told: their attempts are rows anyway.
 */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { Actor, Tx } from "../tx.ts";
import type { EffectRow } from "./rows.ts";

export type Step = "recorded" | "dispatching" | "part" | "outcome";

/** Appends `delivery.<step>`, or `settlement.outcome` / `reply.outcome`, to the chain of the effect's resource. */
export function tell(
  tx: Tx,
  effect: EffectRow,
  step: Step,
  attempt: number,
  facts: { readonly [key: string]: unknown; readonly error?: ErrorRecord | null },
  actor?: Actor,
): void {
  if (effect.purpose === "action" || (effect.purpose !== "delivery" && step !== "outcome")) return;
  tx.event(effect.resourceNo, {
    type: `${effect.purpose}.${step}`,
    actor: actor ?? { type: "channel", id: effect.channelId as string },
    payload: {
      effectId: effect.effectId,
      attempt,
      destination: effect.destination,
      ...(effect.targetReference === null ? {} : { reference: effect.targetReference }),
      ...facts,
    },
  });
}
