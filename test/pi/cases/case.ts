/** One case: what the model does, what is run, and what must be true afterwards. */
import type { Reply, Script, ToolUse } from "../mock-model.ts";
import type { Stage } from "../stage.ts";

export interface Case {
  /** A sentence about the product. */
  readonly name: string;
  readonly model: Script;
  run(stage: Stage): Promise<void>;
}

export function submit(requestId: string, output: unknown): ToolUse {
  return { name: "workflow", args: { action: "submit", requestId, output } };
}

export function bash(command: string): ToolUse {
  return { name: "bash", args: { command } };
}

/** Waits for a condition; the case's own limit ends a wait in vain. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A model that follows a list, one reply for each request; anything further is said plainly. */
export function list(...replies: readonly (Reply | Script)[]): Script {
  return (request) => {
    const reply = replies[request.number - 1];
    if (reply === undefined) return { text: "the script is at its end" };
    return typeof reply === "function" ? reply(request) : reply;
  };
}
