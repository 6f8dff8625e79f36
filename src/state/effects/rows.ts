/**
 * Rows of effects, attempts and parts: how they are loaded, made and moved. Every change of a status goes through the tables
 * of contracts/states.ts here, so that no other file writes a status.
 */
import { resourceId, shortId } from "../../contracts/ids.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { ContentRef } from "../../contracts/protocol/shared.ts";
import { next } from "../../contracts/states.ts";
import { hastenEscalation } from "../decisions/hasten.ts";
import { packError } from "../runs/rows.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";

export type EffectPurpose = "action" | "delivery" | "settlement" | "reply" | "notification" | "message" | "alert";
export type EffectStatus = "pending" | "applying" | "applied" | "rejected" | "ambiguous" | "cancelled";
export type Recovery = "idempotent" | "observed" | "manual";

export interface EffectRow {
  readonly effectId: string;
  readonly effectNo: number;
  readonly shortId: string;
  readonly resourceNo: number;
  readonly purpose: EffectPurpose;
  readonly effectType: string;
  readonly key: string;
  readonly request: string;
  readonly requestDigest: string;
  readonly runNo: number | null;
  readonly nodeId: string | null;
  readonly recovery: Recovery | null;
  readonly decisionNo: number | null;
  readonly channelId: string | null;
  readonly destination: string | null;
  readonly place: string | null;
  readonly targetReference: string | null;
  readonly targetPart: number | null;
  /** 1 once the service has refused the marks on its text. */
  readonly plain: number;
  status: EffectStatus;
  attemptCount: number;
  failures: number;
  nextAttemptAt: number;
  readonly result: string | null;
  readonly error: string | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
}

/** The columns of an `EffectRow`, for a SELECT from `effects e`. */
export const EFFECT_COLUMNS = `e.effect_id AS effectId, e.effect_no AS effectNo, e.short_id AS shortId, e.resource_no AS resourceNo, e.purpose,
  e.effect_type AS effectType, e.idempotency_key AS "key", e.request, e.request_digest AS requestDigest, e.run_no AS runNo, e.node_id AS nodeId,
  e.recovery, e.decision_no AS decisionNo, e.channel_id AS channelId, e.destination, e.place, e.target_reference AS targetReference,
  e.target_part AS targetPart, e.plain, e.status, e.attempt_count AS attemptCount, e.failures, e.next_attempt_at AS nextAttemptAt, e.result, e.error,
  e.created_at AS createdAt, e.settled_at AS settledAt`;

/** The effect of a resource (run, decision, channel) under an id. */
export function effectOf(db: Reader, resourceNo: number, effectId: string): EffectRow | undefined {
  return db.get<EffectRow>(
    `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.resource_no = ? AND e.effect_id = ?`,
    resourceNo,
    effectId,
  );
}

/** By id alone, which reads the ids of all effects: for what people ask, and for the seldom case. */
export function effectById(db: Reader, effectId: string): EffectRow | undefined {
  const found = db.get<{ no: number }>("SELECT effect_no AS no FROM effects WHERE effect_id = ?", effectId);
  return found === undefined ? undefined : effectByNo(db, found.no);
}

export function effectByNo(db: Reader, effectNo: number): EffectRow | undefined {
  return db.get<EffectRow>(`SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.effect_no = ?`, effectNo);
}

export interface NewEffect {
  readonly purpose: EffectPurpose;
  readonly effectType: string;
  /** Makes the effect unique; its id is derived from it. */
  readonly key: string;
  readonly resourceNo: number;
  /** Plain JSON: what will be done. */
  readonly request: unknown;
  readonly requestDigest: string;
  readonly runNo?: number | null;
  readonly managedNo?: number | null;
  readonly nodeId?: string | null;
  readonly recovery?: Recovery | null;
  readonly decisionNo?: number | null;
  readonly channelId?: string | null;
  readonly destination?: string | null;
  readonly place?: string | null;
  readonly targetReference?: string | null;
  readonly targetPart?: number | null;
  /** Who begins it at once: the first attempt is made with it, dispatching. */
  readonly begunBy?: string;
}

/** Id of the effect behind a key. */
export function effectIdOf(key: string): string {
  return resourceId("effect", key);
}

/** What makes the effect of a node's visit the one it is. */
export function actionKey(runId: string, effectType: string, nodeId: string, visit: number): string {
  return [runId, effectType, nodeId, String(visit)].join("\0");
}

