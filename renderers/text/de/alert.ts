// Alerts in German: the first line says what it is and how it stands, so that the chat list alone is enough.

import type {
  AlertAction,
  AlertLine,
  AlertModel,
  AlertName,
  AlertOrigin,
  Condition,
} from "../../../src/contracts/alert.ts";
import type { AlertReply } from "../../../src/contracts/decision/alert-codes.ts";
import { inert } from "../../../src/contracts/decision/inert.ts";
import { ALERT, MONITOR } from "../../../src/contracts/limits.ts";
import { fitting, GLYPH, glyphOf, isReport, markOf, OVER, subjectOf, worst, type Kind, type Member } from "../shape.ts";
import { clock, day } from "../en/time.ts";
import { CUT, many, short, upperFirst } from "../en/words.ts";
import type { Phrase } from "../phrase.ts";
import { originLine } from "./card.ts";
import { findingPhrase } from "./findings.ts";
import { notificationGlyph } from "./notification.ts";
import { duration, durationAfter } from "./time.ts";
import { byName, quote } from "./words.ts";

const CONDITION: Readonly<Record<Condition, { readonly is: string; readonly was: string; readonly over: string }>> = {
  down: { is: "ist ausgefallen", was: "war ausgefallen", over: "ist wieder da" },
  degraded: { is: "ist beeintr\u00e4chtigt", was: "war beeintr\u00e4chtigt", over: "ist wieder in Ordnung" },
  failing: { is: "scheitert", was: "scheiterte", over: "gelingt wieder" },
  late: { is: "ist versp\u00e4tet", was: "war versp\u00e4tet", over: "ist wieder p\u00fcnktlich" },
  unknown: { is: "ist nicht zu sehen", was: "war nicht zu sehen", over: "ist wieder zu sehen" },
  unstable: { is: "ist instabil", was: "war instabil", over: "ist wieder stabil" },
};

/** "shop.example ist ausgefallen", or the author's own sentence. */
export function alertTitle(alert: AlertName): string {
  const { condition, title } = alert;
  if (title !== null) return short(title, ALERT.titleUnits);
  return condition === null ? subjectOf(alert) : `${subjectOf(alert)} ${CONDITION[condition].is}`;
}

const unrest = (alert: AlertName): string => `${subjectOf(alert)} wechselt st\u00e4ndig`;

/** The first line of a message, without and with its glyph apart: only the words are marked. */
export function alertHeading(alert: AlertModel): {
  readonly glyph: string;
  readonly text: string;
  readonly rest: Phrase;
} {
  switch (alert.kind) {
    case "card": {
      const text = alert.state === "flapping" ? unrest(alert) : alertTitle(alert);
      if (isReport(alert))
        return { glyph: GLYPH[alert.severity], text, rest: alert.state === "recovered" ? [" \u00b7 fertig"] : [] };
      return { glyph: glyphOf(alert), text, rest: alert.state === "recovered" ? [" \u00b7 vorbei"] : [] };
    }
    case "closing":
      return isReport(alert)
        ? { glyph: notificationGlyph("final", alert.severity), text: alertTitle(alert), rest: [] }
        : { glyph: OVER, text: overTitle(alert), rest: [] };
    case "reminder":
      return { glyph: GLYPH[alert.severity], text: `Noch immer: ${alertTitle(alert)}`, rest: [] };
    case "digest": {
      const open = alert.members.filter(({ state }) => state !== "recovered").length;
      const all = alert.members.length;
      if (open === 0) return { glyph: OVER, text: `${all} Meldungen`, rest: [" \u00b7 alle vorbei"] };
      return {
        glyph: GLYPH[worst(alert.members)],
        text: `${all} Meldungen zugleich`,
        rest: open === all ? [] : [` \u00b7 ${all - open} vorbei`],
      };
    }
    case "digestClosing":
      return { glyph: OVER, text: `Alle ${alert.total} Meldungen sind vorbei`, rest: [] };
    case "digestReminder":
      return { glyph: GLYPH.warning, text: `Noch ${alert.open} von ${alert.total} Meldungen`, rest: [] };
  }
}

