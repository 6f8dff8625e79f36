// A node that does not give way: it holds its runner until the file `gate` exists. An action behind it gives the runner
// time to answer what it was asked meanwhile.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { action, compute, defineWorkflow, idempotentEffect, type NodeContext } from "holdpoint";

interface Input {
  readonly title: string;
  /** Folder of this run's files: `actions.jsonl`, `at-gate`, `gate`. */
  readonly folder: string;
}

const pause = new Int32Array(new SharedArrayBuffer(4));

export default defineWorkflow({
  name: "holding",
  input: (given) => given as Input,
  title: ({ input }) => input.title,
  startAt: "hold",
  nodes: {
    hold: compute({
      // By the server's clock, which the scenario moves; in the time of the machine it is far away.
      timeoutMs: 600_000,
      run: ({ input }: NodeContext<Input>) => {
        writeFileSync(join(input.folder, "at-gate"), "");
        while (!existsSync(join(input.folder, "gate"))) Atomics.wait(pause, 0, 0, 5);
        return null;
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
  edges: [{ from: "hold", to: "note" }],
});
