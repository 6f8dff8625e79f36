// Routes and loops: an upload is tried up to three times; a failure is an outcome like others and has its own way on.
import { action, compute, defineWorkflow, idempotentEffect, type NodeContext } from "holdpoint";

interface Input {
  readonly file: string;
  /** How many attempts fail before one works; so that the example can be tried without a network. */
  readonly failures: number;
}
type Context = NodeContext<Input>;

const attemptsOf = ({ state }: Context): number => state.steps.filter(({ nodeId }) => nodeId === "upload").length;

export default defineWorkflow({
  name: "retry",
  source: import.meta.url,
  input: (given): Input => {
    const { failures = 1, file = "report.pdf" } = (given ?? {}) as Partial<Input>;
    return { failures, file };
  },
  title: ({ input }) => `Upload ${input.file}`,
  startAt: "upload",
  nodes: {
    upload: action({
      effect: idempotentEffect("upload"),
      timeoutMs: 30_000,
      request: ({ input }: Context) => ({ file: input.file }),
      run: (context) => {
        if (attemptsOf(context) < context.input.failures) throw new Error("The service is busy.");
        return { url: `https://files.example/${context.input.file}` };
      },
    }),
    again: compute({
      run: (context: Context) => ({ again: attemptsOf(context) < 3, why: context.results["upload"]?.error?.message }),
    }),
    done: compute({ run: ({ outputs }) => ({ url: outputs.upload?.url }) }),
    gaveUp: compute({ run: ({ outputs }) => ({ gaveUp: outputs.again?.why }) }),
  },
  edges: [
    {
      from: "upload",
      switch: { on: "$result.outcome", cases: { ok: "done", failed: "again", timed_out: "again" } },
    },
    { from: "again", switch: { on: "$.again", cases: { true: "upload", false: "gaveUp" } } },
  ],
});
