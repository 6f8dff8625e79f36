/**
 * What a person says in a chat about a message whose arrival is not known: with a button under "Did a card arrive?" or under `/problems`,
 * or with a command. One rule for all of them; whoever was first is named where it was asked.
 */
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { isHoldpointError } from "../../contracts/errors.ts";
import { isPending } from "../decisions/rows.ts";
import type { Actor, Tx } from "../tx.ts";
import { recoverMessage } from "./operator.ts";
import type { EffectRow } from "./rows.ts";

export interface Said {
  readonly action: "confirm" | "retry" | "drop";
  readonly actor: Actor;
  /** As it is shown to others. */
  readonly name: string | null;
  /** What the message is called in this chat. */
  readonly title: string;
  /** Where it was said, for the record. */
  readonly via?: Readonly<Record<string, string | number | null>>;
}

/** Settles the message and says what came of it; a message that is not in doubt (any more), or not needed, is told so. */
export function settleBySaying(tx: Tx, effect: EffectRow, { action, actor, name, title, via }: Said): ReplyCode {
  const decided = effect.decisionNo !== null && !isPending(tx, effect.decisionNo);
  const doubt = tx.get<{ since: number }>(
    "SELECT since FROM effect_doubts WHERE effect_no = ? AND until IS NULL",
    effect.effectNo,
  );
  try {
    recoverMessage(tx, effect, { action, part: null, reference: null, actor, ...(via === undefined ? {} : { via }) });
  } catch (error) {
    // The state is checked before anything is written, so that this refusal leaves nothing behind.
    if (!isHoldpointError(error) || error.kind !== "effectState") throw error;
    const reason = action === "retry" && decided ? "decided" : "notInDoubt";
    return { code: "recoverRefused", given: effect.shortId, reason };
  }
  if (doubt !== undefined)
    tx.run(
      "UPDATE effect_doubts SET ended_by_name = ? WHERE effect_no = ? AND since = ?",
      name,
      effect.effectNo,
      doubt.since,
    );
  return { code: "recovered", id: effect.shortId, action, title };
}