const PENDING: EffectStatus = "pending";
const BEGUN = next("effect", PENDING, "attempted");

/** Inserts an effect, pending and due now or with its first attempt begun, unless its key exists. Returns its id and whether it is new. */
export function insertEffect(tx: Tx, effect: NewEffect): { effectId: string; effectNo: number; created: boolean } {
  const effectId = effectIdOf(effect.key);
  const { begunBy } = effect;
  const { changes, lastInsertRowid } = tx.run(
    `INSERT INTO effects (effect_id, short_id, resource_no, purpose, effect_type, idempotency_key, request, request_digest, run_no, managed_no, node_id,
       recovery, decision_no, channel_id, destination, place, target_reference, target_part, status, attempt_count, next_attempt_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource_no, effect_id) DO NOTHING`,
    effectId,
    shortId("e", effectId),
    effect.resourceNo,
    effect.purpose,
    effect.effectType,
    effect.key,
    tx.pack(effect.request),
    effect.requestDigest,
    effect.runNo ?? null,
    effect.managedNo ?? null,
    effect.nodeId ?? null,
    effect.recovery ?? null,
    effect.decisionNo ?? null,
    effect.channelId ?? null,
    effect.destination ?? null,
    effect.place ?? null,
    effect.targetReference ?? null,
    effect.targetPart ?? null,
    begunBy === undefined ? PENDING : BEGUN,
    begunBy === undefined ? 0 : 1,
    tx.now,
    tx.now,
  );
  if (changes === 1) {
    if (begunBy !== undefined) insertBegun(tx, lastInsertRowid, 1, begunBy);
    return { effectId, effectNo: lastInsertRowid, created: true };
  }
  const { effectNo } = effectOf(tx, effect.resourceNo, effectId) as EffectRow;
  return { effectId, effectNo, created: false };
}

/** What changes with a status; left out = as it is. */
export interface EffectChange {
  readonly result?: unknown;
  /** Content that stands for the result and was stored before. */
  readonly resultRef?: ContentRef | undefined;
  /** null clears it. */
  readonly error?: ErrorRecord | null;
  readonly nextAttemptAt?: number;
  readonly failures?: number;
}

const SETTLED: ReadonlySet<string> = new Set(["applied", "rejected", "cancelled"]);

/** Moves an effect by an event of its state table, and the row in hand with it. */
export function moveEffect(tx: Tx, effect: EffectRow, event: string, change: EffectChange = {}): void {
  const status = next("effect", effect.status, event) as EffectStatus;
  if (status === "ambiguous") beginDoubt(tx, effect);
  else if (effect.status === "ambiguous") endDoubt(tx, effect, event);
  effect.status = status;
  effect.nextAttemptAt = change.nextAttemptAt ?? effect.nextAttemptAt;
  effect.failures = change.failures ?? effect.failures;
  const error = change.error === undefined ? effect.error : packError(tx, change.error);
  const result =
    change.result === undefined && change.resultRef === undefined
      ? effect.result
      : tx.packEither(change.result, change.resultRef);
  tx.run(
    "UPDATE effects SET status = ?, next_attempt_at = ?, failures = ?, error = ?, result = ?, settled_at = ? WHERE effect_no = ?",
    status,
    effect.nextAttemptAt,
    effect.failures,
    error,
    result,
    SETTLED.has(status) ? tx.now : null,
    effect.effectNo,
  );
  if (status === "rejected" && effect.purpose === "delivery" && effect.decisionNo !== null)
    hastenEscalation(tx, effect.decisionNo);
}

/** From now on nobody knows whether it happened; the row says for how long. */
function beginDoubt(tx: Tx, { effectNo }: EffectRow): void {
  tx.run(
    "INSERT INTO effect_doubts (effect_no, since) VALUES (?, ?) ON CONFLICT (effect_no, since) DO UPDATE SET until = NULL, ended_by = NULL",
    effectNo,
    tx.now,
  );
}

function endDoubt(tx: Tx, { effectNo }: EffectRow, event: string): void {
  tx.run(
    "UPDATE effect_doubts SET until = ?, ended_by = ? WHERE effect_no = ? AND until IS NULL",
    tx.now,
    event,
    effectNo,
  );
}

/** Cancels pending effects that a SQL condition names; returns how many. */
export function cancelPending(tx: Tx, where: string, ...params: (string | number)[]): number {
  const status = next("effect", "pending", "cancelled");
  return tx.run(
    `UPDATE effects SET status = ?, settled_at = ? WHERE status = 'pending' AND ${where}`,
    status,
    tx.now,
    ...params,
  ).changes;
}

