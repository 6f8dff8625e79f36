// The text that goes with a choice: one rule for defaults, for answers and for what the workflow receives.

import type { JsonValue } from "../protocol/shared.ts";
import type { Choice } from "./choices.ts";
import { hasVisible } from "./inert.ts";
import { normalizeLineEnds, textProblem } from "./text.ts";

/** Why a text does not fit its choice. Lengths in UTF-16 units of the text as it was typed. */
export type InputRefusal =
  | { readonly kind: "inputRequired"; readonly name: string; readonly prompt: string }
  | { readonly kind: "inputUnexpected" }
  | {
      readonly kind: "inputInvalid";
      readonly rule: "minLength" | "maxLength";
      readonly limit: number;
      readonly seen: number;
    }
  | { readonly kind: "inputInvalid"; readonly rule: "characters"; readonly seen: string };

export type InputVerdict = { readonly kind: "ok"; readonly input?: string } | InputRefusal;

/** The text as it was typed, white space included; only line ends become LF. What is measured, stored and compared. */
export function normalizeInput(text: string): string {
  return normalizeLineEnds(text);
}

/**
 * Judges a text, or its absence, for a choice; `ok` carries it exactly as it was typed, white space included. A text of
 * nothing but white space and invisible characters counts as empty.
 */
export function judgeInput(choice: Choice, given: string | undefined): InputVerdict {
  const rule = choice.input;
  if (rule === undefined) return given === undefined ? { kind: "ok" } : { kind: "inputUnexpected" };
  if (given === undefined) return { kind: "inputRequired", name: rule.name, prompt: rule.prompt };
  const text = normalizeInput(given);
  const seen = hasVisible(text) ? text.length : 0;
  if (seen < rule.minLength) return { kind: "inputInvalid", rule: "minLength", limit: rule.minLength, seen };
  if (seen > rule.maxLength) return { kind: "inputInvalid", rule: "maxLength", limit: rule.maxLength, seen };
  const problem = textProblem(text, { lines: true, units: rule.maxLength, filled: false }, []);
  if (problem !== undefined) return { kind: "inputInvalid", rule: "characters", seen: problem.text };
  return { kind: "ok", input: text };
}

/** What the continuing work receives as the node's output: the choice, and its text under the input's name. */
export interface AcceptedAnswer {
  readonly choice: string;
  readonly input?: { readonly [name: string]: string };
}

/** The workflow's view of an accepted choice and text (`answerText` stored, `{name: text}` given out). */
export function acceptedAnswer(
  choices: readonly Choice[],
  choiceId: string,
  text: string | undefined,
): AcceptedAnswer & JsonValue {
  const name = choices.find((choice) => choice.id === choiceId)?.input?.name;
  if (text === undefined || name === undefined) return { choice: choiceId };
  return { choice: choiceId, input: { [name]: text } };
}
