// The child run that asks people in chat whether a pull request shall be merged. It only asks: its resource manager merges.
import {
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  type NodeContext,
} from "holdpoint";

interface Subject {
  readonly repository: string;
  readonly number: number;
  readonly title: string;
  readonly head: string;
}

const choices = defineHumanChoices({
  merge: choice({ label: "Merge", style: "success" }),
  leave: choice({ label: "Leave it" }),
});

export default defineWorkflow({
  name: "merge-pull-request",
  source: import.meta.url,
  input: (given: Subject) => given,
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
