// A control loop: an agent decides, nodes do what was decided and return. People hear of it without being asked.
import { agent, controlLoop, decision, defineWorkflow, evidence, notify, sleep, type NodeContext } from "holdpoint";
import { z } from "zod";

interface Input {
  readonly goal: string;
}
type Context = NodeContext<Input>;

const loop = controlLoop({
  decide: "decide",
  returnTo: "observe",
  routes: {
    wait: { to: "sleep", returns: ["sleep"] },
    act: { to: "act", returns: ["act"] },
    stop: { to: "report", terminal: true },
  },
});

export default defineWorkflow({
  name: "watch",
  source: import.meta.url,
  maxSteps: 500,
  startAt: "observe",
  nodes: {
    observe: agent({
      prompt: ({ input }: Context) => `Look at the state of this goal and describe it.\n\n${evidence(input.goal)}`,
      expectedOutput: 'JSON: {"state": one sentence}',
      validate: (value: unknown) => z.object({ state: z.string() }).parse(value),
    }),
    decide: decision({
      choices: loop.choices,
      prompt: ({ outputs }) => `What is to be done now?\n\n${evidence(outputs["observe"])}`,
      expectedOutput: 'A field "reason" in one sentence.',
    }),
    // The server keeps the time: no process runs for half an hour, and a restart changes nothing.
    sleep: sleep({ ms: 30 * 60_000, reason: "The next look" }),
    act: agent({
      prompt: ({ outputs }) => `Do the next step.\n\n${evidence(outputs["decide"])}`,
      expectedOutput: "JSON: {} when it is done",
    }),
    report: notify({
      kind: "final",
      message: ({ input, outputs }: NodeContext<Input, { observe: { state: string } }>) =>
        `${input.goal}: ${outputs.observe?.state ?? "nothing was seen"}`,
    }),
  },
  edges: [{ from: "observe", to: "decide" }, ...loop.edges],
});
