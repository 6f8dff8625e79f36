// A workflow to be mounted in others: it asks for approval of a plan, and leaves through one of two exits.
// By itself: holdpoint run docs/examples/approval.workflow.ts --input '{"title":"Move the database","steps":["stop","copy","start"]}'
import {
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  type NodeContext,
} from "holdpoint";
import { z } from "zod";

const inputSchema = z.object({ title: z.string(), steps: z.array(z.string()).min(1) });
type Input = z.infer<typeof inputSchema>;

const choices = defineHumanChoices({
  approve: choice({ label: "Approve", style: "success" }),
  stop: choice({ label: "Stop", style: "danger" }),
});

export default defineWorkflow({
  name: "approval",
  source: import.meta.url,
  contractId: "approval/1",
  maxSteps: 5,
  input: (given: Input): Input => inputSchema.parse(given),
  startAt: "ask",
  nodes: {
    ask: humanDecision({
      audience: "operators",
      choices,
      request: ({ input }: NodeContext<Input>) => ({
        title: input.title,
        subject: { steps: input.steps },
        presentation: { summary: input.title, blocks: [{ kind: "bullets", items: input.steps }] },
      }),
    }),
    approved: compute({ run: ({ input }: NodeContext<Input>) => ({ steps: input.steps }) }),
    stopped: compute({ run: () => ({ reason: "A person stopped it." }) }),
  },
  edges: [humanDecisionEdge({ from: "ask", choices, cases: { approve: "approved", stop: "stopped" } })],
  exits: {
    approved: { from: "approved", validate: (value) => value.steps.length > 0 },
    stopped: { from: "stopped" },
  },
});
