// What the commands of a Pi session say in English.

import { CUT, list, quote, short } from "./words.ts";

export const noRun = "This session has no run. Name one, for example: /workflow status 7k3f";
export const noLink =
  "There is no connection to the workflow service yet; it is tried again by itself. Try the command again in a moment.";

export function serverStarting(): string {
  return "Holdpoint: starting the server \u2026";
}

export function serverUnavailable(why: string): string {
  return `Holdpoint: ${why} It is tried again by itself.`;
}

export function linkOver(why: string): string {
  return `Holdpoint does not follow this session any more: ${why}`;
}

export function unknownWord(word: string, known: readonly string[]): string {
  return `${quote(word, CUT.given)} is no such word here; there are: ${list(known, "and")}.`;
}

export function needs(usage: string): string {
  return `Use it as: ${usage}`;
}

export function notJson(what: string, why: string): string {
  return `${what} is not JSON: ${short(why, 200)}`;
}

export function started(workflow: string, runShortId: string, reserved: boolean): string {
  const when = reserved ? "is reserved and begins when this turn has ended" : "has started";
  return `Run ${runShortId} of ${short(workflow, CUT.workflow)} ${when}.`;
}

/** What became of a run: "Run 7k3f is paused." */
export function runIs(runShortId: string, words: string): string {
  return `Run ${runShortId} ${words}.`;
}

export const paused = "is paused; its questions stay open";
export const resumed = "goes on";
export const cancelled = "is cancelled";
export const cleared = "The run is not shown here any more. Nothing of it was changed.";
export const answeredCheckpoint = "has its answer";

export function restarted(runShortId: string): string {
  return `Run ${runShortId} is the restart.`;
}

export function settingsChanged(version: number): string {
  return `The settings have version ${version} now; steps that begin from now on see it.`;
}

export function followUpQueued(order: number, id: string): string {
  return `Follow-up ${order} is queued (${id}); it is sent when the run has succeeded.`;
}

export function followUpRemoved(order: number): string {
  return `Follow-up ${order} is removed.`;
}

export const noWorkflows = "There is no workflow here. Put one into .pi/workflows/<name>.workflow.ts.";
export const noEffects = "Nothing that was done outside needs you.";

export const stepUnreachable =
  "The workflow service cannot be reached, so nothing is known of this call. It is not lost: make the same call again in a minute.";
export const stepStopped = "The step that this turn works on is over, so the turn was stopped.";
export const stepAborted = "The turn ended before there was an answer.";

export function moreWorkflows(count: number, offset: number): string {
  return `${count} more: list with offset ${offset}.`;
}

export const stepUnknown = "Nothing is known of this step at the moment, so no tool may be used in it. End your turn.";

export function toolForbidden(toolName: string): string {
  return `The tool "${short(toolName, CUT.given)}" is not allowed in this step.`;
}

export function notLoaded(why: string): string {
  return `Holdpoint could not be loaded: ${why}`;
}

export function piTooOld(version: string, oldest: string): string {
  return `Holdpoint needs Pi ${oldest} or newer; this is ${version}. Some of it may not work.`;
}

export const noResources = "There is no managed resource here.";

export function resourceApplied(outcome: string, generation: number): string {
  return `The resource is ${outcome} (generation ${generation}).`;
}

export function passDue(when: string): string {
  return `Its next pass is due ${when}.`;
}

export const resourceDeleted = "The resource is deleted.";

export function deletionRequested(finalizers: readonly string[]): string {
  return `Its deletion is requested; it waits for ${list(
    finalizers.map((one) => short(one, CUT.given)),
    "and",
  )}.`;
}

export const noChannels = "No channel is configured.";

export function trouble(text: string): string {
  return `Trouble in this session: ${text}`;
}

/** Set-up asks for a token, which must not pass through a conversation with a model. */
export function setUp(command: string): string {
  return `A bot is set up with questions, which this mode of Pi cannot show. In a terminal: ${command}`;
}

export const setupBegins =
  "Setting up a bot: the questions follow. Escape or /workflow-channel setup stop ends it; nothing is written before the last one.";
export const setupRunning = "A set-up is under way. /workflow-channel setup stop ends it.";
export const setupNone = "No set-up is under way.";
export const setupStopped = "The set-up was ended.";
export const setupUsage =
  "/workflow-channel setup [--token-file <path>] [--profile <name>] [--audience <name>] [--person <id>]";
export const setupFallback = (fallback: string): string => ` (empty: ${fallback})`;
export const yes = "Yes";
export const no = "No";

export function reloaded(changed: boolean): string {
  return changed ? "The configuration was read again." : "The configuration is as it was.";
}

export const answers = {
  notSent:
    "The answer was not sent, because the server cannot be reached. Nothing was decided here; answer again when it is back.",
  maybeSent:
    "The connection was lost while the answer was sent. The card tells whether it counted; if it still waits, answer again.",
  nothingPending: "Nothing waits for an answer in this session.",
  severalPending(fingerprints: readonly string[]): string {
    return `Several decisions wait; name one of them: ${list(fingerprints, "or")}.`;
  },
  justShown: "The card has only just appeared. Read it, then name it: its short id stands at its foot.",
  justSettled:
    "Another decision of this run was settled a moment ago. Name the one that you mean: its short id stands at its foot.",
  notTyped:
    "An answer counts only when a person typed it here. It came from another extension or program, and was not given.",
  unknown(fingerprint: string): string {
    return `No decision ${quote(fingerprint, CUT.given)} is asked in this session.`;
  },
  unknownChoice(choice: string, choices: readonly string[]): string {
    return `${quote(choice, CUT.given)} is none of the choices: ${list(choices, "or")}.`;
  },
  needsText(fingerprint: string, choice: string): string {
    return `This choice takes a text: /workflow answer ${fingerprint} ${choice} <text>`;
  },
  takesNoText(choice: string): string {
    return `${quote(choice, CUT.given)} takes no text; nothing was answered.`;
  },
  dialogTitle(title: string, fingerprint: string): string {
    return `${short(title, 120)} (${fingerprint})`;
  },
  notNow: "Not now",
  onlyPeople:
    "Decisions are answered by people, with the command /workflow answer or in another channel. The tool cannot answer them.",
} as const;

export const help = [
  "/workflow                         the workflows that can be started here",
  "/workflow <name|path> [task]      start one; or with --input-json {\u2026}",
  "/workflow status [run]            how it stands",
  "/workflow pause|resume|cancel [run]",
  "/workflow restart [run]           a new run with the same input",
  "/workflow clear                   do not show the ended run any more",
  "/workflow answer [id] [choice] [text]",
  "/workflow effect [id] [applied|notApplied|retry] [result]",
  "/workflow change-settings <json>",
  "/workflow queue-follow-up <text>  sent when the run has succeeded",
  "/workflow remove-follow-up <id>",
].join("\n");
