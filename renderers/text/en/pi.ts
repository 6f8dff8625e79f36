// The fixed words of a Pi session in English: widget, status line, messages.

import type { SessionMessage } from "../../../src/contracts/pi/session-message.ts";
import type { SessionDecision, SessionView } from "../../../src/contracts/pi/session-view.ts";
import { clock, day } from "./time.ts";
import type { Phrase } from "../phrase.ts";
import { CUT, quote, short } from "./words.ts";

type Run = NonNullable<SessionView["run"]>;
type NodeStatus = Run["nodes"][number]["status"];
type Of<K extends SessionMessage["kind"]> = Extract<SessionMessage, { kind: K }>;

/** A mark that survives where a line is cut; the word beside it says the same. */
export function nodeGlyph(status: NodeStatus): string {
  return { done: "\u2713", failed: "\u2717", pending: "\u00b7", running: "\u25b8", waiting: "\u25c6" }[status];
}

const RUN_GLYPHS: Readonly<Record<string, string>> = {
  ambiguous: "\u26a0",
  cancelled: "\u25a0",
  completed: "\u2713",
  failed: "\u2717",
  paused: "\u2016",
  parked: "\u26a0",
  queued: "\u00b7",
  running: "\u25b8",
  timed_out: "\u2717",
  waiting: "\u25c6",
};

export function runGlyph(status: string): string {
  return RUN_GLYPHS[status] ?? "\u00b7";
}

const RUN_WORDS: Readonly<Record<string, string>> = {
  ambiguous: "needs a look",
  parked: "is stuck",
  timed_out: "ran out of time",
  waiting: "waits",
};

export function runWord(status: string): string {
  return RUN_WORDS[status] ?? status;
}

/** Workflow and run, as every line about a run begins. */
export function runName(workflow: string, runShortId: string): string {
  return `${short(workflow, CUT.workflow)} \u00b7 run ${short(runShortId, CUT.run)}`;
}

export const workflowWord = "workflow";
export const reservedWord = "begins when this turn has ended";
export const unreachable = "the server cannot be reached; trying again";

export function visits(count: number): string {
  return `\u21bb${count}`;
}

/** "3/12 steps": where the window of nodes stands. */
export function windowText(first: number, last: number, total: number): string {
  return `steps ${first}\u2013${last} of ${total}`;
}

export function etaUnavailable(reason: string): string {
  return `ETA unavailable: ${short(reason, 120)}`;
}

export function nextCheck(relative: string): string {
  return `Next check ${relative}`;
}

export function waitsFor({ card, fingerprint }: SessionDecision): string {
  return `Waits for you: ${short(card.title, 80)} (${fingerprint})`;
}

export function moreDecisions(count: number): string {
  return `and ${count} more decision${count === 1 ? "" : "s"}`;
}

/** How a decision of this session is answered, or why it cannot be here. */
export function answerHint({ answerable, card, fingerprint, refusedBecause }: SessionDecision): string {
  if (!answerable) return `Not to be answered in Pi: ${short(refusedBecause ?? "its audience answers elsewhere", 160)}`;
  const choices = card.choices.map(({ hasInput, id }) => (hasInput ? `${id} <text>` : id));
  return `/workflow answer ${fingerprint} ${choices.join(" | ")}`;
}

const REASONS = { initial: "", reminder: ", reminder", resumed: ", goes on" } as const;

export function stepTitle(message: Of<"step">): string {
  return `Step ${quote(message.nodeId, CUT.label)}${REASONS[message.reason]} \u00b7 ${runName(message.workflow, message.runShortId)}`;
}

export const stepWaits = "Its result becomes the next step\u2019s input.";
export const expectedWord = "Expected output";
export const promptWord = "Prompt";
export const idsWord = "Ids";
export const resultWord = "Result";

const ENDS = {
  cancelled: "was cancelled",
  completed: "completed",
  failed: "failed",
  timed_out: "ran out of time",
} as const;

export function terminalGlyph(status: Of<"terminal">["status"]): string {
  return status === "completed" ? "\u2705" : status === "timed_out" ? "\u231b" : "\u26d4";
}

export function terminalTitle(message: Of<"terminal">, took: string): string {
  const steps = message.steps === 1 ? "1 step" : `${message.steps} steps`;
  return `${runName(message.workflow, message.runShortId)} ${ENDS[message.status]} after ${took}, ${steps}`;
}

export function startedAndEnded(startedAt: number, finishedAt: number): Phrase {
  return ["Started ", day(startedAt), ", ended ", clock(finishedAt)];
}

export function followUpTitle(message: Of<"followUp">): string {
  return `Follow-up ${message.orderNumber} \u00b7 after ${runName(message.workflow, message.runShortId)}`;
}

/** Under a card whose rest is shown when messages are expanded. */
export function moreLines(count: number): string {
  return `\u2026 ${count} more line${count === 1 ? "" : "s"}`;
}

/** The status line under the editor. */
export function statusText(status: string, workflow: string, runShortId: string, decisions: number): string {
  const asks = decisions === 0 ? "" : decisions === 1 ? ", 1 decision waits" : `, ${decisions} decisions wait`;
  return `${runGlyph(status)} ${runName(workflow, runShortId)} ${runWord(status)}${asks}`;
}
