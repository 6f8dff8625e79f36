// The fixed words of a decision's card in English.

import type { CardNotes, CardStatus, CardStory } from "../../../src/contracts/decision/card.ts";
import { cutToUnits } from "../../../src/contracts/decision/graphemes.ts";
import { TELEGRAM } from "../../../src/contracts/limits.ts";
import type { Phrase } from "../phrase.ts";
import { shownNames } from "../shape.ts";
import { escalationLine } from "./notices.ts";
import { clock, day } from "./time.ts";
import { byName, CUT, lowerFirst, outcome, place, quote, sentence, short } from "./words.ts";

export function statusGlyph(status: CardStatus, chosenIsStop: boolean): string {
  switch (status.kind) {
    case "pending":
      return "\u{1F7E1}";
    case "chosen":
      if (status.provenance === "timeout_policy") return "\u231b";
      return chosenIsStop ? "\u26d4" : "\u2705";
    case "cancelled":
      return "\u26d4";
    case "expired":
    case "superseded":
      return "\u231b";
  }
}

/** One word for how a decision stands, for boxes. */
export function statusWord(status: CardStatus): string {
  switch (status.kind) {
    case "pending":
      return "waiting";
    case "chosen":
      return status.provenance === "timeout_policy" ? "ran out" : "decided";
    case "cancelled":
      return "cancelled";
    case "expired":
      return "expired";
    case "superseded":
      return "out of date";
  }
}

/** Stands under a message whose bold and monospace marks the service refused. */
export const plainNote = "(Without its formatting, which was refused.)";

export const decisionWord = "Decision";

export function partOf(index: number, of: number): string {
  return `part ${index}/${of}`;
}

/** `hint` adds how long that is from the clock's reference, while it still matters. */
export function deadlineLine(at: number, defaultLabel: string | undefined, hint: boolean): Phrase {
  const until: Phrase = hint ? [day(at), " (", { at, style: "relative" }, ")"] : [day(at)];
  const then = defaultLabel === undefined ? "the decision expires" : short(defaultLabel, CUT.label);
  return ["Answer by ", ...until, `. Without an answer: ${then}.`];
}

/** The same in the foot of a box: "until 14:30, then: stop". */
export function untilPhrase(at: number, defaultLabel: string | undefined): Phrase {
  const then = defaultLabel === undefined ? "it expires" : lowerFirst(short(defaultLabel, CUT.label));
  return ["until ", clock(at), `, then: ${then}`];
}

/** Who may answer, for a chat in which others read along. As many names as fit a line or two. */
export function askedLine(names: readonly string[]): string {
  if (names.length === 0) return "For whoever is on the list.";
  const shown = shownNames(names);
  const rest = names.length - shown.length;
  if (rest > 0) return `For ${shown.join(", ")} and ${rest} more.`;
  const last = shown.pop() ?? "";
  return `For ${shown.length === 0 ? last : `${shown.join(", ")} or ${last}`}.`;
}

/** Stands for a content that is kept out of chats. */
export function withheldLine(fingerprint: string): string {
  return `What this is about is not sent to chats. Read it on the server: holdpoint decisions ${fingerprint}`;
}

/** Names of files stay the same in every language: they are looked for by what the card says. */
export function documentName(fingerprint: string): string {
  return `${fingerprint}.txt`;
}

export function documentCaption(title: string, fingerprint: string): string {
  return `${title} \u00b7 full text \u00b7 ${fingerprint}`;
}

/** Where the rest of a long content is, on its card. */
export function documentLine(fingerprint: string, state: NonNullable<CardNotes["document"]>): string {
  const server = `Read it on the server: holdpoint decisions ${fingerprint}`;
  switch (state) {
    case "sent":
      return `The full text is in the document ${documentName(fingerprint)} in this chat.`;
    case "unconfirmed":
      return `The full text went as a document (${documentName(fingerprint)}), but Telegram did not confirm it. ${server}`;
    case "failed":
      return `The full text could not be sent as a document. ${server}`;
  }
}

/** Stands for the text that goes with a choice, on a command line. */
export const textPlaceholder = "<text>";

