/**
 * Turns of a session's agent. One that a message of ours began belongs to it, and where that message is a step, to the step: its time counts,
 * its end without a result is answered with a reminder, and a person's Escape pauses the run, once. Other turns are the person's own.
 */
import { PI } from "../../contracts/config.ts";
import { next } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { effectById } from "../effects/rows.ts";
import { endRequest, outOfTime } from "../interactions/ending.ts";
import { openRequestOf, requestById, stepOf, submissionOf, type AgentRequestRow } from "../interactions/rows.ts";
import { take } from "../interactions/submit.ts";
import { pauseRun } from "../runs/control.ts";
import { runByNo } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import { hasUnsentStep, queueStep, storedOf } from "./messages.ts";
import { letBegin } from "./reserved.ts";
import { nextMessage } from "./resume-step.ts";
import { unbegun } from "./unbegun.ts";
import { unproductive } from "./unproductive.ts";

interface TurnRow {
  readonly turnId: string;
  readonly effectNo: number | null;
  readonly requestId: string | null;
  readonly countedMs: number;
  /** Milliseconds since the epoch; null while its clock stands. */
  readonly countingSince: number | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

const SELECT =
  "SELECT turn_id AS turnId, effect_no AS effectNo, request_id AS requestId, counted_ms AS countedMs, counting_since AS countingSince, started_at AS startedAt, ended_at AS endedAt FROM workflow_turns WHERE session_id = ?";

export interface TurnStart {
  readonly session: string;
  readonly turnId: string;
  /** Hidden id of the message of ours that began it; null = something else did. */
  readonly messageId: string | null;
}

/** A turn has begun. One that was open before has ended without anybody telling. Repeating it changes nothing. */
export const turnStarted = defineCommand(
  "sessions.turnStarted",
  (tx: Tx, { messageId, session, turnId }: TurnStart): { requestId: string | null } => {
    const known = tx.get<TurnRow>(`${SELECT} AND turn_id = ?`, session, turnId);
    if (known !== undefined) return { requestId: known.requestId };
    const open = openTurn(tx, session);
    if (open !== undefined) lose(tx, session, open);
    const cause = messageId === null ? undefined : effectById(tx, messageId);
    const ours = cause?.channelId === PI && cause.place === session && cause.purpose === "message" ? cause : undefined;
    let request: AgentRequestRow | undefined;
    if (ours !== undefined) {
      const stored = storedOf(tx, ours);
      // The step that waits now, also where an older message of it began the turn.
      if (stored.kind === "step") request = openRequestOf(tx, ours.runNo as number);
      if (stored.kind === "followUp") moveFollowUp(tx, stored.followUpId, "queued", "sent");
    }
    tx.run(
      "INSERT INTO workflow_turns (session_id, turn_id, effect_no, request_id, counting_since, started_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
      session,
      turnId,
      ours?.effectNo ?? null,
      request?.requestId ?? null,
      tx.now,
    );
    return { requestId: request?.requestId ?? null };
  },
);

export interface TurnEnd {
  readonly session: string;
  readonly turnId: string;
  readonly stop: "completed" | "aborted" | "error";
  readonly error: string | null;
  readonly entry: string | null;
  /** Text of the agent's last message. */
  readonly text: string | null;
  /** How long the agent was at work, by its own clock; absent = by ours. */
  readonly activeMs?: number;
}

/** `stop`: the runner of a run that was paused by it. */
export interface TurnEnded {
  readonly known: boolean;
  readonly stop: { readonly runnerEpoch: string } | null;
}

/**
 * The turn has ended: its time, what its end means for the step, and the run that it reserved, in one command. An end that was reported before,
 * or of a turn that is not open any more, changes nothing else.
 */
export const turnEnded = defineCommand("sessions.turnEnded", (tx: Tx, input: TurnEnd): TurnEnded => {
  const { session, turnId } = input;
  // A reserved run begins, whether the turn was known or not.
  letBegin(tx, session, turnId);
  const turn = tx.get<TurnRow>(`${SELECT} AND turn_id = ?`, session, turnId);
  if (turn === undefined || turn.endedAt !== null) return { known: turn !== undefined, stop: null };
  const request = close(tx, session, turn, input);
  // A person's Escape pauses the run also while a result is judged; it is judged again when the run goes on.
  const paused = input.stop === "aborted" && request?.status === "validating";
  if (request === undefined || (request.status !== "pending" && !paused)) return { known: true, stop: null };
  return { known: true, stop: afterStep(tx, request, input) };
});

/**
 * Pi is idle, so a turn that is open here has ended without anybody telling: of its time only what was counted is known, and it proves nothing.
 * The same holds for one of which not even the beginning was told.
 */
export const lostTurns = defineCommand("sessions.lostTurns", (tx: Tx, input: { session: string }): { lost: number } => {
  const open = openTurn(tx, input.session);
  const step = open === undefined ? unbegun(tx, input.session) : undefined;
  if (open !== undefined) lose(tx, input.session, open);
  else if (step !== undefined) goOn(tx, requestById(tx, step.requestId));
  return { lost: open === undefined && step === undefined ? 0 : 1 };
});

/** A session is away: the clock of its turn stands until it tells that the turn goes on. Null = every session, when a server starts. */
export function stopClock(tx: Tx, session: string | null): void {
  // What a server that is gone had not counted is told by the session; without it, the agent is given that time.
  const counted = session === null ? "counted_ms" : "counted_ms + max(0, ?2 - counting_since)";
  tx.run(
    `UPDATE workflow_turns SET counted_ms = ${counted}, counting_since = NULL WHERE ended_at IS NULL AND counting_since IS NOT NULL AND (?1 IS NULL OR session_id = ?1)`,
    ...(session === null ? [null] : [session, tx.now]),
  );
}

export const away = defineCommand("sessions.away", (tx: Tx, input: { session: string }): Record<string, never> => {
  stopClock(tx, input.session);
  return {};
});

/** A session that has connected tells of the turn that it is in; of one that is not open here nothing is known to be right. */
export function goesOn(tx: Tx, session: string, turn: { readonly turnId: string; readonly activeMs: number }): void {
  tx.run(
    "UPDATE workflow_turns SET counted_ms = ?, counting_since = ? WHERE session_id = ? AND turn_id = ? AND ended_at IS NULL",
    turn.activeMs,
    tx.now,
    session,
    turn.turnId,
  );
}

/** Nobody will come back to its step by himself: the agent is asked to go on, as after an interruption. */
function lose(tx: Tx, session: string, turn: TurnRow): void {
  goOn(tx, close(tx, session, turn, { stop: "lost", entry: null }));
}

function goOn(tx: Tx, request: AgentRequestRow | undefined): void {
  if (request?.status !== "pending") return;
  const run = runByNo(tx, request.runNo);
  if (run.paused === 1 || hasUnsentStep(tx, run.runNo)) return;
  queueStep(tx, run, request, { number: nextMessage(tx, request.requestId), reason: "resumed" });
}

export function openTurn(tx: Pick<Tx, "get">, session: string): TurnRow | undefined {
  return tx.get<TurnRow>(`${SELECT} AND ended_at IS NULL`, session);
}

/** Ends the turn's row and adds its time to its step. Returns the step as it is now. */
function close(
  tx: Tx,
  session: string,
  turn: TurnRow,
  end: { readonly stop: TurnEnd["stop"] | "lost"; readonly entry: string | null; readonly activeMs?: number },
): AgentRequestRow | undefined {
  const running = turn.countingSince === null || end.stop === "lost" ? 0 : Math.max(0, tx.now - turn.countingSince);
  const active = end.activeMs ?? turn.countedMs + running;
  tx.run(
    "UPDATE workflow_turns SET stop = ?, response_entry = ?, counted_ms = ?, counting_since = NULL, ended_at = ? WHERE session_id = ? AND turn_id = ?",
    end.stop,
    end.entry,
    active,
    tx.now,
    session,
    turn.turnId,
  );
  if (turn.effectNo !== null) settleFollowUp(tx, turn.effectNo);
  if (turn.requestId === null) return undefined;
  tx.run("UPDATE agent_requests SET active_ms = active_ms + ? WHERE request_id = ?", active, turn.requestId);
  return requestById(tx, turn.requestId);
}

function afterStep(tx: Tx, request: AgentRequestRow, end: TurnEnd): TurnEnded["stop"] {
  const run = runByNo(tx, request.runNo);
  const { contract, timeoutMs } = stepOf(tx, request);
  if (end.stop === "aborted") {
    const by = { actor: { type: "human", id: `session:${end.session}` }, reason: "interrupted in Pi" } as const;
    const epoch = run.paused === 1 ? null : pauseRun(tx, run, by);
    return epoch === null ? null : { runnerEpoch: epoch };
  }
  if (run.paused === 1) return null;
  if (timeoutMs !== null && request.activeMs >= timeoutMs) {
    endRequest(tx, request, "timedOut", outOfTime(tx, request));
    return null;
  }
  if (contract.kind === "assistantMessage" && end.stop === "completed" && (end.text ?? "").trim() !== "") {
    if (submissionOf(tx, request.requestId, end.turnId) === undefined) take(tx, request, end.turnId, end.text);
    return null;
  }
  unproductive(tx, request, end.stop === "error" ? `It ended with an error: ${end.error ?? "unknown"}.` : undefined);
  return null;
}

function settleFollowUp(tx: Tx, effectNo: number): void {
  const row = tx.get<{ id: string }>(
    "SELECT request ->> '$.followUpId' AS id FROM effects WHERE effect_no = ? AND effect_type = 'message.followUp'",
    effectNo,
  );
  if (row !== undefined) moveFollowUp(tx, row.id, "sent", "turnEnded");
}

function moveFollowUp(tx: Tx, id: string, from: "queued" | "sent", event: string): void {
  const to = next("followUp", from, event);
  tx.run(
    "UPDATE workflow_follow_ups SET status = ?, settled_at = ? WHERE follow_up_id = ? AND status = ?",
    to,
    to === "settled" ? tx.now : null,
    id,
    from,
  );
}
