/** A process that executes one agent step as a runner does, to be killed in the middle of it. Argument: a JSON of the stage. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type * as Agent from "../../../src/runner/agent/index.ts";

const dist = join(dirname(fileURLToPath(import.meta.url)), "../../../dist");
const agent = (await import(join(dist, "src/runner/agent/index.js"))) as typeof Agent;
const { agentDir, command, cwd, folder, runId } = JSON.parse(process.argv[2] ?? "{}") as Record<string, string> & {
  command: string[];
};
const executor = agent.createAgentExecutor({
  runId: runId ?? "",
  cwd: cwd ?? "",
  folder: join(folder ?? "", "agents", runId ?? ""),
  pi: { command, agentDir },
  register: () => Promise.resolve(),
  unregister: () => Promise.resolve(),
});
await executor.run(
  {
    nodeId: "plan",
    visit: 1,
    attempt: 1,
    prompt: "Go.",
    contract: { kind: "submit", expectedOutput: "Anything." },
    allowedTools: null,
    timeoutMs: null,
    statusDetail: undefined,
  },
  (value) => Promise.resolve({ ok: true, value: value as string }),
  new AbortController().signal,
);
