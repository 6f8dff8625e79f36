// The operator chat in English: short lines for a phone, the answer to "does anything need me?" first.

import type {
  OperatorAction,
  OperatorButton,
  OperatorCommand,
  OperatorReply,
  OperatorUse,
} from "../../../src/contracts/decision/operator-codes.ts";
import { OPERATOR } from "../../../src/contracts/limits.ts";
import type { RunStatus } from "../../../src/contracts/run-status.ts";
import type { Phrase } from "../phrase.ts";
import { bullet, lines } from "../shape.ts";
import { memberLine } from "./alert.ts";
import { findingPhrase } from "./findings.ts";
import { clock } from "./time.ts";
import { byName, CUT, many, quote, sentence, short } from "./words.ts";

type Reply<Code extends OperatorReply["code"]> = Extract<OperatorReply, { code: Code }>;
type Run = Reply<"runControlled">["run"];
type Verb = Reply<"runControlled">["verb"];

const DESCRIPTIONS: Readonly<Record<OperatorCommand, string>> = {
  status: "How the service is",
  decisions: "What waits for you, to show it again",
  runs: "What is running",
  run: "One run: /run 7k3f",
  pause: "Pause a run: /pause 7k3f",
  resume: "Let a run go on: /resume 7k3f",
  cancel: "Cancel a run, after asking you: /cancel 7k3f",
  alerts: "What is wrong, to take it",
  monitors: "What is being watched",
  problems: "What needs somebody",
  help: "What you can ask",
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
      return [`No run fits ${quote(code.given, CUT.given)}. /runs lists them.`];
    case "runSeveral":
      return [
        lines(
          `${quote(code.given, CUT.given)} fits several runs:`,
          code.runs.map((run) => bullet(short(run, 60))),
        ),
      ];
    case "runControlled":
      return [`${DONE[code.verb]}: ${runName(code.run)}.`];
    case "runRefused":
      return [refusedText(code)];
    case "cancelAsk":
      return [`Cancel this run? It cannot be undone.\n${runLine(code.run)}`];
    case "problemList":
      return problemsPhrase(code);
    case "alertList":
      return alertsPhrase(code);
    case "monitorList":
      return monitorsPhrase(code);
    case "commandHelp":
      return [helpText(code)];
    case "moreBelow":
      return ["More below."];
    case "runKept":
      return [`Run ${short(code.run, CUT.run)} goes on.`];
    case "buttonUsed":
      return [`This was used already${byName(code.by)} at `, clock(code.at), "."];
    case "buttonOfOther":
      return ["Only the person who asked may press this."];
  }
}

/** The label of a button under an answer. */
export function operatorButton({ action, item }: OperatorButton): string {
  const number = item > 0 ? ` ${item}` : "";
  switch (action) {
    case "showAgain":
      return `Show${number} again`;
    case "more":
      return "More";
    case "arrived":
      return `${item}: Yes`;
    case "sendAgain":
      return `${item}: Send again`;
    case "drop":
      return `${item}: Drop`;
    case "cancelRun":
      return "Cancel the run";
    case "keepRun":
      return "Keep it";
    case "acknowledge":
      return `Acknowledge${number}`;
    case "snooze":
      return `Snooze${number} 1 h`;
  }
}

/** "2: sent again, Ann 12:03": what was done with an answer's button, under that answer. */
export function usePhrase({ action, at, by, item }: OperatorUse): Phrase {
  const done = USED[action];
  const what = item > 0 && done.numbered ? `${item}: ${done.text.toLowerCase()}` : done.text;
  return [`${what}${byName(by)}, `, clock(at), "."];
}

const USED: Readonly<Record<OperatorAction, { readonly text: string; readonly numbered: boolean }>> = {
  showAgain: { text: "Shown again", numbered: true },
  more: { text: "More was shown", numbered: false },
  arrived: { text: "Did arrive", numbered: true },
  sendAgain: { text: "Sent again", numbered: true },
  drop: { text: "Dropped", numbered: true },
  cancelRun: { text: "Cancelled", numbered: false },
  keepRun: { text: "Kept", numbered: false },
  acknowledge: { text: "Acknowledged", numbered: true },
  snooze: { text: "Snoozed", numbered: true },
};

const DONE: Readonly<Record<Verb, string>> = { pause: "Paused", resume: "Goes on", cancel: "Cancelled" };

const STATUS: Readonly<Record<RunStatus, string>> = {
  queued: "waits for its turn",
  running: "running",
  waiting: "waits for an answer",
  paused: "paused",
  parked: "stands still",
  ambiguous: "needs somebody",
  completed: "completed",
  failed: "failed",
  timed_out: "timed out",
  cancelled: "cancelled",
};