function overTitle(alert: Kind<"closing">): string {
  const { condition, over } = alert;
  if (over !== null) return short(over, ALERT.titleUnits);
  if (alert.title !== null || condition === null) return `Vorbei: ${alertTitle(alert)}`;
  return `${subjectOf(alert)} ${CONDITION[condition].over}`;
}

/** A line of evidence. */
export function alertLine(line: AlertLine): Phrase {
  if (typeof line === "string") return [inert(line).trimEnd()];
  if ("finding" in line) {
    const [first = "", ...rest] = findingPhrase(line.finding);
    const often = line.checks === undefined || line.checks === 1 ? "" : ` bei ${line.checks} Pr\u00fcfungen`;
    return [typeof first === "string" ? upperFirst(first) : first, ...rest, often];
  }
  if ("changes" in line) return [`${line.changes} Wechsel in ${durationAfter(line.spanMs)}. Ruhe, bis es stabil ist.`];
  if ("runbook" in line) return [`Anleitung: ${short(line.runbook, MONITOR.runbookChars)}`];
  return [repairLine(line)];
}

function repairLine({ by, error, repair, run }: Extract<AlertLine, { repair: unknown }>): string {
  const who = by === undefined ? " aus eigener Befugnis" : byName(by);
  if (repair === "refused") return `Die Reparatur war nicht zu starten: ${short(error ?? "", CUT.reason)}`;
  return repair === "wanted"
    ? `Eine Reparatur wird gew\u00fcnscht${who}.`
    : `Reparatur gestartet${who}: Lauf ${short(run ?? "", CUT.run)}.`;
}

/** The lines under the first one. */
export function alertBody(alert: AlertModel): Phrase[] {
  const repeat: Phrase[] =
    alert.possibleRepeatOf === undefined
      ? []
      : [["M\u00f6gliche Wiederholung der Nachricht von ", clock(alert.possibleRepeatOf), "."]];
  return [...bodyOf(alert), ...repeat];
}

function bodyOf(alert: AlertModel): Phrase[] {
  switch (alert.kind) {
    case "card":
      return [...fitting(alert.lines, alertLine), ...standing(alert), ...doneLines(alert), ...origin(alert.origin)];
    case "closing":
      return isReport(alert)
        ? [...fitting(alert.lines, alertLine), ...origin(alert.origin)]
        : [span(alert), ...unstable(alert), ...fitting(alert.lines, alertLine)];
    case "reminder":
      return [reminder(alert)];
    case "digest":
      return alert.until === undefined
        ? [["Seit ", clock(alert.from), "."]]
        : [["Von ", day(alert.from), " bis ", clock(alert.until), "."]];
    case "digestClosing":
      return alert.delivered
        ? [[`Nach ${durationAfter(alert.until - alert.from)} (`, clock(alert.from), " bis ", clock(alert.until), ")."]]
        : [
            [
              "Sie galten von ",
              clock(alert.from),
              " bis sp\u00e4testens ",
              clock(alert.until),
              "; die Liste war nicht zuzustellen.",
            ],
          ];
    case "digestReminder":
      return [[`Seit ${durationAfter(alert.at - alert.from)}, um `, clock(alert.from), "."]];
  }
}

function standing(alert: Kind<"card">): Phrase[] {
  const { at, changes, holds, seen, since, state, until } = alert;
  if (isReport(alert)) return [];
  if (state === "recovered")
    return [["Es dauerte ", duration((until ?? at) - since), ": ", day(since), " bis ", clock(until ?? at), "."]];
  if (state === "flapping") {
    const now = holds ? `Jetzt: ${alertTitle(alert)}.` : "Jetzt: nicht so.";
    return [[`${changes} Mal in ${durationAfter(at - since)}. Ruhe, bis es stabil ist.`], [now]];
  }
  const often = seen > 1 ? `, ${seen} Mal gesehen` : "";
  const lasts = at - since >= 60_000 ? ` (${duration(at - since)})` : "";
  return [["Seit ", clock(since), `${lasts}${often}.`]];
}

