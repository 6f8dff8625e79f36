// The operator chat in German: short lines for a phone, the answer to "does anything need me?" first.

import type {
  OperatorAction,
  OperatorButton,
  OperatorCommand,
  OperatorReply,
  OperatorUse,
} from "../../../src/contracts/decision/operator-codes.ts";
import { OPERATOR } from "../../../src/contracts/limits.ts";
import type { RunStatus } from "../../../src/contracts/run-status.ts";
import { bullet, lines } from "../shape.ts";
import { clock } from "../en/time.ts";
import { CUT, many, sentence, short } from "../en/words.ts";
import type { Phrase } from "../phrase.ts";
import { memberLine } from "./alert.ts";
import { findingPhrase } from "./findings.ts";
import { byName, quote } from "./words.ts";

type Reply<Code extends OperatorReply["code"]> = Extract<OperatorReply, { code: Code }>;
type Run = Reply<"runControlled">["run"];
type Verb = Reply<"runControlled">["verb"];

const DESCRIPTIONS: Readonly<Record<OperatorCommand, string>> = {
  status: "Wie es dem Dienst geht",
  decisions: "Was auf Sie wartet, zum Wiederzeigen",
  runs: "Was gerade l\u00e4uft",
  run: "Ein Lauf: /run 7k3f",
  pause: "Einen Lauf anhalten: /pause 7k3f",
  resume: "Einen Lauf fortsetzen: /resume 7k3f",
  cancel: "Einen Lauf abbrechen, nach R\u00fcckfrage: /cancel 7k3f",
  alerts: "Was nicht stimmt, zum \u00dcbernehmen",
  monitors: "Was beobachtet wird",
  problems: "Was jemanden braucht",
  help: "Was man fragen kann",
};

/** Of a command, in the menu of the chat. */
export function commandDescription(command: OperatorCommand): string {
  return DESCRIPTIONS[command];
}

/** An answer to an operator, line by line. */
export function operatorPhrase(code: OperatorReply): Phrase {
  switch (code.code) {
    case "serviceStatus":
      return statusPhrase(code);
    case "decisionList":
      return decisionsPhrase(code);
    case "runList":
      return runsPhrase(code);
    case "runDetail":
      return runPhrase(code);
    case "runWanted":
      return [wantedText(code)];
    case "runUnknown":
      return [`Kein Lauf passt zu ${quote(code.given, CUT.given)}. /runs nennt sie.`];
    case "runSeveral":
      return [
        lines(
          `${quote(code.given, CUT.given)} passt zu mehreren L\u00e4ufen:`,
          code.runs.map((run) => bullet(short(run, 60))),
        ),
      ];
    case "runControlled":
      return [`${DONE[code.verb]}: ${runName(code.run)}.`];
    case "runRefused":
      return [refusedText(code)];
    case "cancelAsk":
      return [`Diesen Lauf abbrechen? Es gibt kein Zur\u00fcck.\n${runLine(code.run)}`];
    case "problemList":
      return problemsPhrase(code);
    case "alertList":
      return alertsPhrase(code);
    case "monitorList":
      return monitorsPhrase(code);
    case "commandHelp":
      return [helpText(code)];
    case "moreBelow":
      return ["Mehr darunter."];
    case "runKept":
      return [`Lauf ${short(code.run, CUT.run)} geht weiter.`];
    case "buttonUsed":
      return [`Das wurde schon benutzt${byName(code.by)} um `, clock(code.at), "."];
    case "buttonOfOther":
      return ["Das darf nur dr\u00fccken, wer gefragt hat."];
  }
}

/** The label of a button under an answer. */
export function operatorButton({ action, item }: OperatorButton): string {
  const number = item > 0 ? `${item} ` : "";
  switch (action) {
    case "showAgain":
      return `${number}noch einmal zeigen`;
    case "more":
      return "Mehr";
    case "arrived":
      return `${item}: Ja`;
    case "sendAgain":
      return `${item}: Noch einmal senden`;
    case "drop":
      return `${item}: Verwerfen`;
    case "cancelRun":
      return "Lauf abbrechen";
    case "keepRun":
      return "Behalten";
    case "acknowledge":
      return `${number}\u00fcbernehmen`;
    case "snooze":
      return `${number}1 h Ruhe`;
  }
}

