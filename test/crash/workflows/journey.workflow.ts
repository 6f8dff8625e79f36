// The journey of the crash tests: pure steps, an action of each effect contract, a decision, and the end. Every execution of an
// action appends a line to a file; input says where it waits, and where its runner kills itself once.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  action,
  choice,
  compute,
  defineHumanChoices,
  defineWorkflow,
  humanDecision,
  humanDecisionEdge,
  idempotentEffect,
  manualEffect,
  observedEffect,
  textInput,
  type ActionContext,
  type NodeContext,
} from "holdpoint";

interface Input {
  readonly title: string;
  /** Folder of this run's files: `actions.jsonl`, `at-gate`, `gate`, `past`. */
  readonly folder: string;
  /** Wait at the node `gate` until the file `gate` exists. */
  readonly gate?: boolean;
  /** Nodes whose runner dies once, before or after the line is written. */
  readonly dies?: Readonly<Record<string, "before" | "after">>;
  /** Ask with a default answer after an hour. */
  readonly timeout?: boolean;
  /** The card has two parts. */
  readonly long?: boolean;
}
type Context = NodeContext<Input>;
type Acting = ActionContext<Input>;

/** The runner's end, as a crash would bring it; the second time round it goes on. */
function dieOnce({ dies, folder }: Input, node: string, moment: "before" | "after"): void {
  const marker = join(folder, `died-${node}`);
  if (dies?.[node] !== moment || existsSync(marker)) return;
  writeFileSync(marker, "");
  process.kill(process.pid, "SIGKILL");
}

function perform({ effect, input }: Acting, node: string): { readonly key: string } {
  dieOnce(input, node, "before");
  const { attempt, idempotencyKey } = effect;
  const line = JSON.stringify({ node, effectId: idempotencyKey, attempt });
  appendFileSync(join(input.folder, "actions.jsonl"), `${line}\n`);
  dieOnce(input, node, "after");
  return { key: idempotencyKey };
}

function wasPerformed({ effect, input }: Acting): boolean {
  const file = join(input.folder, "actions.jsonl");
  return existsSync(file) && readFileSync(file, "utf8").includes(effect.idempotencyKey);
}

const choices = defineHumanChoices({
  approve: choice({ label: "Approve", style: "success" }),
  replan: choice({ label: "Replan", input: textInput({ name: "changes", prompt: "What should change?" }) }),
  stop: choice({ label: "Stop", style: "danger" }),
});

const request = ({ input, outputs }: Context) => ({
  title: input.title,
  subject: { revision: outputs["replan"]?.revision ?? 1 },
  revision: outputs["replan"]?.revision ?? 1,
  presentation: {
    summary: "A change for the shop",
    blocks: input.long === true ? [{ kind: "paragraph" as const, text: "A long reason. ".repeat(300) }] : [],
  },
});
const asking = { audience: "operators", choices, request };

export default defineWorkflow({
  name: "journey",
  input: (given) => given as Input,
  title: ({ input }) => input.title,
  startAt: "start",
  nodes: {
    start: compute({ run: () => ({ revision: 1 }) }),
    gate: compute({
      run: async ({ input }: Context) => {
        if (input.gate !== true) return null;
        writeFileSync(join(input.folder, "at-gate"), "");
        while (!existsSync(join(input.folder, "gate"))) await sleep(5);
        return null;
      },
    }),
    past: compute({
      run: async ({ input }: Context) => {
        // The steps before are on their way when this marker is there.
        if (input.gate === true || input.dies?.["past"] !== undefined) await sleep(20);
        dieOnce(input, "past", "before");
        writeFileSync(join(input.folder, "past"), "");
        if (input.gate === true) await sleep(20);
        return { timeout: input.timeout === true };
      },
    }),
    prepare: action({ effect: idempotentEffect("prepare"), run: (context: Acting) => perform(context, "prepare") }),
    inspect: action({
      effect: observedEffect("inspect", { observe: (context: Acting) => ({ applied: wasPerformed(context) }) }),
      run: (context: Acting) => perform(context, "inspect"),
    }),
    way: compute({ run: ({ input }: Context) => ({ way: input.timeout === true ? "timed" : "ask" }) }),
    ask: humanDecision(asking),
    timed: humanDecision({ ...asking, onTimeout: { afterMs: 3_600_000, response: { choice: "approve" } } }),
    replan: compute({
      run: ({ outputs }: Context) => ({
        revision: (outputs["replan"]?.revision ?? 1) + 1,
        changes: outputs["ask"]?.input?.changes ?? null,
      }),
    }),
    deploy: action({ effect: manualEffect("deploy"), run: (context: Acting) => perform(context, "deploy") }),
    report: compute({ run: ({ outputs }: Context) => ({ done: true, changes: outputs["replan"]?.changes ?? null }) }),
    stopped: compute({ run: () => ({ done: false }) }),
  },
  edges: [
    { from: "start", to: "gate" },
    { from: "gate", to: "past" },
    { from: "past", to: "prepare" },
    { from: "prepare", to: "inspect" },
    { from: "inspect", to: "way" },
    { from: "way", switch: { on: "$.way", cases: { ask: "ask", timed: "timed" } } },
    humanDecisionEdge({ from: "ask", choices, cases: { approve: "deploy", replan: "replan", stop: "stopped" } }),
    humanDecisionEdge({ from: "timed", choices, cases: { approve: "deploy", replan: "replan", stop: "stopped" } }),
    { from: "replan", to: "ask" },
    { from: "deploy", to: "report" },
  ],
});