/** Of several runs, where that reads differently. */
const SEVERAL: Readonly<Partial<Record<RunStatus, string>>> = {
  queued: "wait for their turn",
  waiting: "wait for an answer",
  parked: "stand still",
  ambiguous: "need somebody",
};

function runName({ run, workflow }: Run): string {
  return `run ${short(run, CUT.run)} (${short(workflow, CUT.workflow)})`;
}

function runLine({ run, status, title, workflow }: Run): string {
  const named = title === undefined ? "" : `, ${short(title, OPERATOR.titleUnits)}`;
  return `${short(run, CUT.run)} \u00b7 ${short(workflow, CUT.workflow)}${named}: ${STATUS[status]}`;
}

function statusPhrase(code: Reply<"serviceStatus">): Phrase {
  const { alerts = 0, channels, decisions, moreProblems, problems, runs, since } = code;
  const phrase: Phrase[number][] =
    since === undefined ? ["Service: running"] : ["Service: running since ", clock(since)];
  for (const { channel, lastPollAt, state } of channels) {
    const name = `\n${short(channel, CUT.given)}: ${CHANNEL[state]}`;
    if (lastPollAt === undefined) phrase.push(`${name}, not heard yet`);
    else phrase.push(`${name}, last heard `, clock(lastPollAt));
  }
  const counts = runs
    .map(({ count, status }) => `${count} ${count === 1 ? STATUS[status] : (SEVERAL[status] ?? STATUS[status])}`)
    .join(", ");
  phrase.push(`\nRuns: ${counts === "" ? "none" : counts}`);
  phrase.push(`\nDecisions for you: ${decisions === 0 ? "none" : `${decisions} (/decisions)`}`);
  if (alerts > 0) phrase.push(`\nAlerts: ${holding(alerts)}`);
  phrase.push(`\nProblems: ${problems === 0 ? "nothing needs you" : `${problems}${orMore(moreProblems)} (/problems)`}`);
  return [...phrase, ...checksPhrase(code.checks)];
}

const holding = (alerts: number): string => `${alerts === 1 ? "one holds" : `${alerts} hold`} (/alerts)`;

function alertsPhrase({ from, items, total }: Reply<"alertList">): Phrase {
  if (total === 0) return ["No alert holds."];
  const phrase: Phrase[number][] = [
    total === 1 ? "One alert holds:" : `${total} alerts hold${shown(from, items.length, total)}:`,
  ];
  for (const { item, since, ...member } of items)
    phrase.push(`\n${item}. ${memberLine(member, OPERATOR.titleUnits)}, since `, clock(since));
  return phrase;
}

function checksPhrase({ nextAt, total, troubled }: Reply<"serviceStatus">["checks"]): Phrase {
  if (total === 0) return ["\nChecks: none"];
  const bad = troubled === 0 ? "all well" : `${troubled} not well (/monitors)`;
  const counted = `\nChecks: ${many(total, "monitor", "monitors")}, ${bad}`;
  return nextAt === undefined ? [counted] : [`${counted}, next `, clock(nextAt)];
}

const STANDING = { new: "not known yet", up: "up", down: "down", unstable: "unstable" } as const;

function monitorsPhrase({ alerts = 0, from, items, total, troubled }: Reply<"monitorList">): Phrase {
  if (total === 0) return ["Nothing is watched yet."];
  const well = troubled === 0 ? "all well" : `${troubled} not well`;
  const phrase: Phrase[number][] = [
    `${many(total, "monitor", "monitors")}, ${well}${shown(from, items.length, total)}:`,
  ];
  for (const { finding, name, since, standing, title } of items) {
    const called = title === name ? "" : ` (${short(name, CUT.workflow)})`;
    phrase.push(`\n\u2022 ${short(title, OPERATOR.titleUnits)}${called}: ${STANDING[standing]}`);
    if (since !== undefined) phrase.push(" since ", clock(since));
    if (finding !== undefined) phrase.push("; ", ...findingPhrase(finding));
  }
  if (alerts > 0) phrase.push(`\nAlerts: ${holding(alerts)}`);
  return phrase;
}

const CHANNEL: Readonly<Record<Reply<"serviceStatus">["channels"][number]["state"], string>> = {
  starting: "starting",
  ready: "connected",
  down: "down",
  stopped: "stopped",
};

function decisionsPhrase({ from, items, total }: Reply<"decisionList">): Phrase {
  if (total === 0) return ["No decision waits for you."];
  const phrase: Phrase[number][] = [
    total === 1 ? "One decision waits for you:" : `${total} decisions wait for you${shown(from, items.length, total)}:`,
  ];
  for (const { deadlineAt, fingerprint, item, run, title } of items) {
    phrase.push(
      `\n${item}. ${short(title, OPERATOR.titleUnits)} \u00b7 run ${short(run, CUT.run)} \u00b7 ${short(fingerprint, 6)}`,
    );
    if (deadlineAt !== undefined) phrase.push(", until ", clock(deadlineAt));
  }
  return phrase;
}

