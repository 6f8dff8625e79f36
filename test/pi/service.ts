/** A whole service for a case: a real server, real runners, and a workflow with an agent node. */
import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import type { HoldpointClient, RunView } from "../../src/client/index.ts";
import {
  client,
  makeHome,
  Scope,
  startServer,
  waitForRun,
  type ServerOptions,
  type ServerProcess,
} from "../harness/index.ts";
import type { Stage } from "./stage.ts";

const WORKFLOW = `
import { appendFileSync } from "node:fs";
import { action, agent, defineWorkflow } from "holdpoint";
const TOOLS = [];
export default defineWorkflow({
  name: "plan",
  startAt: "plan",
  nodes: {
    plan: agent({
      prompt: ({ input }) => "Make a plan for " + input.what + ".",
      expectedOutput: "An object with the plan.",
      validate: (value) => {
        if (value.spin) for (;;);
        if (!Array.isArray(value.plan)) throw new Error("plan must be a list");
        return value;
      },
      allowedTools: TOOLS,
    }),
    count: action({
      run: ({ outputs }) => {
        appendFileSync("counted.txt", JSON.stringify(outputs.plan) + "\\n");
        return outputs.plan.plan.length;
      },
    }),
  },
  edges: [{ from: "plan", to: "count" }],
});
`;

/** What a run registered for its nodes. */
export interface Registered {
  readonly kind: string;
  readonly outcome: string | null;
  readonly ended: 0 | 1;
}

export interface Service {
  readonly client: HoldpointClient;
  /** The present one; a case that kills it puts the next one here. */
  server: ServerProcess;
  /** Starts a run of the workflow. */
  readonly start: () => Promise<string>;
  readonly finished: (run: string) => Promise<RunView>;
  readonly registered: () => Registered[];
}

export interface ServiceOptions {
  /** As in config.json; left out: the stage's. */
  readonly pi?: { readonly command?: string | readonly string[]; readonly agentDir?: string };
  /** The tools of the agent; default none. */
  readonly tools?: readonly string[];
  readonly server?: ServerOptions;
}

/** Starts a service for a case; it is gone afterwards. */
export async function serve(
  stage: Stage,
  use: (service: Service) => Promise<void>,
  options: ServiceOptions = {},
): Promise<void> {
  const { pi = { command: [...stage.command], agentDir: stage.agentDir }, tools = [] } = options;
  const scope = new Scope();
  try {
    const home = makeHome(scope, { config: { pi } });
    const server = await startServer(scope, home, options.server);
    const from = await client(scope, home);
    const path = stage.path("plan.workflow.ts");
    writeFileSync(path, WORKFLOW.replace("TOOLS = []", `TOOLS = ${JSON.stringify(tools)}`));
    await use({
      client: from,
      server,
      start: async () => {
        const asked = { workflow: "plan", workflowPath: path, projectPath: stage.cwd, input: { what: "the garden" } };
        return (await from.call("run.start", asked)).runId;
      },
      finished: (run) => waitForRun(from, run, (view) => view.run.finishedAt !== null, "its end"),
      registered: () => {
        const db = new Database(home.database, { readonly: true });
        try {
          return db
            .prepare("SELECT kind, outcome, ended_at IS NOT NULL AS ended FROM run_processes ORDER BY registered_at")
            .all() as Registered[];
        } finally {
          db.close();
        }
      },
    });
  } finally {
    await scope.close();
  }
}
