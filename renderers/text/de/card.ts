// The fixed words of a decision's card in German.

import type { CardNotes, CardStatus, CardStory } from "../../../src/contracts/decision/card.ts";
import { cutToUnits } from "../../../src/contracts/decision/graphemes.ts";
import { TELEGRAM } from "../../../src/contracts/limits.ts";
import { documentName } from "../en/card.ts";
import { clock, day } from "../en/time.ts";
import { CUT, sentence, short } from "../en/words.ts";
import type { Phrase } from "../phrase.ts";
import { shownNames } from "../shape.ts";
import { escalationLine } from "./notices.ts";
import { byName, outcome, place, quote } from "./words.ts";

export { documentName, statusGlyph } from "../en/card.ts";

/** One word for how a decision stands, for boxes. */
export function statusWord(status: CardStatus): string {
  switch (status.kind) {
    case "pending":
      return "wartet";
    case "chosen":
      return status.provenance === "timeout_policy" ? "Zeit um" : "entschieden";
    case "cancelled":
      return "abgebrochen";
    case "expired":
      return "verfallen";
    case "superseded":
      return "veraltet";
  }
}

/** Stands under a message whose bold and monospace marks the service refused. */
export const plainNote = "(Ohne Auszeichnung, die nicht angenommen wurde.)";

export const decisionWord = "Entscheidung";

export function partOf(index: number, of: number): string {
  return `Teil ${index}/${of}`;
}

/** `hint` adds how long that is from the clock's reference, while it still matters. */
export function deadlineLine(at: number, defaultLabel: string | undefined, hint: boolean): Phrase {
  const until: Phrase = hint ? [day(at), " (", { at, style: "relative" }, ")"] : [day(at)];
  const then = defaultLabel === undefined ? "die Frage verf\u00e4llt" : short(defaultLabel, CUT.label);
  return ["Antwort bis ", ...until, `. Ohne Antwort: ${then}.`];
}

/** The same in the foot of a box: "bis 14:30, dann: Stopp". */
export function untilPhrase(at: number, defaultLabel: string | undefined): Phrase {
  const then = defaultLabel === undefined ? "verf\u00e4llt sie" : short(defaultLabel, CUT.label);
  return ["bis ", clock(at), `, dann: ${then}`];
}

/** Who may answer, for a chat in which others read along. As many names as fit a line or two. */
export function askedLine(names: readonly string[]): string {
  if (names.length === 0) return "F\u00fcr alle auf der Liste.";
  const shown = shownNames(names);
  const rest = names.length - shown.length;
  if (rest > 0) return `F\u00fcr ${shown.join(", ")} und ${rest} weitere.`;
  const last = shown.pop() ?? "";
  return `F\u00fcr ${shown.length === 0 ? last : `${shown.join(", ")} oder ${last}`}.`;
}

const onServer = (fingerprint: string): string => `Auf dem Server zu lesen: holdpoint decisions ${fingerprint}`;

/** Stands for a content that is kept out of chats. */
export function withheldLine(fingerprint: string): string {
  return `Worum es geht, kommt in keinen Chat. ${onServer(fingerprint)}`;
}

export function documentCaption(title: string, fingerprint: string): string {
  return `${title} \u00b7 ganzer Text \u00b7 ${fingerprint}`;
}

/** Where the rest of a long content is, on its card. */
export function documentLine(fingerprint: string, state: NonNullable<CardNotes["document"]>): string {
  switch (state) {
    case "sent":
      return `Der ganze Text steht im Dokument ${documentName(fingerprint)} in diesem Chat.`;
    case "unconfirmed":
      return `Der ganze Text ging als Dokument hinaus (${documentName(fingerprint)}), von Telegram nicht best\u00e4tigt. ${onServer(fingerprint)}`;
    case "failed":
      return `Der ganze Text war nicht als Dokument zu senden. ${onServer(fingerprint)}`;
  }
}

/** Stands for the text that goes with a choice, on a command line. */
export const textPlaceholder = "<Text>";

/** Workflow and run; the fingerprint follows after " · ". */
export function originLine(workflowName: string, runShortId: string): string {
  return `${short(workflowName, CUT.workflow)} \u00b7 Lauf ${short(runShortId, CUT.run)}`;
}

