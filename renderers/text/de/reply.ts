// Toasts and replies in German: a code with values, chosen by the server, becomes a sentence.

import type { DeafCause, ReplyCode } from "../../../src/contracts/decision/codes.ts";
import { cutToUnits } from "../../../src/contracts/decision/graphemes.ts";
import { inert } from "../../../src/contracts/decision/inert.ts";
import { DECISION, TELEGRAM } from "../../../src/contracts/limits.ts";
import { clock } from "../en/time.ts";
import { CUT, sentence, short } from "../en/words.ts";
import type { Clock, Phrase, TimePiece } from "../phrase.ts";
import { alertReplyPhrase } from "./alert.ts";
import { offlineLine, verdictLine } from "./card.ts";
import { escalationPhrase, reminderPhrase } from "./notices.ts";
import { operatorPhrase } from "./operator.ts";
import { plain } from "./time.ts";
import { byName, characters, doneVerb, outcome, place, quote } from "./words.ts";

/** What a person is told after a tap, as a toast: at most 200 characters. A prompt for text is announced, not repeated. */
export function ackText(code: ReplyCode, at: Clock): string {
  const told: ReplyCode = code.code === "promptText" ? { code: "promptSent", label: code.label } : code;
  return cutToUnits(plain(replyPhrase(told), at), TELEGRAM.toastChars);
}

/** The same as the plain text of a message. */
export function replyText(code: ReplyCode, at: Clock): string {
  return plain(replyPhrase(code), at);
}

const GRACE = " Sie z\u00e4hlt, weil die Frist ablief, als ich nicht erreichbar war.";

