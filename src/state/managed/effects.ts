/**
 * Effects of a pass: reserved before anything is done outside, and looked for before anything is done again. A key names one intended
 * effect of its resource; it is never used for another.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError, type ErrorRecord } from "../../contracts/errors.ts";
import { RESOURCE } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ManagedEffect } from "../../contracts/resource/effect.ts";
import { defineCommand } from "../command.ts";
import {
  attemptOf,
  EFFECT_COLUMNS,
  effectById,
  effectIdOf,
  insertEffect,
  moveAttempt,
  moveEffect,
  recordAttempt,
  type AttemptRow,
  type EffectRow,
} from "../effects/rows.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { claimedResource, iso, passActor, type ResourceClaim, type ResourceRow } from "./resource-rows.ts";

/** What the request column holds: the request with what is known of it since it was first reserved. */
interface Reserved {
  readonly key: string;
  readonly generation: number;
  readonly request: JsonValue;
}

export interface ReserveEffect {
  readonly claim: ResourceClaim;
  readonly key: string;
  readonly kind: string;
  readonly request: JsonValue;
}

export interface EffectReserved {
  readonly effectId: string;
  readonly attempt: number;
  /** `fresh`: do it. `observe`: an earlier attempt may have done it, look first. `settled`: see the record. */
  readonly state: "fresh" | "observe" | "settled";
  readonly record: ManagedEffect;
}

/** Throws `claimLost`, `resourceInvalid` (limits), `effectConflict` (the key with another kind or request). */
export const reserve = defineCommand("managed.reserve", (tx: Tx, input: ReserveEffect): EffectReserved => {
  const { claim, key, kind, request } = input;
  const row = claimedResource(tx, claim);
  checkLimits(input);
  const requestDigest = sha256Digest({ kind, request });
  const idempotencyKey = `${row.uid}\0${key}`;
  const reserved: Reserved = { key, generation: row.generation, request };
  const effect =
    effectById(tx, effectIdOf(idempotencyKey)) ??
    insert(tx, row, { key: idempotencyKey, kind, reserved, requestDigest });
  if (effect.requestDigest !== requestDigest)
    throw new HoldpointError(
      "effectConflict",
      `Effect "${key}" of this resource was reserved before with another kind or request.`,
      { details: { effectId: effect.effectId, expected: effect.requestDigest, seen: requestDigest } },
    );
  return proceed(tx, row, effect, claim);
});

function checkLimits({ key, request }: ReserveEffect): void {
  const bytes = Buffer.byteLength(JSON.stringify(request));
  if (bytes > RESOURCE.requestBytes)
    throw new HoldpointError(
      "resourceInvalid",
      `The request of effect "${key.slice(0, 80)}" has ${bytes} bytes; the limit is ${RESOURCE.requestBytes}.`,
      { details: { limit: RESOURCE.requestBytes, seen: bytes } },
    );
}

function insert(
  tx: Tx,
  row: ResourceRow,
  { key, kind, requestDigest, reserved }: { key: string; kind: string; requestDigest: string; reserved: Reserved },
): EffectRow {
  const { effectId } = insertEffect(tx, {
    purpose: "action",
    effectType: kind,
    key,
    resourceNo: row.resourceNo,
    request: reserved,
    requestDigest,
    managedNo: row.managedNo,
    recovery: "observed",
  });
  return effectById(tx, effectId) as EffectRow;
}

function proceed(tx: Tx, row: ResourceRow, effect: EffectRow, claim: ResourceClaim): EffectReserved {
  const told = (state: EffectReserved["state"]): EffectReserved => answer(tx, row, effect.effectId, state);
  if (effect.status === "pending") {
    begin(tx, row, effect, claim);
    return told("fresh");
  }
  if (effect.status === "applying") {
    const attempt = attemptOf(tx, effect.effectNo, effect.attemptCount) as AttemptRow;
    if (attempt.ownerId === claim.runnerEpoch)
      throw new HoldpointError("protocolRejected", `Effect ${effect.shortId} is reserved by this pass already.`);
    if (attempt.state !== "ambiguous") moveAttempt(tx, attempt, "uncertain");
    moveEffect(tx, effect, "uncertain");
    tell(tx, row, effect, claim, "indeterminate");
  }
  return told(effect.status === "ambiguous" ? "observe" : "settled");
}

/** What the runner hears, by what is stored now. */
function answer(tx: Tx, row: ResourceRow, effectId: string, state: EffectReserved["state"]): EffectReserved {
  const effect = effectById(tx, effectId) as EffectRow;
  return { effectId, attempt: effect.attemptCount, state, record: effectRecord(tx, row.uid, effect) };
}

/** A new attempt, dispatching at once: the runner acts as soon as it hears of it. */
function begin(tx: Tx, row: ResourceRow, effect: EffectRow, claim: ResourceClaim): void {
  const attempt = recordAttempt(tx, effect, claim.runnerEpoch);
  moveAttempt(tx, attemptOf(tx, effect.effectNo, attempt) as AttemptRow, "dispatched");
  tell(tx, row, effect, claim, "pending");
}