export type AttemptState = "recorded" | "dispatching" | "accepted" | "rejected" | "notSent" | "ambiguous";

export interface AttemptRow {
  readonly effectNo: number;
  readonly attempt: number;
  readonly ownerId: string;
  state: AttemptState;
  readonly fromPart: number;
  /** When a copy of its first part may have been sent before. */
  readonly repeatOf: number | null;
  readonly recordedAt: number;
  readonly dispatchedAt: number | null;
  readonly finishedAt: number | null;
  readonly error: string | null;
}

const ATTEMPT_COLUMNS = `effect_no AS effectNo, attempt_number AS attempt, owner_id AS ownerId, state, from_part AS fromPart, repeat_of AS repeatOf, recorded_at AS recordedAt,
  dispatched_at AS dispatchedAt, finished_at AS finishedAt, error`;

export function attemptOf(db: Reader, effectNo: number, attempt: number): AttemptRow | undefined {
  return db.get<AttemptRow>(
    `SELECT ${ATTEMPT_COLUMNS} FROM effect_attempts WHERE effect_no = ? AND attempt_number = ?`,
    effectNo,
    attempt,
  );
}

export function attemptsOf(db: Reader, effectNo: number): AttemptRow[] {
  return db.all<AttemptRow>(
    `SELECT ${ATTEMPT_COLUMNS} FROM effect_attempts WHERE effect_no = ? ORDER BY attempt_number`,
    effectNo,
  );
}

/** Records the next attempt of a pending effect, which is `applying` from now on. Returns the attempt's number. */
export function recordAttempt(
  tx: Tx,
  effect: EffectRow,
  ownerId: string,
  fromPart = 1,
  repeatOf: number | null = null,
): number {
  const attempt = effect.attemptCount + 1;
  const status = next("effect", effect.status, "attempted") as EffectStatus;
  tx.run("UPDATE effects SET status = ?, attempt_count = ? WHERE effect_no = ?", status, attempt, effect.effectNo);
  tx.run(
    "INSERT INTO effect_attempts (effect_no, attempt_number, owner_id, state, from_part, repeat_of, recorded_at) VALUES (?, ?, ?, 'recorded', ?, ?, ?)",
    effect.effectNo,
    attempt,
    ownerId,
    fromPart,
    repeatOf,
    tx.now,
  );
  effect.status = status;
  effect.attemptCount = attempt;
  return attempt;
}

/** Records the next attempt of a pending effect as dispatching: whoever hears of it acts at once. Returns the attempt's number. */
export function beginAttempt(tx: Tx, effect: EffectRow, ownerId: string): number {
  const attempt = effect.attemptCount + 1;
  const status = next("effect", effect.status, "attempted") as EffectStatus;
  tx.run("UPDATE effects SET status = ?, attempt_count = ? WHERE effect_no = ?", status, attempt, effect.effectNo);
  insertBegun(tx, effect.effectNo, attempt, ownerId);
  effect.status = status;
  effect.attemptCount = attempt;
  return attempt;
}

const DISPATCHING = next("effectAttempt", "recorded", "dispatched");

function insertBegun(tx: Tx, effectNo: number, attempt: number, ownerId: string): void {
  tx.run(
    "INSERT INTO effect_attempts (effect_no, attempt_number, owner_id, state, from_part, recorded_at, dispatched_at) VALUES (?, ?, ?, ?, 1, ?, ?)",
    effectNo,
    attempt,
    ownerId,
    DISPATCHING,
    tx.now,
    tx.now,
  );
}

/** Moves an attempt by an event of its state table. */
export function moveAttempt(tx: Tx, attempt: AttemptRow, event: string, error?: ErrorRecord): void {
  const state = next("effectAttempt", attempt.state, event) as AttemptState;
  attempt.state = state;
  if (state === "dispatching") {
    tx.run(
      "UPDATE effect_attempts SET state = ?, dispatched_at = ? WHERE effect_no = ? AND attempt_number = ?",
      state,
      tx.now,
      attempt.effectNo,
      attempt.attempt,
    );
    return;
  }
  tx.run(
    "UPDATE effect_attempts SET state = ?, finished_at = ?, error = coalesce(?, error) WHERE effect_no = ? AND attempt_number = ?",
    state,
    tx.now,
    packError(tx, error),
    attempt.effectNo,
    attempt.attempt,
  );
}