export function noteLines(notes: CardNotes): Phrase[] {
  const lines: Phrase[] = [];
  if (notes.possibleRepeatOf !== undefined)
    lines.push([
      "M\u00f6gliche Wiederholung der Karte von ",
      clock(notes.possibleRepeatOf),
      "; eine Antwort auf eine der beiden z\u00e4hlt.",
    ]);
  if (notes.offeredAgain !== undefined) lines.push(offlineLine(notes.offeredAgain.from, notes.offeredAgain.to));
  if (notes.shownAgain !== undefined)
    lines.push(["Um ", clock(notes.shownAgain), " unten noch einmal gezeigt; beide z\u00e4hlen."]);
  if (notes.sourceChanged === true)
    lines.push([
      "Die Dateien des Workflows sind nicht mehr wie bei der Frage. Eine Antwort gilt, aber der Lauf wartet, bis sie wiederhergestellt sind oder ihn jemand abbricht.",
    ]);
  if (notes.escalated !== undefined) lines.push(escalationLine(notes.escalated));
  return lines;
}

export function offlineLine(from: number, to: number): Phrase {
  return [
    "Ich war von ",
    clock(from),
    " bis ",
    clock(to),
    " nicht erreichbar. Wer in dieser Zeit getippt hat, tippe bitte noch einmal.",
  ];
}

/** What became of the decision. `textUnits` bounds the excerpt of a text that went with the choice. */
export function verdictLine(status: CardStatus, textUnits: number = CUT.excerpt): Phrase {
  switch (status.kind) {
    case "pending":
      return [];
    case "chosen": {
      const text = status.text === undefined || textUnits < 4 ? "" : ` ${quote(status.text, textUnits - 3)}`;
      if (status.provenance === "timeout_policy")
        return ["Keine Antwort bis ", day(status.at), `: Es gilt ${short(status.label, CUT.label)}.${text}`];
      const where = status.channel === undefined ? "" : `, ${place(status.channel)}`;
      const local = status.assurance === "local" ? " (lokal)" : "";
      const grace =
        status.graceAfterOutage === true ? " Sie z\u00e4hlt, weil die Frist ablief, als ich nicht erreichbar war." : "";
      return [`${outcome(status.label)}${byName(status.by)}, `, day(status.at), `${where}${local}.${grace}${text}`];
    }
    case "expired":
      return ["Keine Antwort bis ", day(status.at), ". Die Frage ist verfallen."];
    case "cancelled": {
      const reason = status.reason === undefined ? "" : `: ${short(status.reason, CUT.reason)}`;
      const where = status.channel === undefined ? "" : `, ${place(status.channel)}`;
      return [`Abgebrochen${byName(status.by)}, `, day(status.at), `${where}${reason}.`];
    }
    case "superseded":
      return ["Veraltet seit ", day(status.at), ": Eine neuere Fassung der Frage gilt."];
  }
}

const STORY: Readonly<Record<CardStory["outcome"], string>> = {
  completed: "Lauf fertig ",
  failed: "Lauf gescheitert ",
  timed_out: "Lauf: Zeit um ",
  cancelled: "Lauf abgebrochen ",
  parked: "Lauf wartet seit ",
};

/** "Lauf fertig 12:09: 4.12.0 läuft."; `detailUnits` bounds the detail. */
export function storyLine(story: CardStory, detailUnits: number = CUT.excerpt): Phrase {
  const detail =
    story.detail === undefined || detailUnits < 4 ? "." : `: ${sentence(short(story.detail, detailUnits - 3))}`;
  return [STORY[story.outcome], clock(story.at), detail];
}

/** The label of the one dead button that a settled card keeps where the client can show it. */
export function settledButton(status: CardStatus): Phrase {
  const by = (name: string | undefined): string => (name === undefined ? "" : ` von ${short(name, 16)}`);
  switch (status.kind) {
    case "pending":
      return [];
    case "chosen":
      if (status.provenance === "timeout_policy")
        return [`${short(status.label, TELEGRAM.buttonUnits - 12)} gilt `, clock(status.at)];
      return [`${cutToUnits(outcome(status.label), 24)}${by(status.by)} `, clock(status.at)];
    case "expired":
      return ["Verfallen ", clock(status.at)];
    case "cancelled":
      return [`Abgebrochen${by(status.by)} `, clock(status.at)];
    case "superseded":
      return ["Veraltet"];
  }
}