function tell(
  tx: Tx,
  row: ResourceRow,
  effect: EffectRow,
  claim: ResourceClaim,
  state: string,
  error?: ErrorRecord,
): void {
  const { effectId, effectType, shortId } = effect;
  tx.event(row.resourceNo, {
    type: "effect.state",
    actor: passActor(claim),
    payload: {
      effectId,
      shortId,
      kind: effectType,
      attempt: effect.attemptCount,
      state,
      ...(error === undefined ? {} : { error: error.message.slice(0, 2_000) }),
    },
  });
}

export interface SettleEffect {
  readonly claim: ResourceClaim;
  readonly effectId: string;
  readonly attempt: number;
  /** `notApplied`: looked, and it is not there; a new attempt begins. `uncertain`: nobody can tell now. */
  readonly outcome: "applied" | "rejected" | "notApplied" | "uncertain";
  readonly externalRef?: string | undefined;
  readonly output?: JsonValue | undefined;
  readonly error?: ErrorRecord | undefined;
}

/** Throws `claimLost`, `effectNotFound`, `protocolRejected` (an attempt that is not open). */
export const settle = defineCommand("managed.settle", (tx: Tx, input: SettleEffect): EffectReserved => {
  const row = claimedResource(tx, input.claim);
  const { attempt: number, claim, error, externalRef, outcome, output } = input;
  const effect = effectById(tx, input.effectId);
  if (effect === undefined || managedOfEffect(tx, effect.effectNo) !== row.managedNo)
    throw new HoldpointError("effectNotFound", `Resource ${row.uid} has no effect "${input.effectId}".`);
  const attempt = attemptOf(tx, effect.effectNo, number);
  const open = effect.status === "applying" || effect.status === "ambiguous";
  if (!open || attempt === undefined || number !== effect.attemptCount)
    throw new HoldpointError(
      "protocolRejected",
      `Attempt ${number} of effect ${effect.shortId} is not open (${effect.status}).`,
    );
  const told = (state: EffectReserved["state"]): EffectReserved => answer(tx, row, effect.effectId, state);
  switch (outcome) {
    case "applied": {
      moveAttempt(tx, attempt, "accepted");
      const result = {
        ...(externalRef === undefined ? {} : { externalRef }),
        ...(output === undefined ? {} : { output }),
      };
      moveEffect(tx, effect, "applied", { result, error: null });
      tell(tx, row, effect, claim, "applied");
      return told("settled");
    }
    case "rejected":
      moveAttempt(tx, attempt, "rejected", error);
      moveEffect(tx, effect, "rejected", { error: error ?? null });
      tell(tx, row, effect, claim, "rejected", error);
      return told("settled");
    case "notApplied":
      moveAttempt(tx, attempt, "notSent", error);
      moveEffect(tx, effect, effect.status === "ambiguous" ? "retried" : "notApplied", { error: null });
      begin(tx, row, effect, claim);
      return told("fresh");
    case "uncertain":
      if (attempt.state !== "ambiguous") moveAttempt(tx, attempt, "uncertain", error);
      if (effect.status === "applying") {
        moveEffect(tx, effect, "uncertain", { error: error ?? null });
        tell(tx, row, effect, claim, "indeterminate", error);
      }
      return told("observe");
  }
});

function managedOfEffect(db: Reader, effectNo: number): number | null {
  const row = db.get<{ no: number | null }>("SELECT managed_no AS no FROM effects WHERE effect_no = ?", effectNo);
  return row?.no ?? null;
}

const STATES: Readonly<Record<EffectRow["status"], ManagedEffect["state"]>> = {
  pending: "pending",
  applying: "pending",
  applied: "applied",
  rejected: "rejected",
  ambiguous: "indeterminate",
  cancelled: "rejected",
};

interface Unpacking extends Reader {
  unpack(text: string): JsonValue;
}

/** An effect as its manager and clients see it. */
export function effectRecord(db: Unpacking, uid: string, effect: EffectRow): ManagedEffect {
  const { generation, key } = db.unpack(effect.request) as unknown as Reserved;
  const result = effect.result === null ? null : (db.unpack(effect.result) as unknown as Partial<ManagedEffect> | null);
  return {
    key,
    kind: effect.effectType,
    effectId: effect.effectId,
    resourceUid: uid,
    generation,
    requestFingerprint: effect.requestDigest,
    state: STATES[effect.status],
    ...(result?.externalRef === undefined ? {} : { externalRef: result.externalRef }),
    ...(result?.output === undefined ? {} : { output: result.output }),
    ...(effect.error === null ? {} : { error: (db.unpack(effect.error) as unknown as ErrorRecord).message }),
    startedAt: iso(effect.createdAt),
    ...(effect.settledAt === null ? {} : { completedAt: iso(effect.settledAt) }),
  };
}

/** The newest of a resource, newest first. */
export function effectsOf(db: Unpacking, managedNo: number, uid: string, limit: number): ManagedEffect[] {
  return db
    .all<EffectRow>(
      `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.managed_no = ? ORDER BY e.effect_no DESC LIMIT ?`,
      managedNo,
      Math.min(limit, 256),
    )
    .map((effect) => effectRecord(db, uid, effect));
}
