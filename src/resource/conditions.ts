/** Conditions in words of their status. */
import type { ConditionInput } from "../contracts/resource/model.ts";

/**
 * A condition that holds.
 *
 * @param type stable name of what is told, for example `Ready`, which lists show.
 * @param reason one word for programs, for example `Merged`.
 * @param message a sentence for people, at most 4,000 characters.
 */
export function conditionTrue(type: string, reason: string, message?: string): ConditionInput {
  return condition(type, true, reason, message);
}

/** A condition that does not hold. */
export function conditionFalse(type: string, reason: string, message?: string): ConditionInput {
  return condition(type, false, reason, message);
}

/** A condition of which nothing is known now. */
export function conditionUnknown(type: string, reason: string, message?: string): ConditionInput {
  return condition(type, "unknown", reason, message);
}

function condition(type: string, status: boolean | "unknown", reason: string, message?: string): ConditionInput {
  return { type, status, reason, ...(message === undefined ? {} : { message }) };
}
