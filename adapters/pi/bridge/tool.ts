/** The tool `workflow` as a model sees it in a headless step: one object at the root, because some providers refuse unions. */
import { TOOL_NAME } from "../../../src/contracts/agent-step.ts";
import type { AgentAction } from "../../../src/contracts/pi/bridge.ts";

const WORDS: Readonly<Record<AgentAction, string>> = {
  submit: '"submit" gives the result of the step: requestId and output',
  update: '"update" reports progress: requestId and update {type, key, data}',
};

/** The description and the schema of the parameters for the actions that this step has. */
export function toolShape(actions: readonly AgentAction[]): { description: string; parameters: object } {
  const properties: Record<string, object> = {
    action: { type: "string", enum: [...actions], description: "What to do." },
    requestId: { type: "string", description: "The request id that the step names." },
  };
  if (actions.includes("submit"))
    properties["output"] = { description: "submit only: the result, as the step describes it." };
  if (actions.includes("update")) {
    properties["update"] = {
      type: "object",
      description: "update only: what has changed.",
      properties: {
        type: { type: "string", description: 'A lower-case word, for example "progress".' },
        key: {
          type: "string",
          description: "Which thing it is about; a later update of the same type and key replaces it.",
        },
        data: { type: "object", additionalProperties: true },
      },
      required: ["type", "key", "data"],
      additionalProperties: false,
    };
  }
  return {
    description: `Talks to the workflow that this step belongs to ("${TOOL_NAME}"). ${actions.map((action) => WORDS[action]).join(". ")}.`,
    parameters: { type: "object", properties, required: ["action", "requestId"], additionalProperties: false },
  };
}
