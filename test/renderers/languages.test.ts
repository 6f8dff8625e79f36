// Every language says the same: each word is there, and each value and time that one language shows the others show too.

import { describe, expect, test } from "vitest";

import { alertLineSchema, alertModelSchema } from "../../src/contracts/alert.ts";
import {
  cardNotesSchema,
  cardStatusSchema,
  cardStorySchema,
  cardVotesSchema,
} from "../../src/contracts/decision/card.ts";
import { buttonIdsOf, replyCodeSchema } from "../../src/contracts/decision/codes.ts";
import {
  OPERATOR_COMMANDS,
  operatorButtonSchema,
  operatorUseSchema,
} from "../../src/contracts/decision/operator-codes.ts";
import { LANGUAGES, type Language } from "../../src/contracts/language.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";
import { findingSchema } from "../../src/contracts/monitor/finding.ts";
import { wordsIn, type Words } from "../../renderers/text/index.ts";
import type { Phrase } from "../../renderers/text/phrase.ts";
import { samplesOf } from "./samples.ts";

type Said = string | Phrase | readonly Phrase[];
type Say = (words: Words) => Said;

const each = <T>(values: readonly T[], say: (words: Words, value: T) => Said): Say[] =>
  values.map((value) => (words) => say(words, value));

/** Everything that is said, by what says it. */
const SAID: Readonly<Record<string, readonly Say[]>> = {
  replies: each(samplesOf(replyCodeSchema), (words, code) => words.replyPhrase(code)),
  "buttons of replies": samplesOf(replyCodeSchema).flatMap((code) =>
    buttonIdsOf(code).map(
      (id): Say =>
        (words) =>
          words.replyButton(code, id),
    ),
  ),
  "heads of alerts": each(samplesOf(alertModelSchema), (words, alert) => {
    const { glyph, rest, text } = words.alertHeading(alert);
    return [glyph, text, ...rest];
  }),
  alerts: each(samplesOf(alertModelSchema), (words, alert) => words.alertBody(alert)),
  "lines of alerts": each(samplesOf(alertLineSchema), (words, line) => words.alertLine(line)),
  "buttons of alerts": (["acknowledge", "snooze", "repair"] as const).flatMap((action) =>
    [true, false].map(
      (all): Say =>
        (words) =>
          words.alertButton(action, all),
    ),
  ),
  findings: each(samplesOf(findingSchema), (words, finding) => words.findingPhrase(finding)),
  verdicts: each(samplesOf(cardStatusSchema), (words, status) => words.verdictLine(status)),
  "settled buttons": each(samplesOf(cardStatusSchema), (words, status) => words.settledButton(status)),
  states: each(samplesOf(cardStatusSchema), (words, status) => words.statusWord(status)),
  stories: each(samplesOf(cardStorySchema), (words, story) => words.storyLine(story)),
  notes: each(samplesOf(cardNotesSchema), (words, notes) => words.noteLines(notes)),
  votes: each(samplesOf(cardVotesSchema), (words, votes) => words.voteLines(votes, true)),
  documents: each(["sent", "unconfirmed", "failed"] as const, (words, state) => words.documentLine("v1v", state)),
  commands: each(OPERATOR_COMMANDS, (words, command) => words.commandDescription(command)),
  "buttons of the operator": each(samplesOf(operatorButtonSchema), (words, button) => words.operatorButton(button)),
  uses: each(samplesOf(operatorUseSchema), (words, use) => words.usePhrase(use)),
  deadlines: each([undefined, "v1v"], (words, label) => words.deadlineLine(5, label, true)),
  boxes: each([undefined, "v1v"], (words, label) => words.untilPhrase(5, label)),
  "who is asked": each([[], ["v1v"], ["v1v", "v2v"]], (words, names) => words.askedLine(names)),
  "the rest of a card": [
    (words) => words.withheldLine("v1v"),
    (words) => words.documentCaption("v1v", "v2v"),
    (words) => words.originLine("v1v", "v2v"),
    (words) => words.partOf(7, 8),
    (words) => words.notificationRepeat(5),
    (words) => words.plainNote,
    (words) => words.decisionWord,
    (words) => words.textPlaceholder,
  ],
};

interface Content {
  readonly text: string;
  /** Texts and numbers that were given. */
  readonly values: readonly string[];
  /** Instants that it names. */
  readonly times: readonly number[];
}

function contentOf(said: Said): Content {
  const pieces = (typeof said === "string" ? [said] : said.flat()) as Phrase;
  const text = pieces.map((piece) => (typeof piece === "string" ? piece : " ")).join("");
  const values = new Set((text.match(/v\d+v|\d+/gi) ?? []).map((value) => value.toLowerCase()));
  const times = new Set(pieces.flatMap((piece) => (typeof piece === "string" ? [] : [piece.at])));
  return { text, values: [...values].toSorted(), times: [...times].toSorted() };
}

const OTHERS = LANGUAGES.filter((language): language is Exclude<Language, "en"> => language !== "en");

describe.each(OTHERS)("in %s", (language) => {
  test.each(Object.keys(SAID))("%s show the values and times that they show in English", (what) => {
    const says = SAID[what] ?? [];
    expect(says.length).toBeGreaterThan(0);
    for (const say of says) {
      const { text, ...english } = contentOf(say(wordsIn("en")));
      const { text: other, ...spoken } = contentOf(say(wordsIn(language)));
      expect({ other, ...spoken }).toEqual({ other, ...english });
      // Words of ours were translated; names and marks need not be.
      const own = text.replaceAll(/v\d+v|\/?\brecover\b[^.]*/gi, "").match(/\p{L}{5,}/u);
      if (own !== null && !/^\P{L}*(Telegram|Monitor)\P{L}*$/iu.test(text)) expect(other).not.toBe(text);
    }
  });

  test("a toast fits, also with its longest words", () => {
    for (const code of samplesOf(replyCodeSchema))
      expect(wordsIn(language).ackText(code, { timeZone: "UTC", reference: 0 }).length).toBeLessThanOrEqual(
        TELEGRAM.toastChars,
      );
  });
});

test("the samples reach every kind of reply, alert and finding", () => {
  const kinds = (values: readonly object[], key: string): number =>
    new Set(values.map((value) => (value as Record<string, unknown>)[key])).size;
  expect(kinds(samplesOf(replyCodeSchema), "code")).toBeGreaterThan(60);
  expect(kinds(samplesOf(alertModelSchema), "kind")).toBe(6);
  expect(kinds(samplesOf(findingSchema), "code")).toBeGreaterThan(25);
});

test("times and durations are written as German does", () => {
  const { plain, writeTime } = wordsIn("de");
  const at = Date.UTC(2026, 2, 3, 13, 30);
  const clock = { timeZone: "Europe/Berlin", reference: at - 20 * 86_400_000, nameZone: true };
  expect(writeTime({ at, style: "day" }, clock)).toBe("Di 3. M\u00e4rz 14:30 MEZ");
  const late = { timeZone: "UTC", reference: at };
  expect(plain([{ at: at + 3 * 86_400_000, style: "relative" }], late)).toBe("in 3 Tagen");
  expect(plain([{ at: at - 3_600_000, style: "relative" }], late)).toBe("vor 60 Minuten");
});
