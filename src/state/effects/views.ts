/**
 * How effects are shown to clients: the summary and the detail of client.v1, computed from rows. Used by reads, and by commands for
 * what they answer.
 */
import type { ErrorRecord } from "../../contracts/errors.ts";
import type { EffectDetail, EffectSummary } from "../../contracts/protocol/operations.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { CONTENT } from "../../contracts/limits.ts";
import { shownValue } from "../reading.ts";
import type { Reader } from "../statements.ts";
import { partsOf } from "./part-rows.ts";
import { attemptsOf, EFFECT_COLUMNS, type EffectRow } from "./rows.ts";

export interface JsonReader extends Reader {
  unpack(text: string): JsonValue;
}

/** An effect with what its summary needs from other rows. */
export interface ShownEffect extends EffectRow {
  readonly runId: string | null;
  readonly fingerprint: string | null;
  readonly decisionStatus: string | null;
}

/** SELECT of `ShownEffect` rows; append a condition on `e`. */
export const SHOWN_EFFECTS = `SELECT ${EFFECT_COLUMNS}, r.run_id AS runId, d.fingerprint, d.status AS decisionStatus FROM effects e LEFT JOIN runs r ON r.run_no = e.run_no
  LEFT JOIN human_decisions d ON d.decision_no = e.decision_no`;

export function shownEffect(db: Reader, effectNo: number): ShownEffect {
  const row = db.get<ShownEffect>(`${SHOWN_EFFECTS} WHERE e.effect_no = ?`, effectNo);
  if (row === undefined) throw new Error(`effect number ${effectNo} does not exist`);
  return row;
}

export function effectSummary(db: JsonReader, effect: ShownEffect): EffectSummary {
  return {
    effectId: effect.effectId,
    shortId: effect.shortId,
    purpose: effect.purpose,
    type: effect.effectType,
    status: effect.status,
    runId: effect.runId,
    decisionFingerprint: effect.fingerprint,
    destination: effect.destination,
    attempts: effect.attemptCount,
    nextAttemptAt: effect.status === "pending" ? effect.nextAttemptAt : null,
    createdAt: effect.createdAt,
    settledAt: effect.settledAt,
    error: errorOf(db, effect.error),
    settleWith: settleWith(effect),
  };
}

/** Appended to `SHOWN_EFFECTS`: what is not settled, and cards that nobody could be shown although they still wait. */
export const OPEN_EFFECTS = `WHERE e.status IN ('pending', 'applying', 'ambiguous')
  OR (e.status = 'rejected' AND e.purpose = 'delivery' AND d.status = 'pending')`;

/** The command that a person settles an uncertain effect with, or has a refused card sent again with. */
function settleWith({ decisionStatus, purpose, shortId, status }: ShownEffect): string | null {
  if (status === "rejected" && purpose === "delivery" && decisionStatus === "pending") return sendAgain(shortId);
  if (status !== "ambiguous") return null;
  return purpose === "action"
    ? `holdpoint effect settle ${shortId} applied|notApplied|retry`
    : `holdpoint channel recover ${shortId} confirm|retry`;
}

/** The command that sends a message again. */
export function sendAgain(shortId: string): string {
  return `holdpoint channel recover ${shortId} retry`;
}

export function effectDetail(db: JsonReader, effect: ShownEffect): EffectDetail {
  return {
    ...effectSummary(db, effect),
    key: effect.key,
    request: shownValue(db, effect.request, CONTENT.viewBytes),
    result: effect.result === null ? null : shownValue(db, effect.result, CONTENT.viewBytes),
    attemptList: attemptsOf(db, effect.effectNo).map(({ attempt, error, finishedAt, recordedAt, state }) => ({
      attempt,
      state,
      startedAt: recordedAt,
      finishedAt,
      error: errorOf(db, error),
    })),
    parts: partsOf(db, effect.effectNo).map(({ at, attempt, of, part, reference, state }) => ({
      attempt,
      part,
      of,
      state,
      reference,
      at,
    })),
  };
}

function errorOf(db: JsonReader, error: string | null): EffectSummary["error"] {
  return error === null ? null : (db.unpack(error) as unknown as ErrorRecord & { details?: Record<string, unknown> });
}
