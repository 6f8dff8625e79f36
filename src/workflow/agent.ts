/** Agent nodes: a step that a model does. */
import { HoldpointError } from "../contracts/errors.ts";
import { AGENT } from "../contracts/limits.ts";
import type { NodeContext } from "./context.ts";
import { checkFunction, checkTimeout, type NodeTypes } from "./node-types.ts";

/** Visible text as output instead of a submitted value. */
export interface AssistantMessage {
  readonly kind: "assistantMessage";
  readonly maxChars: number;
}

type OfContext<T, Input, Outputs extends object> = T | ((context: NodeContext<Input, Outputs>) => T | Promise<T>);

export interface AgentNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "agent";
  readonly prompt: OfContext<string, any, any>;
  readonly output: { readonly kind: "submit"; readonly expectedOutput: OfContext<string, any, any> } | AssistantMessage;
  readonly validate: ((value: any, context: NodeContext<any, any>) => unknown) | undefined;
  readonly allowedTools: readonly string[] | null;
  /** A function makes the limit when the step starts. */
  readonly timeoutMs:
    | number
    | null
    | undefined
    | ((context: NodeContext<any, any>) => number | null | Promise<number | null>);
  readonly statusDetail: OfContext<string, any, any> | undefined;
  readonly cwd: OfContext<string, any, any> | undefined;
  /** Set by `decision()`: the closed set that one field of the output is from. */
  readonly choices: { readonly field: string; readonly names: readonly string[] } | undefined;
}

interface AgentOptions<Input, Outputs extends object> {
  /**
   * What is to be done; at most 96,000 characters with the contract that is appended. Pass data with `evidence()`, which
   * keeps it within bounds.
   */
  readonly prompt: OfContext<string, Input, Outputs>;
  /** Names of the tools the agent may use besides submit and update; `[]` for none. Left out: the executor's usual ones. */
  readonly allowedTools?: readonly string[];
  /**
   * Milliseconds of active model turns; waiting and pauses do not count. Null for no limit, a function to compute it when
   * the step starts; default 15 minutes.
   */
  readonly timeoutMs?:
    | number
    | null
    | ((context: NodeContext<Input, Outputs>) => number | null | Promise<number | null>);
  /** One line for status displays, at most 200 characters. */
  readonly statusDetail?: OfContext<string, Input, Outputs>;
  /**
   * The folder in which the agent works, absolute; left out: the project's. It is where the agent starts, not a fence: what its tools
   * may touch, they may touch anywhere. An agent in a session works where its session does.
   */
  readonly cwd?: OfContext<string, Input, Outputs>;
}

/**
 * The agent's last visible message is the output, as text.
 *
 * @example
 * const summary = agent({ prompt: "Summarize the changes.", expectedOutput: assistantMessage({ maxChars: 2_000 }) });
 */
export function assistantMessage(options: { readonly maxChars?: number } = {}): AssistantMessage {
  const { maxChars = AGENT.messageDefaultChars } = options;
  if (!Number.isSafeInteger(maxChars) || maxChars < 1 || maxChars > AGENT.messageChars) {
    throw new HoldpointError(
      "workflowInvalid",
      `maxChars of assistantMessage is ${maxChars}; it is a whole number from 1 to ${AGENT.messageChars}.`,
    );
  }
  return Object.freeze({ kind: "assistantMessage", maxChars });
}

/**
 * A step that a model does. With `expectedOutput` as text the model submits a value; `validate` checks it and returns the
 * output, and what it throws is told to the model, which may submit again. With `assistantMessage()` its visible text is
 * the output.
 *
 * A turn that ends without a result is answered with a reminder, twice; then the node fails with `missingSubmission`.
 *
 * @example
 * const review = agent({
 *   prompt: ({ outputs }) => `Review this change.\n\n${evidence(outputs.diff)}`,
 *   expectedOutput: 'JSON: {"verdict": "good" | "bad", "reasons": string[]}',
 *   validate: (value) => reviewSchema.parse(value),
 *   allowedTools: ["read", "grep"],
 *   timeoutMs: 10 * 60_000,
 * });
 */
