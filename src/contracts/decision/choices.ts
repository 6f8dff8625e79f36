// The choices of a decision: what can be answered, under which label, and whether a text goes with it.

import { z } from "zod";

import { ID_PATTERN } from "../ids.ts";
import { DECISION } from "../limits.ts";
import { parseShape, problemError, type Problem } from "./issues.ts";
import { normalizeLineEnds, textProblem } from "./text.ts";

/** A text that goes with a choice. Lengths in UTF-16 units of the exact text. */
export const textInputSchema = z.strictObject({
  type: z.literal("text"),
  name: z.string(),
  prompt: z.string(),
  minLength: z.number().int(),
  maxLength: z.number().int(),
});
export type TextInput = z.infer<typeof textInputSchema>;

/** How a client that can may paint the button; the label carries the meaning by itself. */
export const choiceStyleSchema = z.enum(["success", "danger", "primary"]);
export type ChoiceStyle = z.infer<typeof choiceStyleSchema>;

const choiceShape = z.strictObject({
  id: z.string(),
  label: z.string(),
  input: textInputSchema.optional(),
  style: choiceStyleSchema.optional(),
});
/** A choice as stored, in the author's order. At most one text input, under its name. */
export type Choice = z.infer<typeof choiceShape>;

export const choicesSchema = z.array(choiceShape).superRefine((choices, context) => {
  const problem = choicesProblem(choices);
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem.text, path: [...problem.path] });
});

const authoredInput = z.strictObject({
  type: z.literal("text").optional(),
  name: z.string(),
  prompt: z.string(),
  minLength: z.number().int().optional(),
  maxLength: z.number().int().optional(),
});
const authoredChoice = z.strictObject({
  label: z.string(),
  input: authoredInput.optional(),
  style: choiceStyleSchema.optional(),
  /** Becomes part of the policy, not of the choice. */
  veto: z.boolean().optional(),
});
const authoredList = z.array(authoredChoice.extend({ id: z.string() }));

/**
 * The stored form of authored choices: a map from id to `{label, input?, style?, veto?}`, or a list that has ids already.
 * Keeps the author's order, fills in the lengths (1 and 4,000), and checks every limit.
 *
 * @throws HoldpointError `presentationInvalid` with the limit and the value seen.
 */
export function normalizeChoices(authored: unknown): Choice[] {
  const listed = parseShape(authoredList, Array.isArray(authored) ? authored : listOf(authored), "choices");
  const choices = listed.map(({ id, label, input, style }) => {
    const choice: Choice = { id, label };
    if (input !== undefined) {
      const { name, prompt, minLength = DECISION.textDefaultMin, maxLength = DECISION.textDefaultMax } = input;
      choice.input = { type: "text", name, prompt: normalizeLineEnds(prompt), minLength, maxLength };
    }
    if (style !== undefined) choice.style = style;
    return choice;
  });
  const problem = choicesProblem(choices);
  if (problem !== undefined) throw problemError("choices", problem);
  return choices;
}

/** Ids of authored choices, and of those marked as a veto; lenient, because what is wrong is refused by `normalizeChoices`. */
export function vetoesIn(authored: unknown): { readonly ids: string[]; readonly vetoes: string[] } {
  const listed = Array.isArray(authored) ? authored : listOf(authored);
  const found = z.array(z.object({ id: z.string(), veto: z.unknown().optional() })).safeParse(listed);
  const choices = found.success ? found.data : [];
  return { ids: choices.map(({ id }) => id), vetoes: choices.filter(({ veto }) => veto === true).map(({ id }) => id) };
}

function listOf(authored: unknown): unknown {
  if (typeof authored !== "object" || authored === null) return authored;
  return Object.entries(authored).map(([id, choice]) =>
    typeof choice === "object" && choice !== null ? { id, ...choice } : choice,
  );
}

function choicesProblem(choices: readonly Choice[]): Problem | undefined {
  if (choices.length === 0) return { path: [], text: "is empty; a decision needs at least one choice" };
  if (choices.length > DECISION.choices) {
    const seen = choices.length;
    return { path: [], text: `has ${seen} choices; the limit is ${DECISION.choices}`, limit: DECISION.choices, seen };
  }
  const ids = new Set<string>();
  const labels = new Set<string>();
  for (const [index, choice] of choices.entries()) {
    const problem = choiceProblem(choice, index);
    if (problem !== undefined) return problem;
    if (ids.has(choice.id)) return { path: [index, "id"], text: `repeats the id "${choice.id}"` };
    if (labels.has(choice.label.trim())) return { path: [index, "label"], text: `repeats the label "${choice.label}"` };
    ids.add(choice.id);
    labels.add(choice.label.trim());
  }
  return undefined;
}

function choiceProblem(choice: Choice, index: number): Problem | undefined {
  // The name of the prototype would be swallowed by some writers of maps, so it can never be an answer.
  if (!ID_PATTERN.choice.test(choice.id) || choice.id === "__proto__") {
    return {
      path: [index, "id"],
      text: `is ${JSON.stringify(choice.id.slice(0, 140))}; an id is ${ID_PATTERN.choice.source}`,
    };
  }
  const label = textProblem(choice.label, { lines: false, units: DECISION.labelUnits, filled: true }, [index, "label"]);
  return label ?? (choice.input === undefined ? undefined : inputProblem(choice.input, [index, "input"]));
}

function inputProblem(input: TextInput, at: Problem["path"]): Problem | undefined {
  if (!ID_PATTERN.choice.test(input.name) || input.name === "__proto__") {
    return {
      path: [...at, "name"],
      text: `is ${JSON.stringify(input.name.slice(0, 140))}; a name is ${ID_PATTERN.choice.source}`,
    };
  }
  const prompt = textProblem(input.prompt, { lines: true, units: DECISION.promptUnits, filled: true }, [
    ...at,
    "prompt",
  ]);
  if (prompt !== undefined) return prompt;
  const { minLength, maxLength } = input;
  if (minLength < DECISION.textDefaultMin) {
    const limit = DECISION.textDefaultMin;
    return { path: [...at, "minLength"], text: `is ${minLength}; the least is ${limit}`, limit, seen: minLength };
  }
  // One reply in a chat must be able to carry it.
  if (maxLength > DECISION.textDefaultMax) {
    const limit = DECISION.textDefaultMax;
    return { path: [...at, "maxLength"], text: `is ${maxLength}; the limit is ${limit}`, limit, seen: maxLength };
  }
  if (maxLength < minLength) {
    return {
      path: [...at, "maxLength"],
      text: `is ${maxLength}, less than minLength ${minLength}`,
      limit: minLength,
      seen: maxLength,
    };
  }
  return undefined;
}
