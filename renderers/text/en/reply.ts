// Toasts and replies in English: a code with values, chosen by the server, becomes a sentence.

import type { DeafCause, ReplyCode } from "../../../src/contracts/decision/codes.ts";
import { cutToUnits } from "../../../src/contracts/decision/graphemes.ts";
import { inert } from "../../../src/contracts/decision/inert.ts";
import { DECISION, TELEGRAM } from "../../../src/contracts/limits.ts";
import type { Clock, Phrase, TimePiece } from "../phrase.ts";
import { alertReplyPhrase } from "./alert.ts";
import { offlineLine, verdictLine } from "./card.ts";
import { escalationPhrase, reminderPhrase } from "./notices.ts";
import { operatorPhrase } from "./operator.ts";
import { clock, plain } from "./time.ts";
import { byName, characters, CUT, doneVerb, lowerFirst, outcome, place, quote, sentence, short } from "./words.ts";

/** What a person is told after a tap, as a toast: at most 200 characters. A prompt for text is announced, not repeated. */
export function ackText(code: ReplyCode, at: Clock): string {
  const told: ReplyCode = code.code === "promptText" ? { code: "promptSent", label: code.label } : code;
  return cutToUnits(plain(replyPhrase(told), at), TELEGRAM.toastChars);
}

/** The same as the plain text of a message. */
export function replyText(code: ReplyCode, at: Clock): string {
  return plain(replyPhrase(code), at);
}

