/**
 * Answers that the demo gives by itself: what `--answer` says, matched with the choices that the decision offers.
 */
import type { DecisionSummary } from "../../client/index.ts";
import { usage } from "../context.ts";
import { nearest } from "../../contracts/nearest.ts";

export interface GivenAnswer {
  readonly choice: string;
  readonly text: string | null;
}

/** What is answered when nothing else was said. */
export const APPROVE: GivenAnswer = { choice: "approve", text: null };

type Choice = Pick<DecisionSummary["choices"][number], "id" | "label" | "input">;

/** The choices of the example that the demo runs (a test compares): an answer is checked before anything is started. */
export const DEMO_CHOICES: readonly Choice[] = [
  { id: "approve", label: "Approve", input: false },
  { id: "replan", label: "Replan", input: true },
  { id: "stop", label: "Stop", input: false },
];

/** Parses `approve` or `replan=use the blue pool`. Throws `usage`. */
export function parseAnswer(given: string): GivenAnswer {
  const at = given.indexOf("=");
  const choice = (at < 0 ? given : given.slice(0, at)).trim();
  const text = at < 0 ? null : given.slice(at + 1).trim();
  if (choice === "" || text === "") {
    throw usage(
      `--answer is "${given}".`,
      "Give a choice, or choice=text: --answer approve, --answer 'replan=use the blue pool'.",
    );
  }
  return { choice, text };
}

/**
 * The number of the choice that an answer names (by id or label, any case), 0 for the first.
 *
 * @throws HoldpointError `usage` with the nearest choice, or when text is missing or not wanted.
 */
export function choiceIndex(answer: GivenAnswer, choices: readonly Choice[]): number {
  const wanted = answer.choice.toLowerCase();
  const index = choices.findIndex(({ id, label }) => id.toLowerCase() === wanted || label.toLowerCase() === wanted);
  const choice = choices[index];
  if (choice === undefined) {
    const ids = choices.map(({ id }) => id);
    const near = nearest(answer.choice, ids);
    const list = `The choices are: ${ids.join(", ")}.`;
    throw usage(
      `This decision has no choice "${answer.choice}".`,
      near === undefined ? list : `Did you mean ${near}? ${list}`,
    );
  }
  if (choice.input && answer.text === null) {
    throw usage(`The choice "${choice.id}" takes text.`, `For example: --answer '${choice.id}=use the blue pool'`);
  }
  if (!choice.input && answer.text !== null) {
    throw usage(`The choice "${choice.id}" takes no text.`, `Give only --answer ${choice.id}`);
  }
  return index;
}
