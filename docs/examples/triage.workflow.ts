// A decision by an agent with a way for each route, and a message to an audience in chat.
import {
  checkpoint,
  compute,
  decision,
  decisionEdge,
  defineWorkflow,
  evidence,
  notify,
  type NodeContext,
} from "holdpoint";

const routes = {
  bug: "it worked before, or it does not do what is documented",
  question: "somebody wants to know something",
  unclear: "a person has to look at it",
} as const;
type Context = NodeContext<{ readonly report: string }>;

export default defineWorkflow({
  name: "triage",
  source: import.meta.url,
  startAt: "sort",
  nodes: {
    sort: decision({
      choices: routes,
      prompt: ({ input }: Context) => `What is this report?\n\n${evidence(input.report)}`,
      timeoutMs: 5 * 60_000,
    }),
    alert: notify({
      kind: "progress",
      audience: "operators",
      message: ({ input }: Context) => `A bug was reported: ${input.report.slice(0, 500)}`,
    }),
    // Waits for `holdpoint answer`; the answer is the output.
    look: checkpoint<{ readonly kind: "bug" | "question" }>({
      run: ({ input, outputs }) => ({ report: input.report, said: outputs["sort"] }),
      summary: "An unclear report",
    }),
    answered: compute({ run: ({ outputs }) => ({ answer: outputs["look"]?.kind ?? "question" }) }),
  },
  edges: [
    decisionEdge({ from: "sort", choices: routes, cases: { bug: "alert", question: "answered", unclear: "look" } }),
    { from: "look", switch: { on: "$.kind", cases: { bug: "alert", question: "answered" } } },
  ],
});