/** What a person is told, by code and values. */
export function replyPhrase(code: ReplyCode): Phrase {
  switch (code.code) {
    case "received":
      return ["Received, checking. The result follows as a message."];
    case "chosen":
      return [
        code.graceAfterOutage === true
          ? `${outcome(code.label)}. It counts, because the deadline passed while I was offline.`
          : `${outcome(code.label)}.`,
      ];
    case "textAccepted":
      return [`Got it: ${lowerFirst(short(code.label, CUT.label))}, ${quote(code.text)}.`];
    case "votesRecorded":
      return [
        code.everybodyVoted === true
          ? `Recorded: ${code.have} of ${code.need} for ${short(code.label, CUT.label)}. Everybody has voted, and no choice has enough; you can still change your vote.`
          : `Recorded: ${code.have} of ${code.need} for ${short(code.label, CUT.label)}, waiting for ${more(code.need - code.have)}.`,
      ];
    case "alreadyDecided": {
      const by = code.byReader === true ? " by you" : byName(code.by);
      const done = doneVerb(code.label);
      if (done !== undefined) return [`Already ${done}${by} at `, clock(code.at), "."];
      return [`Already decided${by} at `, clock(code.at), `: ${quote(code.label, CUT.label)}.`];
    }
    case "notOnList":
      return ["You are not on the list for this decision."];
    case "remoteOnly":
      return ["This decision takes answers from a phone or another device only, not from this machine."];
    case "wrongChannel":
      return [`This decision takes answers ${code.channels.map(place).join(" or ")} only.`];
    case "terminalOff":
      return ["This decision cannot be answered at the terminal: its audience does not name that destination."];
    case "piOff":
      return ["This decision cannot be answered in Pi: its audience does not name that destination."];
    case "nameDecision":
      return [
        `Name the decision that you mean, so that no other one is answered: /workflow answer ${code.fingerprint} …`,
      ];
    case "accountUnmapped":
      return [
        "This decision needs several people, and your account is not assigned to a person here. Ask your operator to add it.",
      ];
    case "stale":
      return ["This version is out of date; ", code.newCard ? "the new card is below." : "look for the newer card."];
    case "expired":
      return [
        "The time for this ran out at ",
        clock(code.at),
        code.label === undefined ? "." : `: ${short(code.label, CUT.label)} was used.`,
      ];
    case "unknownButton":
      return ["This button does not belong to a decision that is waiting."];
    case "unknownDecision":
      return [`No decision ${quote(code.given, CUT.given)} is known here.`];
    case "unknownChoice": {
      const labels = code.labels.map((label) => short(label, CUT.label)).join(", ");
      return [`${quote(code.given, CUT.given)} is not one of the choices: ${labels}.`];
    }
    case "promptText":
      return [
        `${code.again === true ? promptAgain : ""}${inert(code.prompt, { lines: true }).trim()} Reply to this message.${lengths(code.minLength, code.maxLength)}`,
      ];
    case "promptSent":
      return [`${short(code.label, CUT.label)}: reply to the message below with your text.`];
    case "textRequired":
      return [`${short(code.label, CUT.label)} needs a text.`];
    case "textNotExpected":
      return [`${short(code.label, CUT.label)} takes no text. Choose it without one.`];
    case "textTooShort":
      return [`That is too short: ${characters(code.seen)}, at least ${code.limit} needed. Reply again.`];
    case "textTooLong":
      return [`That is too long: ${characters(code.seen)}, at most ${code.limit} fit. Reply again with less.`];
    case "textInvalid":
      return ["That text holds characters that cannot be stored. Reply again without them."];
    case "textOnly":
      return ["Only text can be taken here. Reply again with text."];
    case "editIgnored":
      return ["Editing a reply changes nothing; what you sent first counts."];
    case "anonymousReply":
      return [
        "A reply from an anonymous admin cannot be matched to a person. Turn off \u201cRemain anonymous\u201d and reply again.",
      ];
    case "help":
      return [helpText(code.waiting)];
    case "unknownCommand": {
      const nearest =
        code.nearest === undefined ? " /help lists them." : ` Did you mean /${short(code.nearest, CUT.given)}?`;
      return [`${quote(code.given, CUT.given)} is not a command here.${nearest}`];
    }
    case "cancelled": {
      const by = byName(code.by);
      return [
        `Cancelled${by} at `,
        clock(code.at),
        code.reason === undefined ? "." : `: ${sentence(short(code.reason, CUT.reason))}`,
      ];
    }
    case "offline":
      return offlineLine(code.from, code.to);
    case "sourceChanged":
      return [
        `Recorded, but run ${short(code.run, CUT.run)} waits: its workflow files changed since the question. Restore them and resume the run, or cancel it.`,
      ];
    case "outcome":
      return [`${short(code.title, 80)} (${short(code.fingerprint, 6)}): `, ...verdictLine(code.status)];
    case "reminder":
      return reminderPhrase(code);
    case "escalated":
      return escalationPhrase(code);
    case "channelStatus":
      return statusPhrase(code);
    case "recovered":
      if (code.action === "drop")
        return [`Dropped: ${quote(code.title, 80)} is not sent again (${short(code.id, 16)}).`];
      return [
        code.action === "confirm"
          ? `Noted: ${quote(code.title, 80)} did arrive (${short(code.id, 16)}).`
          : `Sending ${quote(code.title, 80)} again (${short(code.id, 16)}). If the first one did arrive, answering either counts.`,
      ];
    case "didArrive": {
      const where =
        code.person === undefined
          ? `chat ${short(code.chat, CUT.given)}`
          : `${short(code.person, CUT.name)}\u2019s chat`;
      return [
        `\u26a0\ufe0f Did ${code.what === undefined ? "a card" : code.what === "alert" ? "an alert" : "a list of alerts"} arrive in ${where}?\n${quote(code.title, 80)}, sent `,
        clock(code.at),
        ". Telegram did not confirm it.",
      ];
    }
    case "arrivalSettled":
      return [arrivalText(code)];
    case "offlineDigest": {
      const waiting = code.cards.filter(({ over }) => over !== true).length;
      const count = waiting + code.more;
      const head =
        count === 0
          ? "None of these waits any more:"
          : count === 1
            ? "One decision waits here:"
            : `${count} decisions wait here:`;
      const lines: (string | TimePiece)[] = [...offlineLine(code.from, code.to), `\n\n${head}`];
      for (const { fingerprint, over, title } of code.cards)
        lines.push(`\n\u2022 ${short(title, 80)} (${short(fingerprint, 6)})${over === true ? ": over" : ""}`);
      if (code.more > 0) lines.push(`\nand ${code.more} more.`);
      return waiting === 0 ? lines : [...lines, "\n\nTap one to see its card again."];
    }
    case "shownAgain":
      return [`${quote(code.title, 80)} is shown again below.`];
    case "channelDeaf":
      return [
        `\u26a0\ufe0f ${short(code.channel, CUT.given)} has heard nothing since `,
        clock(code.since),
        `: ${DEAF_WHY[code.cause]}`,
      ];
    case "channelHears":
      return [
        `\u2705 ${short(code.channel, CUT.given)} hears again. It did not from `,
        clock(code.since),
        " to ",
        clock(code.until),
        code.cause === "conflict"
          ? "; who tapped a card there in that time and sees it still waiting should tap again."
          : "; taps from that time are read now.",
      ];
    case "connected":
      return [
        `\u2705 Holdpoint is connected. Decisions for ${quote(code.audience, CUT.given)} will appear here as cards with buttons. This was a test; nothing waits for you.`,
      ];
    case "recoverRefused":
      return [refusalText(code.given, code.reason)];
    case "alertDone":
    case "alertsDone":
    case "alertBefore":
    case "alertOver":
    case "alertNotOnList":
      return alertReplyPhrase(code);
    default:
      return operatorPhrase(code);
  }
}