function doneLines({ acknowledged, repair, snoozed, state }: Kind<"card">): Phrase[] {
  const lines: Phrase[] = [];
  if (acknowledged !== undefined)
    lines.push([`\u00dcbernommen${byName(acknowledged.by)}, `, clock(acknowledged.at), "."]);
  if (snoozed !== undefined && state !== "recovered")
    lines.push([`Stumm${byName(snoozed.by)} bis `, clock(snoozed.until), "."]);
  if (repair?.asked !== undefined)
    lines.push([`Reparatur verlangt${byName(repair.asked.by)}, `, clock(repair.asked.at), "."]);
  return lines;
}

function origin(given: AlertOrigin | undefined): Phrase[] {
  if (given === undefined) return [];
  if (given.kind === "workflow") return [[originLine(given.name, given.run ?? "")]];
  return [[`Monitor ${short(given.name, CUT.workflow)}`]];
}

/** "Es war von 03:10 bis 03:25 ausgefallen; die Meldung war nicht zuzustellen." */
function span(alert: Kind<"closing">): Phrase {
  const { condition, delivered, since, title, until } = alert;
  if (delivered) return [`Nach ${durationAfter(until - since)} (`, clock(since), " bis ", clock(until), ")."];
  const was =
    title === null && condition !== null
      ? `${subjectOf(alert)} ${CONDITION[condition].was}`
      : `${quote(title ?? alert.subject)} galt`;
  return [`${was}, von `, clock(since), " bis ", clock(until), "; die Meldung war nicht zuzustellen."];
}

function unstable({ changes }: Kind<"closing">): Phrase[] {
  return changes === 0 ? [] : [[`Es hat ${changes} Mal gewechselt und ist jetzt stabil.`]];
}

function reminder({ at, last, number, since, snoozeOver }: Kind<"reminder">): Phrase {
  const what = snoozeOver
    ? "Die Ruhe ist vorbei."
    : last
      ? "Letzte Erinnerung: niemand hat es \u00fcbernommen."
      : number === 1
        ? "Niemand hat es bisher \u00fcbernommen."
        : `Erinnerung ${number}: niemand hat es bisher \u00fcbernommen.`;
  return [`${what} Es dauert ${duration(at - since)}, seit `, clock(since), "."];
}

/** One member of a list; `units` is the room that its name may take. */
export function memberLine(member: Member, units: number): string {
  const name = member.state === "flapping" ? unrest(member) : alertTitle(member);
  return `${glyphOf(member)} ${short(name, units)}${markOf(member)}`;
}

const BUTTON: Readonly<Record<AlertAction, { readonly one: string; readonly all: string }>> = {
  acknowledge: { one: "\u00dcbernehmen", all: "Alle \u00fcbernehmen" },
  snooze: { one: "1 h Ruhe", all: "1 h Ruhe, alle" },
  repair: { one: "Reparieren\u2026", all: "Alle reparieren\u2026" },
};

export function alertButton(action: AlertAction, all: boolean): string {
  return BUTTON[action][all ? "all" : "one"];
}

const DONE: Readonly<Record<AlertAction, string>> = {
  acknowledge: "\u00fcbernommen",
  snooze: "stumm",
  repair: "zur Reparatur gemeldet",
};

/** What somebody is told who pressed a button of an alert. */
export function alertReplyPhrase(code: AlertReply): Phrase {
  switch (code.code) {
    case "alertDone":
      return code.action === "snooze"
        ? ["Stumm bis ", clock(code.at), "."]
        : [code.action === "repair" ? "Die Reparatur ist verlangt." : "\u00dcbernommen."];
    case "alertsDone": {
      const done = `${many(code.count, "Meldung", "Meldungen")} ${DONE[code.action]}`;
      return code.action === "snooze" ? [`${done} bis `, clock(code.at), "."] : [`${done}.`];
    }
    case "alertBefore":
      return [`Schon ${DONE[code.action]}${byName(code.by)} um `, clock(code.at), "."];
    case "alertOver":
      return ["Es ist vorbei seit ", clock(code.at), "."];
    case "alertNotOnList":
      return ["Sie stehen nicht auf der Liste f\u00fcr diese Meldungen."];
  }
}
