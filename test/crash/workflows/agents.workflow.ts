// An agent that reports and submits, then an action on what it submitted. The Pi is a program of the tests.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { action, agent, defineWorkflow, idempotentEffect } from "holdpoint";

interface Input {
  readonly title: string;
  /** Folder of this run's files: `actions.jsonl`. */
  readonly folder: string;
}

export default defineWorkflow({
  name: "agents",
  input: (given) => given as Input,
  title: ({ input }) => input.title,
  startAt: "plan",
  nodes: {
    plan: agent({ prompt: "Plan it.", expectedOutput: "An object with a plan." }),
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
