/** Checkpoints: the run stops and waits until somebody answers; any JSON is an answer. */
import type { NodeContext } from "./context.ts";
import { checkFunction, type NodeTypes } from "./node-types.ts";

export interface CheckpointNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "checkpoint";
  readonly run: ((context: NodeContext<any, any>) => unknown) | undefined;
  readonly summary: string | ((context: NodeContext<any, any>) => string | Promise<string>) | undefined;
}

/**
 * A step at which the run waits for `holdpoint answer` or a client. The answer is the node's output. There is no time
 * limit. For a question to people with choices and cards, use `humanDecision`.
 *
 * @example
 * const look = checkpoint<{ ok: boolean }>({
 *   run: ({ outputs }) => ({ report: outputs.check }),
 *   summary: "Look at the report",
 * });
 */
export function checkpoint<Answer = any, Input = any, Outputs extends object = Record<string, any>>(
  options: {
    /** What is shown to whoever answers, as JSON. */
    readonly run?: (context: NodeContext<Input, Outputs>) => unknown;
    /** One line for lists, at most 200 characters. */
    readonly summary?: string | ((context: NodeContext<Input, Outputs>) => string | Promise<string>);
  } = {},
): CheckpointNode<Input, Outputs, Answer> {
  const { run, summary } = options;
  if (run !== undefined) checkFunction(run, "checkpoint", "run");
  if (summary !== undefined && typeof summary !== "string") checkFunction(summary, "checkpoint", "summary");
  return Object.freeze({ type: "checkpoint", run, summary });
}
