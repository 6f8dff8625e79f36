// Reminders and escalation in English, and how a vote stands.

import type { CardNotes, CardVotes } from "../../../src/contracts/decision/card.ts";
import type { ReplyCode } from "../../../src/contracts/decision/codes.ts";
import { POLICY } from "../../../src/contracts/limits.ts";
import type { Phrase } from "../phrase.ts";
import { clock, day } from "./time.ts";
import { CUT, list, ordinal, quote, short } from "./words.ts";

/** A message under the card, with its number, so that each reads differently from the one before. */
export function reminderPhrase(code: Extract<ReplyCode, { code: "reminder" }>): Phrase {
  const what =
    code.number === 1
      ? `Still waiting${code.last ? ", the only reminder" : ""}`
      : code.last
        ? `Last reminder, the ${ordinal(code.number)}`
        : `Still waiting, ${ordinal(code.number)} reminder`;
  const asked: Phrase = ["Asked ", { at: code.askedAt, style: "relative" }, "."];
  const until: Phrase =
    code.deadlineAt === undefined
      ? []
      : [" Answer by ", day(code.deadlineAt), " (", { at: code.deadlineAt, style: "relative" }, ")."];
  const otherwise =
    code.deadlineAt === undefined
      ? ""
      : ` Without an answer: ${code.defaultLabel === undefined ? "the decision expires" : short(code.defaultLabel, CUT.label)}.`;
  const who =
    code.everybodyVoted === true
      ? " Everybody has voted, and no choice has enough; a vote can still be changed."
      : code.missing.length === 0
        ? ""
        : ` Not voted yet: ${names(code.missing)}.`;
  return [`\u231b ${what}: ${quote(code.title, CUT.excerpt)}. `, ...asked, ...until, `${otherwise}${who}`];
}

/** Told to those who were asked first. */
export function escalationPhrase(code: Extract<ReplyCode, { code: "escalated" }>): Phrase {
  const why = {
    silence: ["No answer since ", clock(code.askedAt)],
    undeliverable: ["The card could not be shown"],
    noQuorum: ["Everybody has voted, and no choice has enough"],
  } satisfies Record<typeof code.cause, Phrase>;
  return [`Passed on to ${audience(code)}. `, ...why[code.cause], ". Your answer still counts."];
}

/** The same on the card itself, where it stays. */
export function escalationLine(escalated: NonNullable<CardNotes["escalated"]>): Phrase {
  const why = {
    silence: "nobody had answered",
    undeliverable: "the card could not be shown",
    noQuorum: "everybody had voted and no choice had enough",
  } satisfies Record<typeof escalated.cause, string>;
  return [`Passed on to ${audience(escalated)}, `, day(escalated.at), `: ${why[escalated.cause]}.`];
}

/** How many must agree, who alone decides, and the votes so far; they stay when the decision is over. */
export function voteLines(votes: CardVotes, pending: boolean): Phrase[] {
  const veto = votes.veto.map((label) => quote(label, CUT.label));
  const alone =
    veto.length === 0 ? "" : ` ${short(list(veto, "or"), POLICY.namesUnits)} by one person decides at once.`;
  const lines: Phrase[] = [[`${votes.need} people must choose the same.${alone}`]];
  if (votes.cast.length === 0) return lines;
  const cast = votes.cast.map(
    ({ by, label }) => `${short(label, CUT.label)} ${by.length} of ${votes.need} (${names(by)})`,
  );
  lines.push([`Votes: ${short(cast.join(" \u00b7 "), POLICY.votesUnits)}.`]);
  if (pending && votes.everybodyVoted === true)
    lines.push(["Everybody has voted, and no choice has enough. Tap again to change your vote."]);
  return lines;
}

function audience({
  audience: name,
  names: people,
}: {
  readonly audience: string;
  readonly names: readonly string[];
}): string {
  return people.length === 0 ? short(name, CUT.name) : `${short(name, CUT.name)} (${names(people)})`;
}

function names(people: readonly string[]): string {
  return short(
    list(
      people.map((name) => short(name, CUT.name)),
      "and",
    ),
    POLICY.namesUnits,
  );
}
