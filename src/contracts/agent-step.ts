/**
 * Agent steps: what an executor is told, and the text that a model gets: what the author wrote, and the contract that says
 * how the result is given. One text for every executor, so that a step reads the same in a headless child and in a session.
 */
import { AGENT } from "./limits.ts";

/** The name of the tool with the actions of a step, as a model sees it. */
export const TOOL_NAME = "workflow";

/** What the step's output is. */
export type AgentContract =
  | { readonly kind: "submit"; readonly expectedOutput: string }
  | { readonly kind: "assistantMessage"; readonly maxChars: number };

/** One attempt at an agent node, as its executor receives it. */
export interface AgentStep {
  /** Full path of the node. */
  readonly nodeId: string;
  readonly visit: number;
  /** From 1; above 1 when an earlier attempt of this visit was interrupted. */
  readonly attempt: number;
  /** Without the contract block; see `stepText`. */
  readonly prompt: string;
  readonly contract: AgentContract;
  /** Names of the tools that the agent may use besides submit and update; null for the executor's usual set. */
  readonly allowedTools: readonly string[] | null;
  /**
   * Milliseconds of active turns of this attempt: from the moment that a text is sent until the agent has settled, retries
   * of the model's provider included. The start of the agent, and any wait between turns, do not count. Null for no limit.
   */
  readonly timeoutMs: number | null;
  /** One line for status displays. */
  readonly statusDetail: string | undefined;
  /** The folder in which the agent works, absolute; left out: the project's. */
  readonly cwd?: string;
}

/** Why a text is sent. `initial`: the step begins. `reminder`: a turn ended without its result. `resumed`: an interrupted step goes on. */
export type StepReason = "initial" | "reminder" | "resumed";

/** What the text says besides the step. */
export interface StepAddress {
  /** The exact id that the model hands back with `submit` and `update`. */
  readonly requestId: string;
  /** Which reminder this is, from 1. */
  readonly reminder?: number;
  /** What was wrong with the last turn, when more is known than that nothing came. */
  readonly problem?: string | undefined;
}

/**
 * The complete text that is sent for a step. It never begins with the author's text, so that nothing in it can be taken
 * for a command of the agent. A reminder does not repeat the prompt: it stands in the same conversation.
 */
export function stepText(
  { contract, nodeId, prompt }: Pick<AgentStep, "contract" | "nodeId" | "prompt">,
  reason: StepReason,
  { problem, reminder = 1, requestId }: StepAddress,
): string {
  const block = contractText(contract, requestId);
  switch (reason) {
    case "initial":
      return `This is the step "${nodeId}" of an automated workflow.\n\n${prompt}\n\n${block}`;
    case "resumed":
      return (
        `The step "${nodeId}" of an automated workflow was interrupted and goes on here. What was done before may be ` +
        `complete, half done or not begun: look before you do anything a second time. The request id below replaces the ` +
        `earlier one.\n\n${prompt}\n\n${block}`
      );
    case "reminder": {
      const missing = contract.kind === "submit" ? "Nothing was submitted." : "Your last message has no text.";
      return (
        `Your turn ended, but the step "${nodeId}" has no result yet. ${problem ?? missing} This is reminder ` +
        `${reminder} of ${AGENT.reminders}. Finish the step now.\n\n${block}`
      );
    }
  }
}

/** How the result is given (CONTRACTS 1.7), and that the turn ends with it: nobody may wait in it for the next step. */
function contractText(contract: AgentContract, requestId: string): string {
  const lines = ["--- How this step ends ---"];
  if (contract.kind === "submit") {
    lines.push(
      `When the work is done, call the tool "${TOOL_NAME}" once with action "submit", requestId "${requestId}" and your ` +
        `result as "output". If the result is refused, correct it and submit again.`,
      "Expected output:",
      contract.expectedOutput,
      "After the result is accepted, end your turn at once. Write nothing after it, and do not wait, sleep or look for a " +
        "next step: that comes by itself.",
    );
  } else {
    lines.push(
      `The text of your last message is the result of this step, at most ${contract.maxChars} characters. It is read ` +
        `without anything before it, so write it complete. Then end your turn: do not wait, sleep or look for a next step.`,
    );
  }
  lines.push(
    `Progress may be reported meanwhile: tool "${TOOL_NAME}", action "update", requestId "${requestId}", ` +
      `"update" {"type", "key", "data"}.`,
  );
  return lines.join("\n");
}

/** Characters of the longest text that can be sent for a step. */
export function longestStepText(step: Pick<AgentStep, "contract" | "nodeId" | "prompt">): number {
  // A request id as long as any.
  return stepText(step, "resumed", { requestId: "x".repeat(128) }).length;
}

/**
 * What follows a turn that ended without a result; `unproductive` counts such turns of this attempt, this one included.
 * Two reminders, then the attempt fails with `missingSubmission`.
 */
export function afterUnproductiveTurn(unproductive: number): "remind" | "missingSubmission" {
  return unproductive <= AGENT.reminders ? "remind" : "missingSubmission";
}
