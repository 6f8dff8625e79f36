// What stands around the messages of a run in a Pi session, in English. A model reads it, and a person whose client has no better view.

import type { SessionMessage } from "../../../src/contracts/pi/session-message.ts";
import { inert } from "../../../src/contracts/decision/inert.ts";
import { CUT, quote, short } from "./words.ts";

type Terminal = Extract<SessionMessage, { kind: "terminal" }>;

/** Before a card: whom it asks. */
export const cardForPeople =
  "A workflow asks a person. Nothing is asked of the agent: only a person can answer this, and no tool or message can.";

/** How an answer is typed in Pi. */
export const answerCommand = "/workflow answer";

/** Before a notification, and under it. */
export function notificationHead(workflow: string, run: string): string {
  return `The workflow ${short(workflow, CUT.workflow)} (run ${run}) says:`;
}

const ENDED = {
  completed: "has completed",
  failed: "has failed",
  timed_out: "ran out of time",
  cancelled: "was cancelled",
} as const;

/** How a run ended, for an agent that tells its user. */
export function terminalText({ error, result, runShortId, status, steps, title, workflow }: Terminal): string {
  const name = title === null ? short(workflow, CUT.workflow) : `${quote(title)} (${short(workflow, CUT.workflow)})`;
  const lines = [
    `The workflow ${name}, run ${runShortId}, ${ENDED[status]} after ${steps} ${steps === 1 ? "step" : "steps"}.`,
  ];
  if (error !== null) lines.push("", `${error.code}: ${inert(error.message, { lines: true })}`);
  if (result !== null) lines.push("", "Result:", inert(result, { lines: true }));
  lines.push("", "Tell the user briefly how it ended. Start nothing by yourself because of this message.");
  return lines.join("\n");
}