/** "2: noch einmal gesendet von Ann, 12:03": what was done with an answer's button, under that answer. */
export function usePhrase({ action, at, by, item }: OperatorUse): Phrase {
  const done = USED[action];
  const what = item > 0 && done.numbered ? `${item}: ${done.text.toLowerCase()}` : done.text;
  return [`${what}${byName(by)}, `, clock(at), "."];
}

const USED: Readonly<Record<OperatorAction, { readonly text: string; readonly numbered: boolean }>> = {
  showAgain: { text: "Noch einmal gezeigt", numbered: true },
  more: { text: "Mehr gezeigt", numbered: false },
  arrived: { text: "Angekommen", numbered: true },
  sendAgain: { text: "Noch einmal gesendet", numbered: true },
  drop: { text: "Verworfen", numbered: true },
  cancelRun: { text: "Abgebrochen", numbered: false },
  keepRun: { text: "Behalten", numbered: false },
  acknowledge: { text: "\u00dcbernommen", numbered: true },
  snooze: { text: "Stumm", numbered: true },
};

const DONE: Readonly<Record<Verb, string>> = { pause: "Angehalten", resume: "Geht weiter", cancel: "Abgebrochen" };

const STATUS: Readonly<Record<RunStatus, string>> = {
  queued: "ist noch nicht dran",
  running: "l\u00e4uft",
  waiting: "wartet auf Antwort",
  paused: "angehalten",
  parked: "steht still",
  ambiguous: "braucht jemanden",
  completed: "fertig",
  failed: "gescheitert",
  timed_out: "Zeit um",
  cancelled: "abgebrochen",
};

/** Of several runs, where that reads differently. */
const SEVERAL: Readonly<Partial<Record<RunStatus, string>>> = {
  queued: "sind noch nicht dran",
  running: "laufen",
  waiting: "warten auf Antwort",
  parked: "stehen still",
  ambiguous: "brauchen jemanden",
};

function runName({ run, workflow }: Run): string {
  return `Lauf ${short(run, CUT.run)} (${short(workflow, CUT.workflow)})`;
}

function runLine({ run, status, title, workflow }: Run): string {
  const named = title === undefined ? "" : `, ${short(title, OPERATOR.titleUnits)}`;
  return `${short(run, CUT.run)} \u00b7 ${short(workflow, CUT.workflow)}${named}: ${STATUS[status]}`;
}

function statusPhrase(code: Reply<"serviceStatus">): Phrase {
  const { alerts = 0, channels, decisions, moreProblems, problems, runs, since } = code;
  const phrase: Phrase[number][] =
    since === undefined ? ["Dienst: l\u00e4uft"] : ["Dienst: l\u00e4uft seit ", clock(since)];
  for (const { channel, lastPollAt, state } of channels) {
    const name = `\n${short(channel, CUT.given)}: ${CHANNEL[state]}`;
    if (lastPollAt === undefined) phrase.push(`${name}, noch nichts geh\u00f6rt`);
    else phrase.push(`${name}, zuletzt geh\u00f6rt `, clock(lastPollAt));
  }
  const counts = runs
    .map(({ count, status }) => `${count} ${count === 1 ? STATUS[status] : (SEVERAL[status] ?? STATUS[status])}`)
    .join(", ");
  phrase.push(`\nL\u00e4ufe: ${counts === "" ? "keine" : counts}`);
  phrase.push(`\nEntscheidungen f\u00fcr Sie: ${decisions === 0 ? "keine" : `${decisions} (/decisions)`}`);
  if (alerts > 0) phrase.push(`\nMeldungen: ${holding(alerts)}`);
  phrase.push(
    `\nProbleme: ${problems === 0 ? "nichts braucht Sie" : `${problems}${orMore(moreProblems)} (/problems)`}`,
  );
  return [...phrase, ...checksPhrase(code.checks)];
}

const holding = (alerts: number): string => `${alerts === 1 ? "eine gilt" : `${alerts} gelten`} (/alerts)`;

function alertsPhrase({ from, items, total }: Reply<"alertList">): Phrase {
  if (total === 0) return ["Keine Meldung gilt."];
  const phrase: Phrase[number][] = [
    total === 1 ? "Eine Meldung gilt:" : `${total} Meldungen gelten${shown(from, items.length, total)}:`,
  ];
  for (const { item, since, ...member } of items)
    phrase.push(`\n${item}. ${memberLine(member, OPERATOR.titleUnits)}, seit `, clock(since));
  return phrase;
}

