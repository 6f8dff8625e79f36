// The child run that asks people in chat whether a pull request shall be merged. It only asks: its resource manager merges.
// By itself: holdpoint run docs/examples/merge-pull-request.workflow.ts \
//   --input '{"repository":"shop/api","number":7,"title":"Round once","head":"c0ffee"}'
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

const subjectSchema = z.object({
  repository: z.string(),
  number: z.number(),
  title: z.string(),
  head: z.string(),
});
type Subject = z.infer<typeof subjectSchema>;

const choices = defineHumanChoices({
  merge: choice({ label: "Merge", style: "success" }),
  leave: choice({ label: "Leave it" }),
});

export default defineWorkflow({
  name: "merge-pull-request",
  source: import.meta.url,
  input: (given: Subject): Subject => subjectSchema.parse(given),
  startAt: "ask",
  nodes: {
    ask: humanDecision({
      audience: "operators",
      choices,
      request: ({ input }: NodeContext<Subject>) => ({
        title: `Merge ${input.repository}#${input.number}?`,
        // The answer is bound to this head.
        subject: { repository: input.repository, number: input.number, head: input.head },
        presentation: {
          summary: input.title,
          blocks: [{ kind: "paragraph", text: `All checks pass for ${input.head}. Only this head will be merged.` }],
        },
      }),
    }),
    merge: compute({ run: () => ({ merge: true }) }),
    leave: compute({ run: () => ({ merge: false }) }),
  },
  edges: [humanDecisionEdge({ from: "ask", choices, cases: { merge: "merge", leave: "leave" } })],
});
