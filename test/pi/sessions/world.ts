/** A whole service for cases with sessions: home, server, a workflow with step, question and end, and a Pi that is started in it. */
import { mkdirSync, writeFileSync } from "node:fs";
import type { HoldpointClient } from "../../../src/client/index.ts";
import {
  client,
  makeHome,
  Scope,
  startServer,
  type HomeOptions,
  type ServerProcess,
  type TestHome,
} from "../../harness/index.ts";
import type { Stage } from "../stage.ts";
import { PiRpc, type PiOptions } from "./pi-rpc.ts";

/** A result is judged for as long as there is a file `hold`. */
const DEPLOY = `
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, choice, compute, defineHumanChoices, defineWorkflow, humanDecision, humanDecisionEdge, notify, textInput } from "holdpoint";
const choices = defineHumanChoices({
  approve: choice({ label: "Approve" }),
  replan: choice({ label: "Replan", input: textInput({ name: "changes", prompt: "What should change?" }) }),
  stop: choice({ label: "Stop" }),
});
export default defineWorkflow({
  name: "deploy",
  startAt: "plan",
  nodes: {
    plan: agent({
      prompt: () => "Make a plan.",
      expectedOutput: "An object with the plan.",
      validate: async (value) => {
        if (!Array.isArray(value.plan)) throw new Error("plan must be a list");
        if (existsSync("hold")) writeFileSync("judging", "");
        while (existsSync("hold")) await sleep(20);
        return value;
      },
      allowedTools: ["read"],
    }),
    tell: notify({ kind: "progress", message: () => "The plan is there." }),
    approve: humanDecision({
      audience: "operators",
      choices,
      request: () => ({ title: "Approve the deployment", subject: {}, presentation: { summary: "shop-api 4.12.0", blocks: [] } }),
    }),
    done: compute({ run: ({ outputs }) => outputs.approve.choice }),
    stopped: compute({ run: () => "stopped" }),
  },
  edges: [
    { from: "plan", to: "tell" },
    { from: "tell", to: "approve" },
    humanDecisionEdge({ from: "approve", choices, cases: { approve: "done", replan: "plan", stop: "stopped" } }),
  ],
});
`;

const ASK = `
import { choice, compute, defineHumanChoices, defineWorkflow, humanDecision, humanDecisionEdge } from "holdpoint";
const choices = defineHumanChoices({ approve: choice({ label: "Approve" }), stop: choice({ label: "Stop" }) });
export default defineWorkflow({
  name: "ask",
  startAt: "approve",
  nodes: {
    approve: humanDecision({
      audience: "operators",
      choices,
      request: () => ({ title: "Approve it", subject: {}, presentation: { summary: "That is all.", blocks: [] } }),
    }),
    done: compute({ run: ({ outputs }) => outputs.approve.choice }),
  },
  edges: [humanDecisionEdge({ from: "approve", choices, cases: { approve: "done", stop: "done" } })],
});
`;

const BRIEF = `
import { agent, defineWorkflow, notify } from "holdpoint";
export default defineWorkflow({
  name: "brief",
  startAt: "tell",
  nodes: {
    tell: notify({ kind: "progress", message: () => "It begins." }),
    plan: agent({ prompt: () => "Make a plan.", expectedOutput: "A plan.", timeoutMs: 1500 }),
  },
  edges: [{ from: "tell", to: "plan" }],
});
`;

const QUICK = `
import { compute, defineWorkflow } from "holdpoint";
export default defineWorkflow({
  name: "quick",
  startAt: "count",
  nodes: { count: compute({ run: ({ input }) => ({ counted: (input.items ?? []).length }) }) },
  edges: [],
});
`;

export interface World {
  readonly scope: Scope;
  readonly stage: Stage;
  readonly home: TestHome;
  readonly server: ServerProcess;
  readonly client: HoldpointClient;
  /** Starts a Pi in the project. */
  readonly pi: (options?: Partial<PiOptions>) => PiRpc;
}

export interface WorldOptions extends HomeOptions {
  /** Pi in the configuration, for example `{rpcAnswers: true}`. */
  readonly pi?: Readonly<Record<string, unknown>>;
}

const USER = `uid:${process.getuid?.() ?? 0}`;

/** Runs a case in a world of its own; everything in it is gone afterwards. */
export async function inWorld(
  stage: Stage,
  options: WorldOptions,
  use: (world: World) => Promise<void>,
): Promise<void> {
  const scope = new Scope();
  try {
    const home = makeHome(scope, {
      audiences: { operators: ["pi"] },
      ...options,
      config: { pi: { ...options.pi }, ...options.config },
    });
    const { people } = home.config as { people: Record<string, Record<string, unknown>> };
    if (people["ann"] !== undefined) people["ann"]["terminal"] = [USER];
    home.writeConfig(home.config);
    const folder = stage.path(".pi/workflows");
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/deploy.workflow.ts`, DEPLOY);
    writeFileSync(`${folder}/ask.workflow.ts`, ASK);
    writeFileSync(`${folder}/quick.workflow.ts`, QUICK);
    writeFileSync(`${folder}/brief.workflow.ts`, BRIEF);
    const server = await startServer(scope, home);
    const from = await client(scope, home);
    await use({
      scope,
      stage,
      home,
      server,
      client: from,
      pi: (own = {}) => new PiRpc(scope, { stage, home, ...own }),
    });
  } finally {
    await scope.close();
  }
}
