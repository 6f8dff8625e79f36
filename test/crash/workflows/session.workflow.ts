// A step for the agent of the session that the run was started from, then an action on what it handed in.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { action, agent, defineWorkflow, idempotentEffect } from "holdpoint";

interface Input {
  readonly title: string;
  /** Folder of this run's files: `actions.jsonl`. */
  readonly folder: string;
}

export default defineWorkflow({
  name: "session",
  input: (given) => given as Input,
  title: ({ input }) => input.title,
  startAt: "plan",
  nodes: {
    plan: agent({
      prompt: "Plan it.",
      expectedOutput: "An object with a plan.",
      timeoutMs: 60_000,
      validate: (value) => {
        const { plan } = value as { plan?: unknown };
        if (typeof plan !== "string") throw new Error("The plan is missing.");
        return { plan };
      },
    }),
    note: action({
      effect: idempotentEffect("note"),
      run: ({ effect, input }) => {
        const line = JSON.stringify({ node: "note", effectId: effect.idempotencyKey, attempt: effect.attempt });
        appendFileSync(join(input.folder, "actions.jsonl"), `${line}\n`);
        return { noted: true };
      },
    }),
  },
  edges: [{ from: "plan", to: "note" }],
});