function checksPhrase({ nextAt, total, troubled }: Reply<"serviceStatus">["checks"]): Phrase {
  if (total === 0) return ["\nPr\u00fcfungen: keine"];
  const bad = troubled === 0 ? "alles in Ordnung" : `${troubled} nicht in Ordnung (/monitors)`;
  const counted = `\nPr\u00fcfungen: ${many(total, "Monitor", "Monitore")}, ${bad}`;
  return nextAt === undefined ? [counted] : [`${counted}, die n\u00e4chste `, clock(nextAt)];
}

const STANDING = { new: "noch unbekannt", up: "da", down: "ausgefallen", unstable: "instabil" } as const;

function monitorsPhrase({ alerts = 0, from, items, total, troubled }: Reply<"monitorList">): Phrase {
  if (total === 0) return ["Noch wird nichts beobachtet."];
  const well = troubled === 0 ? "alles in Ordnung" : `${troubled} nicht in Ordnung`;
  const phrase: Phrase[number][] = [
    `${many(total, "Monitor", "Monitore")}, ${well}${shown(from, items.length, total)}:`,
  ];
  for (const { finding, name, since, standing, title } of items) {
    const called = title === name ? "" : ` (${short(name, CUT.workflow)})`;
    phrase.push(`\n\u2022 ${short(title, OPERATOR.titleUnits)}${called}: ${STANDING[standing]}`);
    if (since !== undefined) phrase.push(" seit ", clock(since));
    if (finding !== undefined) phrase.push("; ", ...findingPhrase(finding));
  }
  if (alerts > 0) phrase.push(`\nMeldungen: ${holding(alerts)}`);
  return phrase;
}

const CHANNEL: Readonly<Record<Reply<"serviceStatus">["channels"][number]["state"], string>> = {
  starting: "startet",
  ready: "verbunden",
  down: "nicht da",
  stopped: "angehalten",
};

function decisionsPhrase({ from, items, total }: Reply<"decisionList">): Phrase {
  if (total === 0) return ["Keine Entscheidung wartet auf Sie."];
  const phrase: Phrase[number][] = [
    total === 1
      ? "Eine Entscheidung wartet auf Sie:"
      : `${total} Entscheidungen warten auf Sie${shown(from, items.length, total)}:`,
  ];
  for (const { deadlineAt, fingerprint, item, run, title } of items) {
    phrase.push(
      `\n${item}. ${short(title, OPERATOR.titleUnits)} \u00b7 Lauf ${short(run, CUT.run)} \u00b7 ${short(fingerprint, 6)}`,
    );
    if (deadlineAt !== undefined) phrase.push(", bis ", clock(deadlineAt));
  }
  return phrase;
}

function runsPhrase({ from, items, total }: Reply<"runList">): Phrase {
  const head =
    total === 0
      ? "Kein Lauf ist offen."
      : `${many(total, "offener Lauf", "offene L\u00e4ufe")}${shown(from, items.length, total)}:`;
  return [
    lines(
      head,
      items.map((run) => bullet(runLine(run))),
    ),
  ];
}

/** ", 7 bis 12" for a page of several. */
function shown(from: number, count: number, total: number): string {
  const last = Math.min(from + count, total);
  return from === 0 && last >= total ? "" : `, ${from + 1} bis ${last}`;
}

function runPhrase(code: Reply<"runDetail">): Phrase {
  const { createdAt, decision, error, finishedAt, node, run, steps } = code;
  const phrase: Phrase[number][] = [runLine(run), "\nBegonnen ", clock(createdAt)];
  if (finishedAt !== undefined) phrase.push(", zu Ende ", clock(finishedAt));
  phrase.push(
    `\n${many(steps, "Schritt", "Schritte")}${node === undefined ? "" : `, bei ${short(node, CUT.workflow)}`}`,
  );
  if (decision !== undefined) phrase.push(`\nWartet auf: ${short(decision, OPERATOR.titleUnits)}`);
  if (error !== undefined) phrase.push(`\n${sentence(short(error, CUT.excerpt))}`);
  return phrase;
}

const TO: Readonly<Record<Reply<"runWanted">["verb"], string>> = {
  run: "zu zeigen",
  pause: "anzuhalten",
  resume: "fortzusetzen",
  cancel: "abzubrechen",
};

