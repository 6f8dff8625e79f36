/**
 * Agent steps: what an executor is told, and the words of the contract that is appended to every prompt. One text for
 * every executor, so that a step reads the same in a headless child and in a session.
 */
import { AGENT } from "./limits.ts";

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
  /** Milliseconds of active model turns; null for no limit. */
  readonly timeoutMs: number | null;
  /** One line for status displays. */
  readonly statusDetail: string | undefined;
}

/** Why a text of the step is sent (CONTRACTS 1.7). */
export type StepReason = "initial" | "reminder" | "resumed";

/** What the contract block needs besides the step. */
export interface StepAddress {
  /** The exact id that the model hands back with `submit` and `update`. */
  readonly requestId: string;
  /** Name of the tool that has the actions; default `workflow`. */
  readonly tool?: string;
}

/**
 * The text that is sent for a step.
 *
 * - `initial`: the prompt, then the contract.
 * - `resumed`: that work was interrupted, the prompt, then the contract.
 * - `reminder`: only what is missing, then the contract.
 */
export function stepText(
  step: Pick<AgentStep, "prompt" | "contract">,
  reason: StepReason,
  address: StepAddress,
): string {
  const contract = contractText(step.contract, address);
  switch (reason) {
    case "initial":
      return `${step.prompt}\n\n${contract}`;
    case "resumed":
      return `The work on this step was interrupted. Look at what is already done before you go on; do not repeat what has effects outside.\n\n${step.prompt}\n\n${contract}`;
    case "reminder":
      return step.contract.kind === "submit"
        ? `The turn ended without a result for this step. Finish the step and submit its result now.\n\n${contract}`
        : `The turn ended without a visible answer. Write the answer of this step now.\n\n${contract}`;
  }
}

/** The contract block alone: what to hand in, how, and that the turn must end then. */
export function contractText(contract: AgentContract, { requestId, tool = "workflow" }: StepAddress): string {
  const update = `While you work you may report progress with the tool \`${tool}\`, action \`update\`, requestId \`${requestId}\`.`;
  if (contract.kind === "assistantMessage") {
    return [
      "--- Contract of this step",
      `Your last visible message of the turn is the result: at most ${contract.maxChars} characters, nothing else in it.`,
      update,
      "After the message end your turn. Do not wait for the next step, do not sleep, do not poll: it comes by itself.",
    ].join("\n");
  }
  return [
    "--- Contract of this step",
    `Hand in the result with the tool \`${tool}\`: action \`submit\`, requestId \`${requestId}\`, and the result as \`value\` (JSON).`,
    "What is expected:",
    contract.expectedOutput,
    update,
    "If the result is refused, read the reason, correct it and submit again.",
    "After an accepted submission end your turn at once, without further text. Do not wait for the next step, do not sleep, do not poll: it comes by itself.",
  ].join("\n");
}

/**
 * What follows a turn that ended without a result; `unproductive` counts such turns of this attempt, this one included.
 * Two reminders, then the attempt fails with `missingSubmission`.
 */
export function afterUnproductiveTurn(unproductive: number): "remind" | "missingSubmission" {
  return unproductive <= AGENT.reminders ? "remind" : "missingSubmission";
}
