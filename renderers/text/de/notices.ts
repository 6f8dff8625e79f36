// Reminders and escalation in German, and how a vote stands.

import type { CardNotes, CardVotes } from "../../../src/contracts/decision/card.ts";
import type { ReplyCode } from "../../../src/contracts/decision/codes.ts";
import { POLICY } from "../../../src/contracts/limits.ts";
import { clock, day } from "../en/time.ts";
import { CUT, short } from "../en/words.ts";
import type { Phrase } from "../phrase.ts";
import { list, quote } from "./words.ts";

/** A message under the card, with its number, so that each reads differently from the one before. */
export function reminderPhrase(code: Extract<ReplyCode, { code: "reminder" }>): Phrase {
  const what =
    code.number === 1
      ? `Wartet noch${code.last ? ", die einzige Erinnerung" : ""}`
      : code.last
        ? `Letzte Erinnerung, die ${code.number}.`
        : `Wartet noch, ${code.number}. Erinnerung`;
  const asked: Phrase = ["Gefragt ", { at: code.askedAt, style: "relative" }, "."];
  const until: Phrase =
    code.deadlineAt === undefined
      ? []
      : [" Antwort bis ", day(code.deadlineAt), " (", { at: code.deadlineAt, style: "relative" }, ")."];
  const otherwise =
    code.deadlineAt === undefined
      ? ""
      : ` Ohne Antwort: ${code.defaultLabel === undefined ? "die Frage verf\u00e4llt" : short(code.defaultLabel, CUT.label)}.`;
  const who =
    code.everybodyVoted === true
      ? " Alle haben abgestimmt, und keine Wahl hat genug; eine Stimme l\u00e4sst sich noch \u00e4ndern."
      : code.missing.length === 0
        ? ""
        : ` Noch keine Stimme von ${names(code.missing)}.`;
  return [`\u231b ${what}: ${quote(code.title, CUT.excerpt)}. `, ...asked, ...until, `${otherwise}${who}`];
}

/** Told to those who were asked first. */
export function escalationPhrase(code: Extract<ReplyCode, { code: "escalated" }>): Phrase {
  const why = {
    silence: ["Keine Antwort seit ", clock(code.askedAt)],
    undeliverable: ["Die Karte war nicht zu zeigen"],
    noQuorum: ["Alle haben abgestimmt, und keine Wahl hat genug"],
  } satisfies Record<typeof code.cause, Phrase>;
  return [`Weitergegeben an ${audience(code)}. `, ...why[code.cause], ". Ihre Antwort z\u00e4hlt weiterhin."];
}

/** The same on the card itself, where it stays. */
export function escalationLine(escalated: NonNullable<CardNotes["escalated"]>): Phrase {
  const why = {
    silence: "niemand hatte geantwortet",
    undeliverable: "die Karte war nicht zu zeigen",
    noQuorum: "alle hatten abgestimmt, und keine Wahl hatte genug",
  } satisfies Record<typeof escalated.cause, string>;
  return [`Weitergegeben an ${audience(escalated)}, `, day(escalated.at), `: ${why[escalated.cause]}.`];
}

/** How many must agree, who alone decides, and the votes so far; they stay when the decision is over. */
export function voteLines(votes: CardVotes, pending: boolean): Phrase[] {
  const veto = votes.veto.map((label) => quote(label, CUT.label));
  const alone =
    veto.length === 0 ? "" : ` ${short(list(veto, "oder"), POLICY.namesUnits)} von einer Person entscheidet sofort.`;
  const lines: Phrase[] = [[`${votes.need} Personen m\u00fcssen dasselbe w\u00e4hlen.${alone}`]];
  if (votes.cast.length === 0) return lines;
  const cast = votes.cast.map(
    ({ by, label }) => `${short(label, CUT.label)} ${by.length} von ${votes.need} (${names(by)})`,
  );
  lines.push([`Stimmen: ${short(cast.join(" \u00b7 "), POLICY.votesUnits)}.`]);
  if (pending && votes.everybodyVoted === true)
    lines.push(["Alle haben abgestimmt, und keine Wahl hat genug. Tippen \u00e4ndert die eigene Stimme."]);
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
      "und",
    ),
    POLICY.namesUnits,
  );
}
