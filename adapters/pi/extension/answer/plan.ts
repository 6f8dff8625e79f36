/**
 * What a line `/workflow answer …` means: which decision, which choice, or why nothing is answered. An answer names the
 * version of the question by its fingerprint; a line that names none counts only while nothing can be mistaken. Pure.
 */
import { piCommands } from "../../../../renderers/text/en.ts";
import { PI_ANSWER } from "../../../../src/contracts/limits.ts";
import type { SessionDecision } from "../../../../src/contracts/pi/session-view.ts";

const words = piCommands.answers;

export interface AnswerPlan {
  readonly kind: "answer";
  readonly decision: SessionDecision;
  readonly choice: string;
  readonly text: string | null;
  /** The line named no decision. */
  readonly bare: boolean;
}

export type Plan =
  | AnswerPlan
  /** The person is asked. */
  | { readonly kind: "ask"; readonly decision: SessionDecision }
  /** It names something that this session does not have. */
  | { readonly kind: "elsewhere"; readonly reference: string; readonly rest: string }
  | { readonly kind: "refuse"; readonly text: string; readonly unfound?: true };

/** Whether a plan may become another one with the next view: what it is about is not known here. */
export function isUnfound(plan: Plan): boolean {
  // A checkpoint is never in a view.
  if (plan.kind === "elsewhere") return !isCheckpoint(plan.reference, plan.rest);
  return plan.kind === "refuse" && plan.unfound === true;
}

export function isCheckpoint(reference: string, rest: string): boolean {
  return reference.startsWith("c-") || rest.startsWith("{");
}

/**
 * @param line what follows `/workflow answer`
 * @param now by the clock of the view's times
 */
export function planAnswer(line: string, decisions: readonly SessionDecision[], now: number): Plan {
  const [first, afterFirst] = takeWord(line);
  const pending = decisions.filter(({ state }) => state.status.kind === "pending");
  if (first === "") {
    const [only, second] = pending;
    if (only === undefined) return { kind: "refuse", text: words.nothingPending, unfound: true };
    return second === undefined ? { kind: "ask", decision: only } : refuse(several(pending));
  }
  const named = decisions.find(({ decisionId, fingerprint }) => first === fingerprint || first === decisionId);
  if (named !== undefined) return chosen(named, afterFirst, false);
  const isChoice = pending.some(({ card }) => card.choices.some(({ id }) => id === first));
  if (!isChoice) return { kind: "elsewhere", reference: first, rest: afterFirst };
  const [only, second] = pending;
  if (only === undefined || second !== undefined) return refuse(several(pending));
  // A card that nobody can have read yet, or a finger that was meant for the card before.
  if (only.shownAt === null || now - only.shownAt < PI_ANSWER.shownMs) return refuse(words.justShown);
  const justSettled = decisions.some(
    ({ card, state }) =>
      card.runShortId === only.card.runShortId &&
      state.status.kind !== "pending" &&
      now - state.status.at < PI_ANSWER.afterSettledMs,
  );
  if (justSettled) return refuse(words.justSettled);
  return chosen(only, line.trim(), true);
}

function chosen(decision: SessionDecision, rest: string, bare: boolean): Plan {
  const [choiceId, text] = takeWord(rest);
  if (choiceId === "") return { kind: "ask", decision };
  const { choices } = decision.card;
  const choice = choices.find(({ id }) => id === choiceId);
  if (choice === undefined)
    return refuse(
      words.unknownChoice(
        choiceId,
        choices.map(({ id }) => id),
      ),
    );
  if (choice.hasInput && text === "") return refuse(words.needsText(decision.fingerprint, choice.id));
  if (!choice.hasInput && text !== "") return refuse(words.takesNoText(choice.id));
  return { kind: "answer", decision, choice: choice.id, text: choice.hasInput ? text : null, bare };
}

/** The first word of a line and all that follows it, without the blanks around. */
export function takeWord(line: string): [word: string, rest: string] {
  const trimmed = line.trim();
  const end = trimmed.search(/\s/);
  return end < 0 ? [trimmed, ""] : [trimmed.slice(0, end), trimmed.slice(end).trim()];
}

function several(pending: readonly SessionDecision[]): string {
  return words.severalPending(pending.map(({ fingerprint }) => fingerprint));
}

function refuse(text: string): Plan {
  return { kind: "refuse", text };
}