function wantedText({ runs, verb }: Reply<"runWanted">): string {
  if (runs.length === 0) return `Es gibt keinen Lauf ${TO[verb]}.`;
  return lines(
    `Welcher Lauf? Schreiben Sie /${verb} und seine Kennung:`,
    runs.map((run) => bullet(runLine(run))),
  );
}

function refusedText({ reason, run, verb }: Reply<"runRefused">): string {
  const name = runName(run);
  switch (reason) {
    case "ended":
      return `Nicht ${verb === "cancel" ? "abgebrochen" : verb === "pause" ? "angehalten" : "fortgesetzt"}: ${name} ist zu Ende, ${STATUS[run.status]}.`;
    case "notPaused":
      return `Nichts fortzusetzen: ${name} ist weder angehalten noch steht er still.`;
    case "waitsForDecision":
      return `Nichts fortzusetzen: ${name} wartet auf eine Entscheidung. /decisions zeigt, was auf Sie wartet.`;
    case "waitsForCheckpoint":
      return `Nichts fortzusetzen: ${name} wartet auf eine Antwort, die auf dem Server gegeben wird.`;
    case "waitsForSession":
      return `Nichts fortzusetzen: ${name} wartet auf den Agenten seiner Pi-Sitzung.`;
    case "sleeps":
      return `Nichts fortzusetzen: ${name} wartet auf eine Uhrzeit und geht von selbst weiter.`;
    case "unsettled":
      return `Nicht fortgesetzt: Bei ${name} wei\u00df niemand, ob eine Aktion gewirkt hat. Das muss jemand auf dem Server sagen.`;
  }
}

const orMore = (more = false): string => (more ? " oder mehr" : "");

function problemsPhrase({ actions = [], alerts = 0, from, items, more, runs, total }: Reply<"problemList">): Phrase {
  const holds = alerts === 0 ? [] : [`\nMeldungen: ${holding(alerts)}`];
  if (total === 0 && runs.length === 0 && actions.length === 0)
    return [more === true ? "Von den \u00e4ltesten Problemen ist keines Ihres." : "Nichts braucht Sie.", ...holds];
  const phrase: Phrase[number][] = [];
  if (total > 0)
    phrase.push(
      `${more === true ? "Mindestens " : ""}${many(total, "Nachricht braucht", "Nachrichten brauchen")} Sie${shown(from, items.length, total)}:`,
    );
  for (const { at, destination, id, item, problem, title } of items) {
    const what = title === undefined ? `Nachricht ${short(id, 16)}` : quote(title, OPERATOR.titleUnits);
    const where = short(destination, CUT.given);
    phrase.push(
      problem === "inDoubt"
        ? `\n${item}. Ist ${what} in ${where} angekommen? Telegram hat es nicht best\u00e4tigt, gesendet `
        : `\n${item}. ${what} war in ${where} nicht zu zeigen, gemacht `,
      clock(at),
    );
  }
  if (actions.length > 0) {
    phrase.push(
      `${phrase.length === 0 ? "" : "\n"}Ist das geschehen? Niemand wei\u00df es; sagen Sie es auf dem Server:`,
    );
    for (const { at, id, run, type } of actions) {
      const what = `${short(type, CUT.workflow)}, Lauf ${short(run, CUT.run)}`;
      phrase.push(`\n\u2022 ${what}, begonnen `, clock(at), `: holdpoint effect settle ${short(id, 16)}`);
    }
  }
  if (runs.length > 0) {
    const head = `${phrase.length === 0 ? "" : "\n"}L\u00e4ufe, die jemanden brauchen:`;
    phrase.push(
      lines(
        head,
        runs.map((run) => bullet(runLine(run))),
      ),
    );
  }
  return [...phrase, ...holds];
}

function helpText({ commands, waiting }: Reply<"commandHelp">): string {
  const head =
    waiting === 0
      ? "Nichts wartet auf Sie. Sonst erscheint hier eine Karte mit Tasten. Sie k\u00f6nnen fragen:"
      : `Hier ${waiting === 1 ? "wartet eine Entscheidung" : `warten ${waiting} Entscheidungen`}: Tippen Sie auf eine Taste der Karte. Sie k\u00f6nnen fragen:`;
  return lines(
    head,
    commands.map((command) => `/${command} ${DESCRIPTIONS[command]}`),
  );
}
