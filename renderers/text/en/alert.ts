// Alerts in English: the first line says what it is and how it stands, so that the chat list alone is enough.

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
import type { Phrase } from "../phrase.ts";
import { fitting, GLYPH, glyphOf, isReport, markOf, OVER, subjectOf, worst, type Kind, type Member } from "../shape.ts";
import { originLine } from "./card.ts";
import { findingPhrase } from "./findings.ts";
import { notificationGlyph } from "./notification.ts";
import { clock, day, duration } from "./time.ts";
import { byName, CUT, quote, short, upperFirst } from "./words.ts";

const CONDITION: Readonly<Record<Condition, { readonly is: string; readonly over: string }>> = {
  down: { is: "down", over: "up again" },
  degraded: { is: "degraded", over: "well again" },
  failing: { is: "failing", over: "working again" },
  late: { is: "late", over: "in time again" },
  unknown: { is: "not to be seen", over: "seen again" },
  unstable: { is: "unstable", over: "stable again" },
};

/** "shop.example is down", or the author's own sentence. */
export function alertTitle(alert: AlertName): string {
  const { condition, title } = alert;
  if (title !== null) return short(title, ALERT.titleUnits);
  return condition === null ? subjectOf(alert) : `${subjectOf(alert)} is ${CONDITION[condition].is}`;
}

/** The first line of a message, without and with its glyph apart: only the words are marked. */
export function alertHeading(alert: AlertModel): {
  readonly glyph: string;
  readonly text: string;
  readonly rest: Phrase;
} {
  switch (alert.kind) {
    case "card": {
      const text = alert.state === "flapping" ? `${subjectOf(alert)} keeps changing` : alertTitle(alert);
      if (isReport(alert))
        return { glyph: GLYPH[alert.severity], text, rest: alert.state === "recovered" ? [" \u00b7 done"] : [] };
      return { glyph: glyphOf(alert), text, rest: alert.state === "recovered" ? [" \u00b7 over"] : [] };
    }
    case "closing":
      return isReport(alert)
        ? { glyph: notificationGlyph("final", alert.severity), text: alertTitle(alert), rest: [] }
        : { glyph: OVER, text: overTitle(alert), rest: [] };
    case "reminder":
      return { glyph: GLYPH[alert.severity], text: `Still: ${alertTitle(alert)}`, rest: [] };
    case "digest": {
      const open = alert.members.filter(({ state }) => state !== "recovered").length;
      const all = alert.members.length;
      if (open === 0) return { glyph: OVER, text: `${all} alerts`, rest: [" \u00b7 all over"] };
      return {
        glyph: GLYPH[worst(alert.members)],
        text: `${all} alerts at once`,
        rest: open === all ? [] : [` \u00b7 ${all - open} over`],
      };
    }
    case "digestClosing":
      return { glyph: OVER, text: `All ${alert.total} alerts are over`, rest: [] };
    case "digestReminder":
      return { glyph: GLYPH.warning, text: `Still ${alert.open} of ${alert.total} alerts`, rest: [] };
  }
}

function overTitle(alert: Kind<"closing">): string {
  const { condition, over } = alert;
  if (over !== null) return short(over, ALERT.titleUnits);
  if (alert.title !== null || condition === null) return `Over: ${alertTitle(alert)}`;
  return `${subjectOf(alert)} is ${CONDITION[condition].over}`;
}

/** A line of evidence. */
export function alertLine(line: AlertLine): Phrase {
  if (typeof line === "string") return [inert(line).trimEnd()];
  if ("finding" in line) {
    const [first = "", ...rest] = findingPhrase(line.finding);
    const often = line.checks === undefined || line.checks === 1 ? "" : ` in ${line.checks} checks`;
    return [typeof first === "string" ? upperFirst(first) : first, ...rest, often];
  }
  if ("changes" in line)
    return [`Changed ${line.changes} times in ${duration(line.spanMs)}. Quiet until it is stable.`];
  if ("runbook" in line) return [`Runbook: ${short(line.runbook, MONITOR.runbookChars)}`];
  return [repairLine(line)];
}

function repairLine({ by, error, repair, run }: Extract<AlertLine, { repair: unknown }>): string {
  const who = by === undefined ? " by its own authority" : byName(by);
  if (repair === "refused") return `The repair could not be started: ${short(error ?? "", CUT.reason)}`;
  return repair === "wanted" ? `A repair is wanted${who}.` : `Repair started${who}: run ${short(run ?? "", CUT.run)}.`;
}

/** The lines under the first one. */
export function alertBody(alert: AlertModel): Phrase[] {
  const repeat: Phrase[] =
    alert.possibleRepeatOf === undefined
      ? []
      : [["Possible repeat of the message from ", clock(alert.possibleRepeatOf), "."]];
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
        ? [["Since ", clock(alert.from), "."]]
        : [["From ", day(alert.from), " to ", clock(alert.until), "."]];
    case "digestClosing":
      return alert.delivered
        ? [[`After ${duration(alert.until - alert.from)} (`, clock(alert.from), " to ", clock(alert.until), ")."]]
        : [
            [
              "They held from ",
              clock(alert.from),
              " to ",
              clock(alert.until),
              " at the latest; the list could not be delivered then.",
            ],
          ];
    case "digestReminder":
      return [["For ", duration(alert.at - alert.from), ", since ", clock(alert.from), "."]];
  }
}

