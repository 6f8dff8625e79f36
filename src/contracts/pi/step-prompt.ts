/**
 * The text that a model gets for a step: what the author wrote, and the contract that says how the result is given. One
 * wording for every place where a step can be executed.
 */
import { AGENT } from "../limits.ts";
import { TOOL_NAME } from "./bridge.ts";

export type AgentContract =
  | { readonly kind: "submit"; readonly expectedOutput: string }
  | { readonly kind: "assistantMessage"; readonly maxChars: number };

/** `initial`: the step begins. `reminder`: a turn ended without its result. `resumed`: an interrupted step goes on. */
export type StepReason = "initial" | "reminder" | "resumed";

export interface StepText {
  readonly reason: StepReason;
  readonly nodeId: string;
  readonly requestId: string;
  readonly prompt: string;
  readonly contract: AgentContract;
  /** Which reminder this is, from 1. */
  readonly reminder?: number;
  /** What was wrong with the last turn, when more is known than that nothing came. */
  readonly problem?: string | undefined;
}

/**
 * The complete text. It never begins with the author's text, so that nothing in it can be taken for a command of Pi.
 * A reminder does not repeat the prompt: it stands in the same conversation.
 */
export function stepText(step: StepText): string {
  const block = contractBlock(step);
  switch (step.reason) {
    case "initial":
      return `This is the step "${step.nodeId}" of an automated workflow.\n\n${step.prompt}\n\n${block}`;
    case "resumed":
      return (
        `The step "${step.nodeId}" of an automated workflow was interrupted and goes on here. What was done before may be ` +
        `complete, half done or not begun: look before you do anything a second time. The request id below replaces the ` +
        `earlier one.\n\n${step.prompt}\n\n${block}`
      );
    case "reminder":
      return (
        `Your turn ended, but the step "${step.nodeId}" has no result yet. ` +
        `${step.problem ?? "Nothing was submitted."} This is reminder ${step.reminder ?? 1} of ${AGENT.reminders}. ` +
        `Finish the step now.\n\n${block}`
      );
  }
}

/** How the result is given (CONTRACTS 1.7), and that the turn ends with it: nobody may wait in it for the next step. */
function contractBlock({ contract, requestId }: StepText): string {
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
