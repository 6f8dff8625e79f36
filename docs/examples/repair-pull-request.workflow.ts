// The child run that repairs a pull request whose checks fail: here it lets the code host apply its formatter; yours may use an agent.
// By itself: holdpoint run docs/examples/repair-pull-request.workflow.ts \
//   --input '{"api":"http://127.0.0.1:8080","repository":"shop/api","number":7,"title":"Round once","head":"c0ffee"}'
import { action, compute, defineWorkflow, observedEffect, type NodeContext } from "holdpoint";
import { z } from "zod";

const subjectSchema = z.object({
  api: z.string(),
  repository: z.string(),
  number: z.number(),
  title: z.string(),
  head: z.string(),
});
type Subject = z.infer<typeof subjectSchema>;

function place({ api, number, repository }: Subject): string {
  return `${api}/repos/${repository}/pulls/${number}`;
}

export default defineWorkflow({
  name: "repair-pull-request",
  source: import.meta.url,
  title: ({ input }) => `Repair ${input.repository}#${input.number}`,
  input: (given: Subject): Subject => subjectSchema.parse(given),
  startAt: "format",
  nodes: {
    format: action({
      // The head has moved: somebody has repaired it, this run in an earlier attempt or another.
      effect: observedEffect<Subject>("format", {
        observe: async ({ input, signal }) => {
          const { head } = (await (await fetch(place(input), { signal })).json()) as { head: string };
          return head === input.head ? { applied: false } : { applied: true, output: { head } };
        },
      }),
      run: async ({ input, signal }: NodeContext<Subject>) => {
        const body = JSON.stringify({ expectedHead: input.head });
        const headers = { "content-type": "application/json" };
        const response = await fetch(`${place(input)}/format`, { method: "POST", headers, body, signal });
        if (!response.ok) throw new Error(`The code host answers ${response.status} to the formatter.`);
        return (await response.json()) as { head: string };
      },
    }),
    done: compute({ run: ({ outputs }) => outputs["format"] }),
  },
  edges: [{ from: "format", to: "done" }],
});