const DEAF_WHY: Readonly<Record<DeafCause, string>> = {
  conflict:
    "another program takes this bot\u2019s messages, so taps and replies there get lost. Stop that program, or give Holdpoint a bot of its own.",
  unreachable:
    "Telegram does not answer the server. Taps and replies there wait until it does. Check the server\u2019s network.",
  token: "Telegram does not accept the bot\u2019s token. Put a valid one into its token file.",
  adapter: "its adapter keeps ending. See `holdpoint channel status` on the server.",
};

function statusPhrase(code: Extract<ReplyCode, { code: "channelStatus" }>): Phrase {
  const queued =
    code.queued === 0 ? "" : `, ${code.queued} ${code.queued === 1 ? "message" : "messages"} still to send`;
  const waiting =
    code.waiting === 0
      ? "No decision waits"
      : code.waiting === 1
        ? "1 decision waits"
        : `${code.waiting} decisions wait`;
  const lines: (string | TimePiece)[] = [`${short(code.channel, CUT.given)}: ${waiting}${queued}.`];
  if (code.doubtful.length === 0) return [...lines, " Nothing needs you."];
  // As many as one message holds whatever their titles; the terminal lists them all.
  const shown = code.doubtful.slice(0, 20);
  lines.push("\nDid these arrive? Telegram did not confirm them:");
  for (const { at, id, title } of shown) lines.push(`\n\u2022 ${short(id, 16)}: ${quote(title, 80)}, sent `, clock(at));
  if (shown.length < code.doubtful.length) lines.push(`\nand ${code.doubtful.length - shown.length} more.`);
  return [...lines, "\nAnswer with: recover <id> confirm, or recover <id> retry."];
}

function arrivalText({ by, how, title, what: kind }: Extract<ReplyCode, { code: "arrivalSettled" }>): string {
  const says = by === undefined ? "" : `, says ${short(by, CUT.name)}`;
  const what = quote(title, 80);
  switch (how) {
    case "arrived":
      // A person may have looked at another card; a tap on it cannot be wrong.
      return `\u2705 ${what} did arrive${says}.${by === undefined || kind === "alert" ? "" : " If the card is not there, /decisions shows it again."}`;
    case "resent":
      return `\u2705 ${what} did not arrive${says}, and is sent again.`;
    case "dropped":
      return `\u26d4 ${what} is not sent again${says === "" ? "" : byName(by)}.`;
    case "over":
      return kind !== undefined
        ? `\u2705 Nothing to answer any more: ${what} is over or taken.`
        : `\u2705 Nothing to answer any more: the decision about ${what} is over.`;
  }
}

/** The words on the buttons under a message, by the ids of `buttonIdsOf`. */
export function replyButton(code: ReplyCode, id: string): string {
  if (code.code === "offlineDigest") {
    const card = code.cards.find((listed) => listed.id === id);
    return card === undefined ? short(id, TELEGRAM.buttonUnits) : short(card.title, TELEGRAM.buttonUnits);
  }
  const words: Readonly<Record<string, string>> = { yes: "Yes", resend: "No, send again", drop: "Drop it" };
  return words[id] ?? short(id, TELEGRAM.buttonUnits);
}

function refusalText(given: string, reason: Extract<ReplyCode, { code: "recoverRefused" }>["reason"]): string {
  const what = quote(given, CUT.given);
  switch (reason) {
    case "unknown":
      return `No message ${what} is known here.`;
    case "severalFit":
      return `${what} fits several messages. Use more of its id.`;
    case "notInDoubt":
      return `Message ${what} is not in doubt; nothing to do.`;
    case "decided":
      return `The decision of ${what} is over; nothing is sent again.`;
    case "usage":
      return "Write: recover <id> confirm, or recover <id> retry.";
  }
}

/** Before a question that is asked once more. */
const promptAgain = "I cannot tell which message your reply is for, so it has not been taken. Please send it again. ";

function helpText(waiting: number): string {
  if (waiting === 0)
    return "Nothing waits for you. When something does, a card with buttons appears here. /help lists what you can ask.";
  const cards = waiting === 1 ? "One decision waits" : `${waiting} decisions wait`;
  return `${cards} for you. Tap a button on the card, or reply to the message that asks for text; plain messages decide nothing. /decisions shows it again.`;
}

const more = (count: number): string => (count === 1 ? "one more" : `${count} more`);

function lengths(min: number, max: number): string {
  if (min <= DECISION.textDefaultMin && max >= DECISION.textDefaultMax) return "";
  if (min <= DECISION.textDefaultMin) return ` At most ${characters(max)}.`;
  if (max >= DECISION.textDefaultMax) return ` At least ${characters(min)}.`;
  return ` ${min} to ${characters(max)}.`;
}
