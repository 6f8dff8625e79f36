// Approve a deployment: a plan is made, a person of the audience `operators` approves it, asks for another one, or stops.
// The deployment itself is one line in a log file, so that the example does no harm:
//
//   holdpoint run docs/examples/deploy.workflow.ts --input '{"version": "4.12.0", "logFile": "deployments.log"}'
import { appendFile, readFile } from "node:fs/promises";
import {
  action,
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  idempotentEffect,
  textInput,
  type HumanAnswer,
  type NodeContext,
} from "holdpoint";
import { z } from "zod";

const inputSchema = z.object({
  service: z.string().default("shop-api"),
  version: z.string().default("4.12.0"),
  target: z.string().default("production"),
  commit: z.string().default("9f2c1e7"),
  changes: z.array(z.string()).default(["Three migrations, all reversible", "Cache keys renamed"]),
  /** Where the deployment is noted. Left out, it is only printed; what nodes print goes to the server's log, at level debug. */
  logFile: z.string().optional(),
});
type Input = z.infer<typeof inputSchema>;

interface Plan {
  readonly revision: number;
  readonly release: string;
  readonly changes: readonly string[];
  /** What people asked for, oldest first. */
  readonly requests: readonly string[];
}

const choices = defineHumanChoices({
  approve: choice({ label: "Approve", style: "success" }),
  replan: choice({
    label: "Replan",
    input: textInput({ name: "changes", prompt: "What should change?", maxLength: 500 }),
  }),
  stop: choice({ label: "Stop", style: "danger" }),
});

interface Outputs {
  readonly plan: Plan;
  readonly replan: Plan;
  readonly approve: HumanAnswer<typeof choices>;
}
type Context = NodeContext<Input, Outputs>;

/** The newest plan: the one that was asked for last. */
function planOf({ outputs }: Context): Plan {
  const plan = outputs.replan ?? outputs.plan;
  if (plan === undefined) throw new Error("There is no plan yet.");
  return plan;
}

const plan = compute({
  run: ({ input }: Context): Plan => ({
    revision: 1,
    release: `${input.service} ${input.version} to ${input.target}`,
    changes: input.changes,
    requests: [],
  }),
});

const approve = humanDecision({
  audience: "operators",
  choices,
  request: (context: Context) => {
    const { changes, release, requests, revision } = planOf(context);
    const { commit, service } = context.input;
    return {
      title: "Approve the deployment",
      revision,
      subject: { release, commit, changes, requests },
      presentation: {
        summary: release,
        blocks: [
          { kind: "section", title: "Changes" },
          { kind: "bullets", items: [...changes] },
          ...(requests.length === 0
            ? []
            : [
                { kind: "section", title: "Asked for" } as const,
                { kind: "bullets", items: requests.map((text) => text.replaceAll("\n", " ")) } as const,
              ]),
          {
            kind: "fields",
            items: [
              { label: "Repository", value: service },
              { label: "Commit", value: commit },
            ],
          },
        ],
      },
    };
  },
  onTimeout: { afterMs: 2 * 60 * 60_000, response: { choice: "stop" } },
});

const replan = compute({
  run: (context: Context): Plan => {
    const before = planOf(context);
    const answer = context.outputs.approve;
    if (answer?.choice !== "replan") throw new Error("Nobody asked for another plan.");
    return { ...before, revision: before.revision + 1, requests: [...before.requests, answer.input.changes] };
  },
});

const deploy = action({
  // The line carries the key, so that a repetition after a crash finds it and adds nothing.
  effect: idempotentEffect("deployment"),
  timeoutMs: 60_000,
  request: (context: Context) => ({ release: planOf(context).release, commit: context.input.commit }),
  run: async ({ effect, ...context }) => {
    const { release, requests } = planOf(context);
    const { logFile, version } = context.input;
    const note = requests.length === 0 ? "" : ` (${requests.join("; ").replaceAll("\n", " ")})`;
    const line = `${release}${note} [${effect.idempotencyKey}]\n`;
    if (logFile === undefined) console.log(line.trimEnd());
    else if (!(await readText(logFile)).includes(effect.idempotencyKey)) await appendFile(logFile, line);
    return { message: `${version} is live.`, release, requests };
  },
});

const stopped = compute({ run: (context: Context) => ({ message: `Stopped: ${planOf(context).release}.` }) });

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

export default defineWorkflow({
  name: "deploy",
  source: import.meta.url,
  input: (given) => inputSchema.parse(given ?? {}),
  title: ({ input }) => `Deploy ${input.service} ${input.version}`,
  startAt: "plan",
  nodes: { plan, approve, replan, deploy, stopped },
  edges: [
    { from: "plan", to: "approve" },
    humanDecisionEdge({ from: "approve", choices, cases: { approve: "deploy", replan: "replan", stop: "stopped" } }),
    { from: "replan", to: "approve" },
  ],
});
