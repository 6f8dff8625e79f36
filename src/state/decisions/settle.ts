/**
 * Settlement: every copy of a card whose place in the chat is known is brought to the decision's final state, and once more
 * when the run has ended or cannot go on by itself. A rule over stored references, not a list that somebody keeps: whoever stores one asks here.
 */
import { EFFECT_COLUMNS, insertEffect, cancelPending, moveEffect, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { isObstructed } from "../runs/obstructed.ts";
import { settleLists } from "../channels/offer-lists.ts";
import { earlierCopies, offersShown } from "./offers.ts";
import { decisionByNo, type DecisionRow } from "./rows.ts";

/** 1: the verdict. 2: and that the run waits for an operator. 3: and how the run ended. 0: before it, what an answer will come to. */
type StateRevision = 0 | 1 | 2 | 3;

interface Message {
  effectNo: number;
  status: string;
  reference: string | null;
  part: number;
  channelId: string;
  destination: string;
  place: string;
  isPrompt: number;
}

type Shown = Message & { reference: string };

/** What an event tells of a settlement. */
export interface Settlement {
  readonly effectId: string;
  readonly destination: string;
  readonly reference: string;
  readonly part: number;
  readonly revision: StateRevision;
}

/** Cards and questions for text of a decision, once for each part that is known, and once for one that was never sent. */
const MESSAGES = `SELECT e.effect_no AS effectNo, e.status, p.reference, p.part, e.channel_id AS channelId, e.destination, e.place, q.effect_no IS NOT NULL AS isPrompt
  FROM effects e LEFT JOIN effect_parts p ON p.effect_no = e.effect_no LEFT JOIN decision_prompts q ON q.effect_no = e.effect_no
  WHERE e.decision_no = ? AND (e.purpose = 'delivery' OR q.effect_no IS NOT NULL)`;
const IN_ORDER = "ORDER BY e.effect_no, p.attempt_number, p.part";
const ALL_MESSAGES = `${MESSAGES} ${IN_ORDER}`;
const MESSAGES_UNDER = `${MESSAGES} AND p.reference = ? ${IN_ORDER}`;

/** A reference has just become known: queues its settlement if the decision is over, or what changed since it was sent. */
export function settleReference(tx: Tx, decisionNo: number, reference: string): void {
  const decision = decisionByNo(tx, decisionNo);
  const pending = decision.status === "pending";
  if (pending) markEarlier(tx, decision, reference);
  if (pending && !isObstructed(tx, decision.runNo) && !changedSince(tx, decisionNo, reference)) return;
  const revision = pending ? 0 : stateRevision(tx, decision);
  tell(tx, decision, tx.all<Shown>(MESSAGES_UNDER, decisionNo, reference), revision);
}

/**
 * Somebody taps a card of a decision that is over: an edit that was refused when its chat could not be reached is tried again, so that what
 * they look at becomes what is.
 */
export function settleAgain(tx: Tx, decision: DecisionRow, channelId: string, reference: string): void {
  const refused = tx.all<EffectRow>(
    `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.decision_no = ? AND e.purpose = 'settlement' AND e.channel_id = ? AND e.target_reference = ?
       AND e.status = 'rejected' AND e.effect_type = 'card.settle' ORDER BY e.effect_no DESC LIMIT 1`,
    decision.decisionNo,
    channelId,
    reference,
  );
  for (const effect of refused) moveEffect(tx, effect, "retried", { error: null, nextAttemptAt: tx.now, failures: 0 });
}

/** A newer copy is in the chat: those before it say so, and keep their buttons. */
function markEarlier(tx: Tx, decision: DecisionRow, reference: string): void {
  const offer = earlierCopies(tx, decision.decisionNo, reference);
  if (offer === undefined) return;
  const before = messagesOf(tx, decision).filter(
    ({ destination, effectNo }) => destination === offer.destination && effectNo < offer.effectNo,
  );
  tell(tx, decision, before.filter(isShown), 0);
}

/** What a waiting card shows besides the question: each of these events changes it. */
const PROGRESS = "('decision.vote', 'decision.voteRevoked', 'decision.turnout', 'decision.escalated')";

/** Whether the card came to show something else after the copy under this reference was given out: both are told in the same chain. */
function changedSince(tx: Tx, decisionNo: number, reference: string): boolean {
  const sql = `SELECT 1 FROM events v JOIN human_decisions d ON d.resource_no = v.resource_no WHERE d.decision_no = ?1 AND v.event_type IN ${PROGRESS}
    AND v.event_index > (SELECT max(g.event_index) FROM effects e JOIN effect_parts p ON p.effect_no = e.effect_no
      JOIN events g ON g.resource_no = d.resource_no AND g.event_type = 'delivery.recorded'
        AND g.payload ->> '$.effectId' = e.effect_id AND g.payload ->> '$.attempt' = p.attempt_number
      WHERE e.decision_no = ?1 AND e.purpose = 'delivery' AND p.reference = ?2) LIMIT 1`;
  return tx.get(sql, decisionNo, reference) !== undefined;
}

/** A question for text is not this person's any more: it is taken back, or not sent. True when there was something to do. */
export function closePrompt(tx: Tx, decision: DecisionRow, effectNo: number): boolean {
  if (cancelPending(tx, "effect_no = ?", effectNo) > 0) return true;
  const shown = messagesOf(tx, decision)
    .filter(isShown)
    .filter((message) => message.effectNo === effectNo);
  return shown.filter((message) => queueSettlement(tx, decision, message, 1) !== null).length > 0;
}

/** A question for text has arrived whose person may not answer any more: it is taken back. */
export function closeRevoked(tx: Tx, decisionNo: number, effectNo: number): void {
  const revoked = tx.get("SELECT 1 FROM decision_prompts WHERE effect_no = ? AND revoked_at IS NOT NULL", effectNo);
  if (revoked !== undefined) closePrompt(tx, decisionByNo(tx, decisionNo), effectNo);
}

/** Queues settlement of all references of a decision at a known revision. */
export function settleAll(tx: Tx, decision: DecisionRow, revision: StateRevision): void {
  tell(tx, decision, messagesOf(tx, decision).filter(isShown), revision);
}

/** Queues settlements, each with an event of its own. */
function tell(tx: Tx, decision: DecisionRow, messages: readonly Shown[], revision: StateRevision): void {
  for (const shown of messages) {
    const settlement = settle(tx, decision, shown, revision);
    if (settlement !== null)
      tx.event(decision.resourceNo, {
        type: "settlement.queued",
        actor: { type: "server", id: "settlement" },
        payload: settlement,
      });
  }
}

/**
 * The decision is over: cards that were not sent and questions for text are not needed any more, answers to people still are;
 * what was shown is brought to the verdict. Returns what was queued, for the event of the verdict to tell.
 */
export function settleVerdict(tx: Tx, decision: DecisionRow): Settlement[] {
  const messages = messagesOf(tx, decision);
  for (const effectNo of new Set(messages.flatMap(({ effectNo, status }) => (status === "pending" ? effectNo : []))))
    cancelPending(tx, "effect_no = ?", effectNo);
  if (decision.reminders > 0 || decision.escalatedTo !== null)
    cancelPending(
      tx,
      "decision_no = ? AND effect_type IN ('notice.reminder', 'notice.escalated')",
      decision.decisionNo,
    );
  if (decision.listed === 1) settleLists(tx, decision.decisionNo);
  return messages.filter(isShown).flatMap((shown) => settle(tx, decision, shown, 1) ?? []);
}

function messagesOf(tx: Tx, decision: DecisionRow): Message[] {
  return tx.all<Message>(ALL_MESSAGES, decision.decisionNo);
}

function isShown(message: Message): message is Shown {
  return message.reference !== null;
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

/**
 * Whether the run can be continued has changed while it waits: the cards that wait for an answer say so, and keep their buttons. Called
 * in the command that notes it, after its rows say so.
 */
export function announceSources(tx: Tx, runNo: number): void {
  const decision = latestOf(tx, runNo);
  if (decision?.status === "pending") settleAll(tx, decision, 0);
}

/** How often a waiting card has changed: the run's files are gone, or back; a vote; somebody else is asked too. */
function announcements(tx: Tx, { resourceNo, runNo }: DecisionRow): string {
  const sql = `SELECT (SELECT count(*) FROM events e JOIN runs r USING (resource_no)
      WHERE r.run_no = ? AND e.event_type IN ('run.sourcesGone', 'run.sourcesBack')) AS files,
    (SELECT count(*) FROM events WHERE resource_no = ? AND event_type IN ${PROGRESS}) AS progress`;
  const { files = 0, progress = 0 } = tx.get<{ files: number; progress: number }>(sql, runNo, resourceNo) ?? {};
  return `${files}.${progress}`;
}

/** What a card of this decision can show now: the story belongs to the run's latest decision only. */
function stateRevision(tx: Tx, decision: DecisionRow): StateRevision {
  if (decision.status !== "accepted") return 1;
  const run = tx.get<{ finished: number | null; stuck: number | null }>(
    `SELECT r.finished_at AS finished, q.status = 'parked' AND q.park_reason NOT IN ('decision', 'interaction', 'paused') AS stuck
     FROM runs r LEFT JOIN run_queue q ON q.run_no = r.run_no WHERE r.run_no = ?`,
    decision.runNo,
  );
  const told = run === undefined ? 1 : run.finished !== null ? 3 : run.stuck === 1 ? 2 : 1;
  return told === 1 || latestNo(tx, decision.runNo) !== decision.decisionNo ? 1 : told;
}

function latestOf(tx: Tx, runNo: number): DecisionRow | undefined {
  const no = latestNo(tx, runNo);
  return no === undefined ? undefined : decisionByNo(tx, no);
}

function latestNo(tx: Tx, runNo: number): number | undefined {
  const sql = "SELECT decision_no AS no FROM human_decisions WHERE run_no = ? ORDER BY attempt_no DESC LIMIT 1";
  return tx.get<{ no: number }>(sql, runNo)?.no;
}

/**
 * A card is edited; a question for text, which no service lets us edit, is removed: its answer stands on the card. Returns what
 * is to be told of it, null for a question and for what was queued before.
 */
function settle(tx: Tx, decision: DecisionRow, shown: Shown, state: StateRevision): Settlement | null {
  const queued = queueSettlement(tx, decision, shown, state);
  return shown.isPrompt === 1 ? null : queued;
}

function queueSettlement(tx: Tx, decision: DecisionRow, shown: Shown, state: StateRevision): Settlement | null {
  const { channelId, destination, part, place, reference } = shown;
  const isPrompt = shown.isPrompt === 1;
  // A question for text stays as long as its card waits.
  if (isPrompt && state === 0) return null;
  // It is removed once, also when it becomes known after the run has ended.
  const revision = isPrompt ? 1 : state;
  const { decisionId } = decision;
  const said =
    revision === 0 ? `0.${announcements(tx, decision)}.${offersShown(tx, decision.decisionNo)}` : String(revision);
  const { created, effectId, effectNo } = insertEffect(tx, {
    purpose: "settlement",
    effectType: isPrompt ? "prompt.close" : "card.settle",
    key: `settle:${decisionId}:${channelId}:${reference}:${said}`,
    resourceNo: decision.resourceNo,
    request: { decisionId, reference, part, revision },
    requestDigest: decision.requestDigest,
    decisionNo: decision.decisionNo,
    channelId,
    destination,
    place,
    targetReference: reference,
    targetPart: part,
  });
  if (!created) return null;
  // What an older one would have shown, this one shows too.
  if (revision !== 1) {
    const where =
      "decision_no = ? AND purpose = 'settlement' AND channel_id = ? AND target_reference = ? AND effect_no <> ?";
    cancelPending(tx, where, decision.decisionNo, channelId, reference, effectNo);
  }
  return { effectId, destination, reference, part, revision };
}
