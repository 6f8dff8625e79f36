// Built-ins by name: the tests of a repository run, and what they find is mended by `autoimplement` on a branch of its own, or by what the
// project has put in its place. People hear of it either way.
import {
  compute,
  defineWorkflow,
  includedResult,
  includeWorkflow,
  idempotentEffect,
  notify,
  shell,
  type NodeContext,
} from "holdpoint";
import autoimplement from "holdpoint/workflows/autoimplement";

interface Input {
  readonly repository: string;
  readonly test: string;
}
interface Outputs {
  readonly test: { readonly passed: boolean; readonly said: string };
  readonly mend: { readonly exit: string; readonly output: any };
}
type Context = NodeContext<Input, Outputs>;

export default defineWorkflow({
  name: "mend",
  source: import.meta.url,
  maxSteps: 60,
  input: (given): Input => {
    const { repository = ".", test = "npm test" } = (given ?? {}) as Partial<Input>;
    return { repository, test };
  },
  startAt: "test",
  nodes: {
    test: shell({
      effect: idempotentEffect("test"),
      exec: ({ input }: Context) => ({
        command: "/bin/sh",
        args: ["-c", input.test],
        cwd: input.repository,
        allowNonZeroExit: true,
      }),
      parse: ({ exitCode, stderr, stdout }) => ({ passed: exitCode === 0, said: `${stdout}${stderr}`.slice(-4_000) }),
    }),
    fine: compute({ run: () => ({ branch: null }) }),
    mended: notify({
      kind: "final",
      message: (context: Context) => `Mended on ${includedResult(context, "mend").output.workspace.branch}.`,
    }),
    blocked: notify({
      kind: "final",
      message: (context: Context) => `Not mended: ${includedResult(context, "mend").output.reason}`,
    }),
  },
  includes: {
    mend: includeWorkflow(autoimplement, {
      input: ({ input, outputs }: Context) => ({
        task: `Make this pass: ${input.test}\n\nIt says:\n${outputs.test?.said ?? ""}`,
        repository: input.repository,
        verify: [input.test],
      }),
    }),
  },
  edges: [
    { from: "test", switch: { on: "$.passed", cases: { true: "fine", false: "mend" } } },
    { from: "mend.completed", to: "mended" },
    { from: "mend.blocked", to: "blocked" },
  ],
});