function runsPhrase({ from, items, total }: Reply<"runList">): Phrase {
  const head =
    total === 0
      ? "No run is unfinished."
      : `${many(total, "unfinished run", "unfinished runs")}${shown(from, items.length, total)}:`;
  return [
    lines(
      head,
      items.map((run) => bullet(runLine(run))),
    ),
  ];
}

/** ", 7 to 12" for a page of several. */
function shown(from: number, count: number, total: number): string {
  const last = Math.min(from + count, total);
  return from === 0 && last >= total ? "" : `, ${from + 1} to ${last}`;
}

function runPhrase(code: Reply<"runDetail">): Phrase {
  const { createdAt, decision, error, finishedAt, node, run, steps } = code;
  const phrase: Phrase[number][] = [runLine(run), "\nStarted ", clock(createdAt)];
  if (finishedAt !== undefined) phrase.push(", ended ", clock(finishedAt));
  phrase.push(`\n${many(steps, "step", "steps")}${node === undefined ? "" : `, at ${short(node, CUT.workflow)}`}`);
  if (decision !== undefined) phrase.push(`\nWaits for: ${short(decision, OPERATOR.titleUnits)}`);
  if (error !== undefined) phrase.push(`\n${sentence(short(error, CUT.excerpt))}`);
  return phrase;
}

function wantedText({ runs, verb }: Reply<"runWanted">): string {
  if (runs.length === 0) return `There is no run to ${verb === "run" ? "show" : verb}.`;
  return lines(
    `Which run? Write /${verb} and its id:`,
    runs.map((run) => bullet(runLine(run))),
  );
}

function refusedText({ reason, run, verb }: Reply<"runRefused">): string {
  const name = runName(run);
  switch (reason) {
    case "ended":
      return `Not ${verb === "cancel" ? "cancelled" : verb === "pause" ? "paused" : "resumed"}: ${name} ended, ${STATUS[run.status]}.`;
    case "notPaused":
      return `Nothing to resume: ${name} is neither paused nor standing still.`;
    case "waitsForDecision":
      return `Nothing to resume: ${name} waits for a decision. /decisions shows what waits for you.`;
    case "waitsForCheckpoint":
      return `Nothing to resume: ${name} waits for an answer that is given on the server.`;
    case "waitsForSession":
      return `Nothing to resume: ${name} waits for the agent of its Pi session.`;
    case "sleeps":
      return `Nothing to resume: ${name} waits for a time, and goes on by itself.`;
    case "unsettled":
      return `Not resumed: of ${name} nobody knows whether an action took effect. Somebody has to say so on the server.`;
  }
}

const orMore = (more = false): string => (more ? " or more" : "");

function problemsPhrase({ actions = [], alerts = 0, from, items, more, runs, total }: Reply<"problemList">): Phrase {
  const holds = alerts === 0 ? [] : [`\nAlerts: ${holding(alerts)}`];
  if (total === 0 && runs.length === 0 && actions.length === 0)
    return [more === true ? "Of the oldest problems none is yours." : "Nothing needs you.", ...holds];
  const phrase: Phrase[number][] = [];
  if (total > 0)
    phrase.push(
      `${more === true ? "At least " : ""}${many(total, "message needs", "messages need")} you${shown(from, items.length, total)}:`,
    );
  for (const { at, destination, id, item, problem, title } of items) {
    const what = title === undefined ? `message ${short(id, 16)}` : quote(title, OPERATOR.titleUnits);
    const where = short(destination, CUT.given);
    phrase.push(
      problem === "inDoubt"
        ? `\n${item}. Did ${what} arrive in ${where}? Telegram did not confirm it, sent `
        : `\n${item}. ${what.charAt(0).toUpperCase()}${what.slice(1)} could not be shown in ${where}, made `,
      clock(at),
    );
  }
  if (actions.length > 0) {
    phrase.push(`${phrase.length === 0 ? "" : "\n"}Did these happen? Nobody knows; say so on the server:`);
    for (const { at, id, run, type } of actions) {
      const what = `${short(type, CUT.workflow)}, run ${short(run, CUT.run)}`;
      phrase.push(`\n\u2022 ${what}, begun `, clock(at), `: holdpoint effect settle ${short(id, 16)}`);
    }
  }
  if (runs.length > 0) {
    const head = `${phrase.length === 0 ? "" : "\n"}Runs that need somebody:`;
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
      ? "Nothing waits for you. When something does, a card with buttons appears here. You can ask:"
      : `${waiting === 1 ? "One decision waits" : `${waiting} decisions wait`} here: tap a button on the card. You can ask:`;
  return lines(
    head,
    commands.map((command) => `/${command} ${DESCRIPTIONS[command]}`),
  );
}
