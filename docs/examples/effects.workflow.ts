// The three effect contracts: repeat with a key, look first, or ask a person after an interruption.
// holdpoint run docs/examples/effects.workflow.ts --input '{"folder":"/tmp/outside","version":"4.12.0"}'
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  action,
  defineWorkflow,
  idempotentEffect,
  manualEffect,
  observedEffect,
  outcomeUnknown,
  type NodeContext,
} from "holdpoint";
import { z } from "zod";

const inputSchema = z.object({
  /** A folder that stands for the outside world. */
  folder: z.string(),
  version: z.string(),
});
type Input = z.infer<typeof inputSchema>;
type Context = NodeContext<Input>;

export default defineWorkflow({
  name: "effects",
  source: import.meta.url,
  input: (given: Input): Input => inputSchema.parse(given),
  startAt: "prepare",
  nodes: {
    // Making a folder twice does no harm: after a crash it simply runs again.
    prepare: action({
      effect: idempotentEffect("folder"),
      run: async ({ input }: { input: Input }) => void (await mkdir(input.folder, { recursive: true })),
    }),
    // A release must not be made twice: whether it is there can be seen.
    release: action({
      effect: observedEffect("release", {
        observe: async ({ input }: Context) => {
          const there = (await readdir(input.folder)).includes(`${input.version}.txt`);
          return there ? { applied: true, output: { found: true } } : { applied: false };
        },
      }),
      request: ({ input }: Context) => ({ version: input.version }),
      run: async ({ input }) => {
        await writeFile(join(input.folder, `${input.version}.txt`), "released");
        return { found: false };
      },
    }),
    // Nobody can see whether a letter was posted: a person says so when it is in doubt.
    letter: action({
      effect: manualEffect("letter"),
      run: async ({ input }: { input: Input }) => {
        try {
          await writeFile(join(input.folder, "letter.txt"), `${input.version} is out.`);
        } catch (error) {
          throw outcomeUnknown("The printer did not answer.", error);
        }
        return { posted: true };
      },
    }),
  },
  edges: [
    { from: "prepare", to: "release" },
    { from: "release", to: "letter" },
  ],
});
