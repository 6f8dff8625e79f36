/** The two functions of a workflow that run before its first node: the input parser and the title. */
import { isVisible } from "../contracts/decision/text.ts";
import { HoldpointError, isHoldpointError, messageOf } from "../contracts/errors.ts";
import { WORKFLOW } from "../contracts/limits.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import { processTimers, toJson } from "../workflow/engine/index.ts";
import type { WorkflowDefinition } from "../workflow/index.ts";

/**
 * What the workflow's parser makes of the given input.
 *
 * @throws HoldpointError `inputInvalid` when the parser throws, returns a promise, or makes something that is not JSON;
 *   `outputTooLarge` above the value limit.
 */
export function parseInput(definition: WorkflowDefinition, given: JsonValue): JsonValue {
  let made: unknown;
  try {
    made = definition.input?.(given);
  } catch (error) {
    const said = messageOf(error).slice(0, 4_000);
    throw new HoldpointError("inputInvalid", `Workflow "${definition.name}" refused its input: ${said}`, {
      cause: error,
    });
  }
  if (made instanceof Promise) {
    throw new HoldpointError("inputInvalid", `The input parser of workflow "${definition.name}" returned a promise.`, {
      remedy: "Make the parser a plain function; look things up in a node.",
    });
  }
  try {
    return toJson(made, `The input of workflow "${definition.name}"`).value;
  } catch (error) {
    if (isHoldpointError(error) && error.kind === "notCanonical")
      throw new HoldpointError("inputInvalid", error.message);
    throw error;
  }
}

/**
 * The title of a run, at most 200 UTF-16 units. It is decoration: a function that throws or takes longer than 30 s gives
 * none, and its author finds the reason in the runner's stderr.
 */
export async function titleOf(definition: WorkflowDefinition, input: JsonValue): Promise<string | null> {
  const { title } = definition;
  if (title === undefined) return null;
  if (typeof title === "string") return cut(title);
  const controller = new AbortController();
  const { signal } = controller;
  const cancelled = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error(`there was no title after ${WORKFLOW.titleMs} ms`)));
  });
  const disarm = processTimers.after(WORKFLOW.titleMs, () => controller.abort());
  try {
    const made: unknown = await Promise.race([title({ input, signal }), cancelled]);
    return typeof made === "string" && isVisible(made) ? cut(made) : null;
  } catch (error) {
    process.stderr.write(`title of workflow "${definition.name}": ${messageOf(error)}\n`);
    return null;
  } finally {
    disarm();
  }
}

function cut(title: string): string {
  const text = (title as unknown as { toWellFormed(): string }).toWellFormed();
  return text.slice(0, WORKFLOW.titleChars).replace(/[\ud800-\udbff]$/, "");
}