/** What a person is told, by code and values. */
export function replyPhrase(code: ReplyCode): Phrase {
  switch (code.code) {
    case "received":
      return ["Erhalten, wird gepr\u00fcft. Das Ergebnis folgt als Nachricht."];
    case "chosen":
      return [`${outcome(code.label)}.${code.graceAfterOutage === true ? GRACE : ""}`];
    case "textAccepted":
      return [`Verstanden: ${short(code.label, CUT.label)}, ${quote(code.text)}.`];
    case "votesRecorded": {
      const recorded = `Notiert: ${code.have} von ${code.need} f\u00fcr ${short(code.label, CUT.label)}`;
      return [
        code.everybodyVoted === true
          ? `${recorded}. Alle haben abgestimmt, und keine Wahl hat genug; Sie k\u00f6nnen Ihre Stimme noch \u00e4ndern.`
          : `${recorded}, wartet auf ${more(code.need - code.have)}.`,
      ];
    }
    case "alreadyDecided": {
      const by = code.byReader === true ? " von Ihnen" : byName(code.by);
      const done = doneVerb(code.label);
      if (done !== undefined) return [`Schon ${done}${by} um `, clock(code.at), "."];
      return [`Schon entschieden${by} um `, clock(code.at), `: ${quote(code.label, CUT.label)}.`];
    }
    case "notOnList":
      return ["Sie stehen nicht auf der Liste f\u00fcr diese Entscheidung."];
    case "remoteOnly":
      return [
        "Diese Entscheidung nimmt Antworten nur von einem Telefon oder anderen Ger\u00e4t, nicht von diesem Rechner.",
      ];
    case "wrongChannel":
      return [`Diese Entscheidung nimmt Antworten nur ${code.channels.map(place).join(" oder ")}.`];
    case "terminalOff":
      return ["Diese Entscheidung l\u00e4sst sich nicht am Terminal beantworten: ihr Kreis nennt dieses Ziel nicht."];
    case "piOff":
      return ["Diese Entscheidung l\u00e4sst sich nicht in Pi beantworten: ihr Kreis nennt dieses Ziel nicht."];
    case "nameDecision":
      return [
        `Nennen Sie die Entscheidung, die Sie meinen, damit keine andere beantwortet wird: /workflow answer ${code.fingerprint} …`,
      ];
    case "accountUnmapped":
      return [
        "Diese Entscheidung braucht mehrere Personen, und Ihr Konto ist hier keiner zugeordnet. Bitten Sie darum, es einzutragen.",
      ];
    case "stale":
      return [
        "Diese Fassung ist veraltet; ",
        code.newCard ? "die neue Karte steht unten." : "suchen Sie die neuere Karte.",
      ];
    case "expired":
      return [
        "Die Zeit daf\u00fcr lief ab um ",
        clock(code.at),
        code.label === undefined ? "." : `: Es gilt ${short(code.label, CUT.label)}.`,
      ];
    case "unknownButton":
      return ["Diese Taste geh\u00f6rt zu keiner Entscheidung, die wartet."];
    case "unknownDecision":
      return [`Eine Entscheidung ${quote(code.given, CUT.given)} ist hier nicht bekannt.`];
    case "unknownChoice": {
      const labels = code.labels.map((label) => short(label, CUT.label)).join(", ");
      return [`${quote(code.given, CUT.given)} steht nicht zur Wahl: ${labels}.`];
    }
    case "promptText":
      return [
        `${code.again === true ? promptAgain : ""}${inert(code.prompt, { lines: true }).trim()} Antworten Sie auf diese Nachricht.${lengths(code.minLength, code.maxLength)}`,
      ];
    case "promptSent":
      return [`${short(code.label, CUT.label)}: Antworten Sie mit Ihrem Text auf die Nachricht darunter.`];
    case "textRequired":
      return [`${short(code.label, CUT.label)} braucht einen Text.`];
    case "textNotExpected":
      return [`${short(code.label, CUT.label)} nimmt keinen Text. W\u00e4hlen Sie ohne.`];
    case "textTooShort":
      return [
        `Das ist zu kurz: ${characters(code.seen)}, mindestens ${code.limit} n\u00f6tig. Antworten Sie noch einmal.`,
      ];
    case "textTooLong":
      return [
        `Das ist zu lang: ${characters(code.seen)}, h\u00f6chstens ${code.limit} passen. Antworten Sie k\u00fcrzer.`,
      ];
    case "textInvalid":
      return ["Dieser Text enth\u00e4lt Zeichen, die sich nicht speichern lassen. Antworten Sie noch einmal ohne sie."];
    case "textOnly":
      return ["Hier geht nur Text. Antworten Sie noch einmal mit Text."];
    case "editIgnored":
      return ["Eine Antwort zu bearbeiten \u00e4ndert nichts; es z\u00e4hlt, was Sie zuerst gesendet haben."];
    case "anonymousReply":
      return [
        "Die Antwort eines anonymen Admins l\u00e4sst sich keiner Person zuordnen. Schalten Sie \u201eAnonym bleiben\u201c aus und antworten Sie noch einmal.",
      ];
    case "help":
      return [helpText(code.waiting)];
    case "unknownCommand": {
      const nearest =
        code.nearest === undefined ? " /help nennt sie." : ` Meinten Sie /${short(code.nearest, CUT.given)}?`;
      return [`${quote(code.given, CUT.given)} ist hier kein Befehl.${nearest}`];
    }
    case "cancelled":
      return [
        `Abgebrochen${byName(code.by)} um `,
        clock(code.at),
        code.reason === undefined ? "." : `: ${sentence(short(code.reason, CUT.reason))}`,
      ];
    case "offline":
      return offlineLine(code.from, code.to);
    case "sourceChanged":
      return [
        `Notiert, aber Lauf ${short(code.run, CUT.run)} wartet: die Dateien seines Workflows haben sich seit der Frage ge\u00e4ndert. Stellen Sie sie wieder her und setzen Sie den Lauf fort, oder brechen Sie ihn ab.`,
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
      return [recoveredText(code)];
    case "didArrive": {
      const what =
        code.what === undefined ? "eine Karte" : code.what === "alert" ? "eine Meldung" : "eine Liste von Meldungen";
      const where =
        code.person === undefined ? `Chat ${short(code.chat, CUT.given)}` : `Chat von ${short(code.person, CUT.name)}`;
      return [
        `\u26a0\ufe0f Ist ${what} im ${where} angekommen?\n${quote(code.title, 80)}, gesendet `,
        clock(code.at),
        ". Telegram hat es nicht best\u00e4tigt.",
      ];
    }
    case "arrivalSettled":
      return [arrivalText(code)];
    case "offlineDigest":
      return digestPhrase(code);
    case "shownAgain":
      return [`${quote(code.title, 80)} wird unten noch einmal gezeigt.`];
    case "channelDeaf":
      return [
        `\u26a0\ufe0f ${short(code.channel, CUT.given)} h\u00f6rt nichts seit `,
        clock(code.since),
        `: ${DEAF_WHY[code.cause]}`,
      ];
    case "channelHears":
      return [
        `\u2705 ${short(code.channel, CUT.given)} h\u00f6rt wieder. Nicht geh\u00f6rt hat es von `,
        clock(code.since),
        " bis ",
        clock(code.until),
        code.cause === "conflict"
          ? "; wer dort in dieser Zeit auf eine Karte getippt hat, die noch wartet, tippe noch einmal."
          : "; was dort getippt wurde, wird jetzt gelesen.",
      ];
    case "connected":
      return [
        `\u2705 Holdpoint ist verbunden. Entscheidungen f\u00fcr ${quote(code.audience, CUT.given)} erscheinen hier als Karten mit Tasten. Das war ein Test; nichts wartet auf Sie.`,
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
    "ein anderes Programm nimmt die Nachrichten dieses Bots, also gehen Antworten dort verloren. Beenden Sie es, oder geben Sie Holdpoint einen eigenen Bot.",
  unreachable:
    "Telegram antwortet dem Server nicht. Antworten warten dort so lange. Pr\u00fcfen Sie das Netz des Servers.",
  token: "Telegram nimmt das Token des Bots nicht an. Legen Sie ein g\u00fcltiges in seine Token-Datei.",
  adapter: "sein Adapter endet immer wieder. Siehe `holdpoint channel status` auf dem Server.",
};

function recoveredText({ action, id, title }: Extract<ReplyCode, { code: "recovered" }>): string {
  const what = `${quote(title, 80)} (${short(id, 16)})`;
  switch (action) {
    case "drop":
      return `Verworfen: ${what} wird nicht noch einmal gesendet.`;
    case "confirm":
      return `Notiert: ${what} ist angekommen.`;
    case "retry":
      return `Wird noch einmal gesendet: ${what}. Kam die erste doch an, z\u00e4hlt eine Antwort auf eine der beiden.`;
  }
}

function digestPhrase(code: Extract<ReplyCode, { code: "offlineDigest" }>): Phrase {
  const waiting = code.cards.filter(({ over }) => over !== true).length;
  const count = waiting + code.more;
  const head =
    count === 0
      ? "Keine davon wartet noch:"
      : count === 1
        ? "Eine Entscheidung wartet hier:"
        : `${count} Entscheidungen warten hier:`;
  const phrase: (string | TimePiece)[] = [...offlineLine(code.from, code.to), `\n\n${head}`];
  for (const { fingerprint, over, title } of code.cards)
    phrase.push(`\n\u2022 ${short(title, 80)} (${short(fingerprint, 6)})${over === true ? ": vorbei" : ""}`);
  if (code.more > 0) phrase.push(`\nund ${code.more} weitere.`);
  return waiting === 0 ? phrase : [...phrase, "\n\nTippen Sie auf eine, um ihre Karte wiederzusehen."];
}

function statusPhrase(code: Extract<ReplyCode, { code: "channelStatus" }>): Phrase {
  const queued =
    code.queued === 0 ? "" : `, ${code.queued} ${code.queued === 1 ? "Nachricht" : "Nachrichten"} noch zu senden`;
  const waiting =
    code.waiting === 0
      ? "Keine Entscheidung wartet"
      : code.waiting === 1
        ? "1 Entscheidung wartet"
        : `${code.waiting} Entscheidungen warten`;
  const phrase: (string | TimePiece)[] = [`${short(code.channel, CUT.given)}: ${waiting}${queued}.`];
  if (code.doubtful.length === 0) return [...phrase, " Nichts braucht Sie."];
  // As many as one message holds whatever their titles; the terminal lists them all.
  const shown = code.doubtful.slice(0, 20);
  phrase.push("\nSind diese angekommen? Telegram hat sie nicht best\u00e4tigt:");
  for (const { at, id, title } of shown)
    phrase.push(`\n\u2022 ${short(id, 16)}: ${quote(title, 80)}, gesendet `, clock(at));
  if (shown.length < code.doubtful.length) phrase.push(`\nund ${code.doubtful.length - shown.length} weitere.`);
  return [...phrase, "\nAntworten Sie mit: recover <id> confirm, oder recover <id> retry."];
}

function arrivalText({ by, how, title, what: kind }: Extract<ReplyCode, { code: "arrivalSettled" }>): string {
  const says = by === undefined ? "" : `, sagt ${short(by, CUT.name)}`;
  const what = quote(title, 80);
  switch (how) {
    case "arrived":
      return `\u2705 ${what} ist angekommen${says}.${by === undefined || kind === "alert" ? "" : " Falls die Karte fehlt: /decisions zeigt sie noch einmal."}`;
    case "resent":
      return `\u2705 ${what} ist nicht angekommen${says}, und wird noch einmal gesendet.`;
    case "dropped":
      return `\u26d4 ${what} wird nicht noch einmal gesendet${says}.`;
    case "over":
      return kind !== undefined
        ? `\u2705 Nichts mehr zu antworten: ${what} ist vorbei oder \u00fcbernommen.`
        : `\u2705 Nichts mehr zu antworten: die Entscheidung \u00fcber ${what} ist vorbei.`;
  }
}

/** The words on the buttons under a message, by the ids of `buttonIdsOf`. */
export function replyButton(code: ReplyCode, id: string): string {
  if (code.code === "offlineDigest") {
    const card = code.cards.find((listed) => listed.id === id);
    return card === undefined ? short(id, TELEGRAM.buttonUnits) : short(card.title, TELEGRAM.buttonUnits);
  }
  const words: Readonly<Record<string, string>> = { yes: "Ja", resend: "Nein, noch einmal", drop: "Verwerfen" };
  return words[id] ?? short(id, TELEGRAM.buttonUnits);
}

function refusalText(given: string, reason: Extract<ReplyCode, { code: "recoverRefused" }>["reason"]): string {
  const what = quote(given, CUT.given);
  switch (reason) {
    case "unknown":
      return `Eine Nachricht ${what} ist hier nicht bekannt.`;
    case "severalFit":
      return `${what} passt zu mehreren Nachrichten. Nehmen Sie mehr von der Kennung.`;
    case "notInDoubt":
      return `Nachricht ${what} ist nicht in Zweifel; nichts zu tun.`;
    case "decided":
      return `Die Entscheidung zu ${what} ist vorbei; nichts wird noch einmal gesendet.`;
    case "usage":
      return "Schreiben Sie: recover <id> confirm, oder recover <id> retry.";
  }
}

/** Vor einer Frage, die noch einmal gestellt wird. */
const promptAgain =
  "Ich kann nicht erkennen, auf welche Nachricht Sie geantwortet haben; die Antwort wurde nicht \u00fcbernommen. Bitte senden Sie sie noch einmal. ";

function helpText(waiting: number): string {
  if (waiting === 0)
    return "Nichts wartet auf Sie. Sonst erscheint hier eine Karte mit Tasten. /help nennt, was Sie fragen k\u00f6nnen.";
  const cards = waiting === 1 ? "Eine Entscheidung wartet" : `${waiting} Entscheidungen warten`;
  return `${cards} auf Sie. Tippen Sie auf eine Taste der Karte, oder antworten Sie auf die Nachricht, die nach Text fragt; einfache Nachrichten entscheiden nichts. /decisions zeigt sie noch einmal.`;
}

const more = (count: number): string => (count === 1 ? "eine weitere" : `${count} weitere`);

function lengths(min: number, max: number): string {
  if (min <= DECISION.textDefaultMin && max >= DECISION.textDefaultMax) return "";
  if (min <= DECISION.textDefaultMin) return ` H\u00f6chstens ${characters(max)}.`;
  if (max >= DECISION.textDefaultMax) return ` Mindestens ${characters(min)}.`;
  return ` ${min} bis ${characters(max)}.`;
}
