/**
 * Settlement: every copy of a card whose place in the chat is known is brought to the decision's final state, and once more
 * when the run has ended or cannot go on by itself. A rule over stored references, not a list that somebody keeps: whoever stores one asks here.
 */
import { insertEffect, cancelPending } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { knownDecision, type DecisionRow } from "./rows.ts";

/** 1: the verdict. 2: and that the run waits for an operator. 3: and how the run ended. */
type StateRevision = 1 | 2 | 3;

interface Shown {
  effectId: string;
  reference: string;
  part: number;
  channelId: string;
  destination: string;
  place: string;
  isPrompt: number;
}

const SHOWN = `SELECT e.effect_id AS effectId, p.reference, p.part, e.channel_id AS channelId, e.destination, e.place, q.effect_id IS NOT NULL AS isPrompt
  FROM effects e JOIN effect_parts p ON p.effect_id = e.effect_id LEFT JOIN decision_prompts q ON q.effect_id = e.effect_id
  WHERE e.decision_id = ? AND p.reference IS NOT NULL AND (e.purpose = 'delivery' OR q.effect_id IS NOT NULL)`;
const IN_ORDER = "ORDER BY e.effect_no, p.attempt_number, p.part";

/** A reference has just become known: queues its settlement if the decision is over. */
export function settleReference(tx: Tx, decisionId: string, reference: string): void {
  const decision = knownDecision(tx, decisionId);
  if (decision.status === "pending") return;
  const revision = stateRevision(tx, decision);
  for (const shown of tx.all<Shown>(`${SHOWN} AND p.reference = ? ${IN_ORDER}`, decisionId, reference))
    settle(tx, decision, shown, revision);
}

/** Queues settlement of all references of a decision at a known revision. */
export function settleAll(tx: Tx, decision: DecisionRow, revision: StateRevision): void {
  for (const shown of tx.all<Shown>(`${SHOWN} ${IN_ORDER}`, decision.decisionId)) settle(tx, decision, shown, revision);
}

/**
 * The run has ended, or is parked with a cause: the cards of its latest decision tell the story so far, so that nobody takes the
 * answer for the deed. Called in the command that ends or parks the run, after its rows say so. A decision that ended with the run
 * (cancelled, expired) says that already.
 */
export function queueStory(tx: Tx, runNo: number): void {
  const decision = latestOf(tx, runNo);
  if (decision?.status === "accepted") settleAll(tx, decision, stateRevision(tx, decision));
}

/** What a card of this decision can show now: the story belongs to the run's latest decision only. */
function stateRevision(tx: Tx, decision: DecisionRow): StateRevision {
  if (decision.status !== "accepted") return 1;
  const run = tx.get<{ finished: number | null; stuck: number | null }>(
    `SELECT r.finished_at AS finished, q.status = 'parked' AND q.park_reason NOT IN ('decision', 'paused') AS stuck
     FROM runs r LEFT JOIN run_queue q ON q.run_no = r.run_no WHERE r.run_no = ?`,
    decision.runNo,
  );
  const told = run === undefined ? 1 : run.finished !== null ? 3 : run.stuck === 1 ? 2 : 1;
  return told === 1 || latestOf(tx, decision.runNo)?.decisionId !== decision.decisionId ? 1 : told;
}

function latestOf(tx: Tx, runNo: number): DecisionRow | undefined {
  const row = tx.get<{ id: string }>(
    "SELECT decision_id AS id FROM human_decisions WHERE run_no = ? ORDER BY attempt_no DESC LIMIT 1",
    runNo,
  );
  return row === undefined ? undefined : knownDecision(tx, row.id);
}

/** A card is edited; a question for text, which no service lets us edit, is removed: its answer stands on the card. */
function settle(tx: Tx, decision: DecisionRow, shown: Shown, state: StateRevision): void {
  const { channelId, destination, part, place, reference } = shown;
  const isPrompt = shown.isPrompt === 1;
  // It is removed once, also when it becomes known after the run has ended.
  const revision = isPrompt ? 1 : state;
  const { decisionId } = decision;
  const { created, effectId } = insertEffect(tx, {
    purpose: "settlement",
    effectType: isPrompt ? "prompt.close" : "card.settle",
    key: `settle:${decisionId}:${channelId}:${reference}:${revision}`,
    resourceNo: decision.resourceNo,
    request: { decisionId, reference, part, revision },
    requestDigest: decision.requestDigest,
    decisionId,
    channelId,
    destination,
    place,
    targetReference: reference,
    targetPart: part,
  });
  if (!created || isPrompt) return;
  // What an older one would have shown, this one shows too.
  if (revision > 1) {
    const where =
      "decision_id = ? AND purpose = 'settlement' AND channel_id = ? AND target_reference = ? AND effect_id <> ?";
    cancelPending(tx, where, decisionId, channelId, reference, effectId);
  }
  tx.event(decision.resourceNo, {
    type: "settlement.queued",
    actor: { type: "server", id: "settlement" },
    payload: { effectId, destination, reference, part, revision },
  });
}
