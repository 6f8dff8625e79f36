// Agent steps: one submits a checked value, one writes visible text. Evidence keeps prompts within bounds.
import { agent, assistantMessage, defineWorkflow, evidence, type NodeContext } from "holdpoint";
import { z } from "zod";

const reviewSchema = z.object({ verdict: z.enum(["good", "bad"]), reasons: z.array(z.string()).max(20) });
interface Input {
  readonly diff: string;
  readonly minutes: number;
}

const review = agent({
  prompt: ({ input }: NodeContext<Input>) => `Review this change.\n\n${evidence(input.diff)}`,
  expectedOutput: 'JSON: {"verdict": "good" or "bad", "reasons": list of short sentences}',
  validate: (value) => reviewSchema.parse(value),
  // Nothing that writes.
  allowedTools: ["read", "grep", "find", "ls"],
  timeoutMs: ({ input }) => input.minutes * 60_000,
  statusDetail: "Reading the change",
});

const summary = agent({
  prompt: ({ outputs }) => `Say in two sentences what the review found.\n\n${evidence(outputs["review"])}`,
  expectedOutput: assistantMessage({ maxChars: 2_000 }),
  allowedTools: [],
});

export default defineWorkflow({
  name: "review",
  source: import.meta.url,
  contractId: "review/1",
  input: (given): Input => ({ diff: "", minutes: 10, ...(given as Partial<Input> | null) }),
  startAt: "review",
  nodes: { review, summary },
  edges: [{ from: "review", to: "summary" }],
  exits: { reviewed: { from: "summary" } },
});
