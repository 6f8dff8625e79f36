// A command as a step, with its output parsed and its progress told while it runs.
import { compute, defineWorkflow, idempotentEffect, shell, type NodeContext } from "holdpoint";

interface Input {
  readonly target: string;
}

const build = shell({
  // Building again gives the same files.
  effect: idempotentEffect("build"),
  exec: ({ input }: NodeContext<Input>) => ({
    command: "make",
    args: [input.target],
    timeoutMs: 20 * 60_000,
    allowNonZeroExit: true,
  }),
  parse: ({ exitCode, stdout }) => ({
    ok: exitCode === 0,
    lines: stdout.split("\n").filter((line) => line !== "").length,
  }),
  updates: {
    parseLine: (line) => {
      const match = /^\[(\d+)\/(\d+)\]/.exec(line);
      if (match === null) return undefined;
      const [, completed, total] = match.map(Number);
      return {
        type: "progress",
        key: "build",
        data: { schema: "holdpoint.progress.v1", label: "Build", status: "running", completed, total, unit: "files" },
      };
    },
  },
});

export default defineWorkflow({
  name: "shell",
  source: import.meta.url,
  input: (given): Input => ({ target: (given as Partial<Input> | null)?.target ?? "all" }),
  startAt: "build",
  nodes: {
    build,
    good: compute({ run: ({ outputs }) => `Built with ${outputs.build?.lines} lines of output.` }),
    bad: compute({ run: () => "The build is broken." }),
  },
  edges: [{ from: "build", switch: { on: "$.ok", cases: { true: "good", false: "bad" } } }],
});
