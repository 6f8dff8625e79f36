// What every rendering of a card needs to decide the same way: which lines it has, in which order, how long they may
// be, which choice is the stopping one. Words come from renderers/text, layout and marks from the channel's renderer.

import type { CardChoice, CardModel, CardState, CardStatus } from "../src/contracts/decision/card.ts";
import type { ChoiceStyle } from "../src/contracts/decision/choices.ts";
import { TELEGRAM } from "../src/contracts/limits.ts";
import { wordsIn } from "./text/index.ts";
import type { Clock, Phrase } from "./text/phrase.ts";

const SUCCESS = new Set(["approve", "accept", "allow", "confirm", "continue", "yes", "release", "merge", "publish"]);
const DANGER = new Set(["stop", "deny", "reject", "cancel", "decline", "no", "abort", "refuse"]);

/** The style of a button: as authored, else by what its id or label plainly says. */
export function styleOf(choice: CardChoice): ChoiceStyle | undefined {
  if (choice.style !== undefined) return choice.style;
  const names = [choice.id.toLowerCase(), choice.label.trim().toLowerCase()];
  if (names.some((name) => SUCCESS.has(name))) return "success";
  return names.some((name) => DANGER.has(name)) ? "danger" : undefined;
}

/** The glyph of the status line; a chosen "Stop" is no success. */
export function glyphOf(card: CardModel, status: CardStatus): string {
  const stop =
    status.kind === "chosen" &&
    card.choices.some((choice) => choice.label === status.label && styleOf(choice) === "danger");
  return wordsIn(card.language).statusGlyph(status, stop);
}

/** Times on a card are seen from its creation, so that rendering it again writes them the same way. */
export function cardClock(card: CardModel, nameZone = true): Clock {
  return { timeZone: card.timeZone, language: card.language, reference: card.createdAt, nameZone };
}

/** Deadline, votes and notes; the deadline's "in 2 hours" goes once the question is closed, the rest stays. */
export function footerLines(card: CardModel, state: CardState): Phrase[] {
  const words = wordsIn(card.language);
  const lines: Phrase[] = [];
  if (card.deadlineAt !== undefined) {
    lines.push(words.deadlineLine(card.deadlineAt, card.defaultLabel, state.status.kind === "pending"));
  }
  if (state.votes !== undefined) lines.push(...words.voteLines(state.votes, state.status.kind === "pending"));
  if (state.notes !== undefined) lines.push(...words.noteLines(state.notes));
  return lines;
}

/**
 * Verdict and end of the story, together at most the reserved units, so that they fit into every card there is:
 * an answer's text and the story's detail share what the fixed words leave.
 */
export function closingLines(card: CardModel, state: CardState): Phrase[] {
  const words = wordsIn(card.language);
  const { status, story } = state;
  if (status.kind === "pending") return story === undefined ? [] : [words.storyLine(story, TELEGRAM.reservedUnits / 2)];
  const clock = cardClock(card);
  const units = (phrase: Phrase): number => words.plain(phrase, clock).length + 1;
  const storyUnits = story === undefined ? 0 : units(words.storyLine(story, 0));
  const left = TELEGRAM.reservedUnits - units(words.verdictLine(status, 0)) - storyUnits;
  const hasDetail = story?.detail !== undefined;
  const verdict = words.verdictLine(status, hasDetail ? Math.floor(left / 2) : left);
  if (story === undefined) return [verdict];
  const detail = TELEGRAM.reservedUnits - units(verdict) - storyUnits;
  return [verdict, words.storyLine(story, detail)];
}