function standing(alert: Kind<"card">): Phrase[] {
  const { at, changes, holds, seen, since, state, until } = alert;
  if (isReport(alert)) return [];
  if (state === "recovered")
    return [["It lasted ", duration((until ?? at) - since), ": ", day(since), " to ", clock(until ?? at), "."]];
  if (state === "flapping") {
    const now = holds ? `Now: ${alertTitle(alert)}.` : "Now: not so.";
    return [[`${changes} times in ${duration(at - since)}. Quiet until it is stable.`], [now]];
  }
  const often = seen > 1 ? `, seen ${seen} times` : "";
  const lasts = at - since >= 60_000 ? ` (${duration(at - since)})` : "";
  return [["Since ", clock(since), `${lasts}${often}.`]];
}

function doneLines({ acknowledged, repair, snoozed, state }: Kind<"card">): Phrase[] {
  const lines: Phrase[] = [];
  if (acknowledged !== undefined) lines.push([`Acknowledged${byName(acknowledged.by)}, `, clock(acknowledged.at), "."]);
  if (snoozed !== undefined && state !== "recovered")
    lines.push([`Snoozed${byName(snoozed.by)} until `, clock(snoozed.until), "."]);
  if (repair?.asked !== undefined)
    lines.push([`Repair asked for${byName(repair.asked.by)}, `, clock(repair.asked.at), "."]);
  return lines;
}

function origin(given: AlertOrigin | undefined): Phrase[] {
  if (given === undefined) return [];
  if (given.kind === "workflow") return [[originLine(given.name, given.run ?? "")]];
  return [[`monitor ${short(given.name, CUT.workflow)}`]];
}

/** "It was down from 03:10 to 03:25; the alert could not be delivered then." */
function span(alert: Kind<"closing">): Phrase {
  const { condition, delivered, since, title, until } = alert;
  if (delivered) return [`After ${duration(until - since)} (`, clock(since), " to ", clock(until), ")."];
  const was =
    title === null && condition !== null
      ? `${subjectOf(alert)} was ${CONDITION[condition].is}`
      : `${quote(title ?? alert.subject)} held`;
  return [`${was} from `, clock(since), " to ", clock(until), "; the alert could not be delivered then."];
}

function unstable({ changes }: Kind<"closing">): Phrase[] {
  return changes === 0 ? [] : [[`It changed ${changes} times, and is stable now.`]];
}

function reminder({ at, last, number, since, snoozeOver }: Kind<"reminder">): Phrase {
  const what = snoozeOver
    ? "The snooze is over."
    : last
      ? "Last reminder: nobody has acknowledged it."
      : number === 1
        ? "Nobody has acknowledged it yet."
        : `Reminder ${number}: nobody has acknowledged it yet.`;
  return [`${what} It has lasted ${duration(at - since)}, since `, clock(since), "."];
}

/** One member of a list; `units` is the room that its name may take. */
export function memberLine(member: Member, units: number): string {
  const name = member.state === "flapping" ? `${subjectOf(member)} keeps changing` : alertTitle(member);
  return `${glyphOf(member)} ${short(name, units)}${markOf(member)}`;
}

const BUTTON: Readonly<Record<AlertAction, string>> = {
  acknowledge: "Acknowledge",
  snooze: "Snooze 1 h",
  repair: "Repair\u2026",
};

export function alertButton(action: AlertAction, list: boolean): string {
  return list ? `${BUTTON[action]}${action === "snooze" ? ", all" : " all"}` : BUTTON[action];
}

const DONE: Readonly<Record<AlertAction, string>> = {
  acknowledge: "acknowledged",
  snooze: "snoozed",
  repair: "asked to be repaired",
};

/** What somebody is told who pressed a button of an alert. */
export function alertReplyPhrase(code: AlertReply): Phrase {
  switch (code.code) {
    case "alertDone":
      return code.action === "snooze"
        ? ["Snoozed until ", clock(code.at), "."]
        : [code.action === "repair" ? "Repair is asked for." : "Acknowledged."];
    case "alertsDone": {
      const many = `${code.count} alert${code.count === 1 ? "" : "s"} ${DONE[code.action]}`;
      return code.action === "snooze" ? [`${many} until `, clock(code.at), "."] : [`${many}.`];
    }
    case "alertBefore":
      return [`Already ${DONE[code.action]}${byName(code.by)} at `, clock(code.at), "."];
    case "alertOver":
      return ["It is over since ", clock(code.at), "."];
    case "alertNotOnList":
      return ["You are not on the list for these alerts."];
  }
}