export function agent<Input = any, Outputs extends object = Record<string, any>>(
  options: AgentOptions<Input, Outputs> & {
    readonly expectedOutput: AssistantMessage;
    /** Not with visible text. */
    readonly validate?: never;
  },
): AgentNode<Input, Outputs, string>;
export function agent<Output = any, Input = any, Outputs extends object = Record<string, any>>(
  options: AgentOptions<Input, Outputs> & {
    /** What the submitted value must look like, in words. */
    readonly expectedOutput: OfContext<string, Input, Outputs>;
    readonly validate?: (value: any, context: NodeContext<Input, Outputs>) => Output;
  },
): AgentNode<Input, Outputs, Awaited<Output>>;
export function agent(
  options: AgentOptions<any, any> & {
    readonly expectedOutput?: AssistantMessage | OfContext<string, any, any>;
    readonly output?: AssistantMessage;
    readonly validate?: (value: any, context: NodeContext) => unknown;
  },
): AgentNode {
  return agentNode(options, undefined);
}

/** Makes and checks an agent node; `decision()` adds its choices. */
export function agentNode(
  options: AgentOptions<any, any> & {
    readonly expectedOutput?: AssistantMessage | OfContext<string, any, any>;
    readonly output?: AssistantMessage;
    readonly validate?: ((value: any, context: NodeContext) => unknown) | undefined;
  },
  choices: AgentNode["choices"],
): AgentNode {
  const { allowedTools, cwd, prompt, statusDetail, timeoutMs, validate } = options;
  // The earlier system's files may name the visible text `output`.
  const expected = options.expectedOutput ?? options.output;
  if (typeof prompt !== "string") checkFunction(prompt, "agent", "prompt");
  if (statusDetail !== undefined && typeof statusDetail !== "string")
    checkFunction(statusDetail, "agent", "statusDetail");
  if (cwd !== undefined && typeof cwd !== "string") checkFunction(cwd, "agent", "cwd");
  if (validate !== undefined) checkFunction(validate, "agent", "validate");
  if (typeof timeoutMs !== "function") checkTimeout(timeoutMs);
  const message = typeof expected === "object" && expected.kind === "assistantMessage";
  if (!message && typeof expected !== "function" && (typeof expected !== "string" || expected.trim() === "")) {
    throw new HoldpointError(
      "workflowInvalid",
      "An agent needs expectedOutput: a text that says what is submitted, or assistantMessage().",
    );
  }
  if (message && validate !== undefined) {
    throw new HoldpointError(
      "workflowInvalid",
      "An agent with assistantMessage() has no validate; its output is text.",
    );
  }
  return Object.freeze({
    type: "agent",
    prompt,
    output: message ? expected : { kind: "submit" as const, expectedOutput: expected as OfContext<string, any, any> },
    validate,
    allowedTools: checkTools(allowedTools),
    timeoutMs,
    statusDetail,
    cwd,
    choices,
  });
}

function checkTools(tools: readonly string[] | null | undefined): readonly string[] | null {
  if (tools === undefined || tools === null) return null;
  const wrong = (text: string): never => {
    throw new HoldpointError("workflowInvalid", `allowedTools ${text}.`);
  };
  if (!Array.isArray(tools)) return wrong("is a list of names of tools");
  if (tools.length > AGENT.tools) return wrong(`has ${tools.length} names; the limit is ${AGENT.tools}`);
  for (const name of tools as readonly unknown[]) {
    if (typeof name === "string" && name !== "" && name.length <= AGENT.toolNameChars) continue;
    wrong(`has ${JSON.stringify(name)}; a name has 1 to ${AGENT.toolNameChars} characters`);
  }
  return Object.freeze([...new Set(tools)]);
}
