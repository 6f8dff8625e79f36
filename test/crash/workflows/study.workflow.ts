// Everything a run can hand over besides steps and decisions: it begins inside a mount, tells its progress, makes a value that is
// too large for a frame, sends a message, runs a command, sleeps for a moment, stops at a checkpoint, and decides by settings that are changed meanwhile.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  action,
  allowSettingsPath,
  checkpoint,
  compute,
  defineWorkflow,
  idempotentEffect,
  includeWorkflow,
  notify,
  settingsRoute,
  shell,
  sleep,
  workflowSettings,
} from "holdpoint";

interface Input {
  readonly title: string;
  /** Folder of this run's files: `actions.jsonl`, `at-gate`, `gate`. */
  readonly folder: string;
}

const measuring = defineWorkflow({
  name: "measuring",
  input: (given) => given as Input,
  startAt: "measure",
  exits: { done: { from: "data" } },
  nodes: {
    measure: action({
      effect: idempotentEffect("measure"),
      run: async (context) => {
        const { effect, input } = context as typeof context & { readonly input: Input };
        const line = JSON.stringify({ node: "measure", effectId: effect.idempotencyKey, attempt: effect.attempt });
        appendFileSync(join(input.folder, "actions.jsonl"), `${line}\n`);
        const data = { schema: "holdpoint.progress.v1", label: "Measuring", status: "running" };
        await context.publishUpdate({ type: "progress", key: "measure", data });
        return { measured: true };
      },
    }),
    data: compute({ run: () => ({ data: "x".repeat(1_200_000) }) }),
  },
  edges: [{ from: "measure", to: "data" }],
});

export default defineWorkflow({
  name: "study",
  input: (given) => given as Input,
  title: ({ input }) => input.title,
  startAt: "study",
  settings: workflowSettings({
    initial: { rounds: 1 },
    parse: (value) => value as { rounds: number },
    paths: [allowSettingsPath("/rounds", { read: ["human"], replace: ["human", "controller"] })],
  }),
  includes: { study: includeWorkflow(measuring, { input: ({ input }) => input as Input }) },
  nodes: {
    tell: notify({ kind: "progress", audience: "operators", message: "The study was measured." }),
    list: shell({
      effect: idempotentEffect("list"),
      exec: () => ({ command: "/bin/echo", args: ["listed"] }),
    }),
    nap: sleep({ ms: 20, reason: "A moment" }),
    look: checkpoint({ summary: "Look at the study" }),
    gate: compute({
      run: async ({ input }) => {
        writeFileSync(join((input as Input).folder, "at-gate"), "");
        while (!existsSync(join((input as Input).folder, "gate"))) await pause(5);
        return null;
      },
    }),
    more: settingsRoute({ run: ({ settings }) => ({ rounds: String((settings as { rounds: number }).rounds) }) }),
    end: compute({ run: ({ outputs }) => ({ answer: outputs["look"] as unknown, done: true }) }),
  },
  edges: [
    { from: "study.done", to: "tell" },
    { from: "tell", to: "list" },
    { from: "list", to: "nap" },
    { from: "nap", to: "look" },
    { from: "look", to: "gate" },
    { from: "gate", to: "more" },
    { from: "more", switch: { on: "$.rounds", cases: { "1": "end", "2": "end" } } },
  ],
});