/** Workflow and run; the fingerprint follows after " · ". */
export function originLine(workflowName: string, runShortId: string): string {
  return `${short(workflowName, CUT.workflow)} \u00b7 run ${short(runShortId, CUT.run)}`;
}

export function noteLines(notes: CardNotes): Phrase[] {
  const lines: Phrase[] = [];
  if (notes.possibleRepeatOf !== undefined) {
    lines.push(["Possible repeat of the card from ", clock(notes.possibleRepeatOf), "; answering either one counts."]);
  }
  if (notes.offeredAgain !== undefined) lines.push(offlineLine(notes.offeredAgain.from, notes.offeredAgain.to));
  if (notes.shownAgain !== undefined) {
    lines.push(["Shown again below at ", clock(notes.shownAgain), "; either counts."]);
  }
  if (notes.sourceChanged === true) {
    lines.push([
      "The workflow\u2019s files are not as when this was asked. An answer is kept, but the run will wait until they are restored, or somebody cancels it.",
    ]);
  }
  if (notes.escalated !== undefined) lines.push(escalationLine(notes.escalated));
  return lines;
}

export function offlineLine(from: number, to: number): Phrase {
  return ["I was offline from ", clock(from), " to ", clock(to), ". If you tapped in that time, please tap again."];
}

/** What became of the decision. `textUnits` bounds the excerpt of a text that went with the choice. */
export function verdictLine(status: CardStatus, textUnits: number = CUT.excerpt): Phrase {
  switch (status.kind) {
    case "pending":
      return [];
    case "chosen": {
      const text = status.text === undefined || textUnits < 4 ? "" : ` ${quote(status.text, textUnits - 3)}`;
      if (status.provenance === "timeout_policy") {
        return ["No answer by ", day(status.at), `: ${short(status.label, CUT.label)} was used.${text}`];
      }
      const by = byName(status.by);
      const where = status.channel === undefined ? "" : `, ${place(status.channel)}`;
      const local = status.assurance === "local" ? " (local)" : "";
      const grace =
        status.graceAfterOutage === true ? " It counts, because the deadline passed while I was offline." : "";
      return [`${outcome(status.label)}${by}, `, day(status.at), `${where}${local}.${grace}${text}`];
    }
    case "expired":
      return ["No answer by ", day(status.at), ". The decision expired."];
    case "cancelled": {
      const by = byName(status.by);
      const reason = status.reason === undefined ? "" : `: ${short(status.reason, CUT.reason)}`;
      const where = status.channel === undefined ? "" : `, ${place(status.channel)}`;
      return [`Cancelled${by}, `, day(status.at), `${where}${reason}.`];
    }
    case "superseded":
      return ["Out of date since ", day(status.at), ": a newer version of this question took its place."];
  }
}

const STORY: Readonly<Record<CardStory["outcome"], string>> = {
  completed: "Run completed ",
  failed: "Run failed ",
  timed_out: "Run timed out ",
  cancelled: "Run cancelled ",
  parked: "Run waits since ",
};

/** "Run completed 12:09: 4.12.0 is live."; `detailUnits` bounds the detail. */
export function storyLine(story: CardStory, detailUnits: number = CUT.excerpt): Phrase {
  const detail =
    story.detail === undefined || detailUnits < 4 ? "." : `: ${sentence(short(story.detail, detailUnits - 3))}`;
  return [STORY[story.outcome], clock(story.at), detail];
}

/** The label of the one dead button that a settled card keeps where the client can show it. */
export function settledButton(status: CardStatus): Phrase {
  switch (status.kind) {
    case "pending":
      return [];
    case "chosen": {
      if (status.provenance === "timeout_policy")
        return [`${short(status.label, TELEGRAM.buttonUnits - 12)} used `, clock(status.at)];
      const by = status.by === undefined ? "" : ` by ${short(status.by, 16)}`;
      return [`${cutToUnits(outcome(status.label), 24)}${by} `, clock(status.at)];
    }
    case "expired":
      return ["Expired ", clock(status.at)];
    case "cancelled":
      return [`Cancelled${status.by === undefined ? "" : ` by ${short(status.by, 16)}`} `, clock(status.at)];
    case "superseded":
      return ["Out of date"];
  }
}
